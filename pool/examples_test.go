package pool_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"

	"coatcheck/pool"
)

// The README's example.
func Example() {
	type Conn struct {
		Name string
		Peer pool.Handle[Conn] // a reference that cannot dangle
	}
	conns := pool.Must[Conn](nil)

	alice, _ := conns.Insert(Conn{Name: "alice"})
	bob, _ := conns.Insert(Conn{Name: "bob", Peer: alice})

	conns.View(bob, func(c *Conn) {
		peer, ok := conns.Get(c.Peer)
		fmt.Println(peer.Name, ok)
	})

	conns.Remove(alice)                         // true for exactly one caller
	_, _ = conns.Insert(Conn{Name: "carol"})    // whichever slot she gets …
	_, ok := conns.Get(conns.MustGet(bob).Peer) // … alice's handle is refused for ever
	fmt.Println(ok)
	// Output:
	// alice true
	// false
}

// replay are options that make the handles of the examples the same each time:
// generations start at 1, and there is one shard.
func replay[T any]() *pool.Options[T] { return &pool.Options[T]{Origin: 1, Shards: 1} }

// insertAll inserts values and returns their handles.
func insertAll[T any](p *pool.Pool[T], vs ...T) (hs []pool.Handle[T]) {
	for _, v := range vs {
		h, _ := p.Insert(v)
		hs = append(hs, h)
	}
	return hs
}

// Node is the examples' value that refers to another.
type Node struct {
	Name string
	Next pool.Handle[Node]
}

func Example_staleHandle() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("umbrella")
	fmt.Println(h)

	v, ok := p.Get(h)
	fmt.Println(v, ok)

	fmt.Println(p.Remove(h), p.Remove(h))

	_, _ = p.Insert("coat")
	_, ok = p.Get(h)
	fmt.Println(ok)
	// Output:
	// 0@1
	// umbrella true
	// true false
	// false
}

func ExampleNew() {
	_, err := pool.New(&pool.Options[int]{Capacity: -1})
	fmt.Println(err)
	p, err := pool.New(&pool.Options[int]{Capacity: 100})
	fmt.Println(p.Cap(), err)
	// Output:
	// pool: Options.Capacity is -1; want 0 (no limit) or more
	// 100 <nil>
}

func ExampleMust() {
	p := pool.Must[int](nil) // the defaults
	fmt.Println(p.Len())
	// Output: 0
}

func ExampleOptions() {
	p := pool.Must(&pool.Options[[]byte]{
		Capacity: 1000,
		Reset:    func(body *[]byte) { *body = (*body)[:0] }, // keeps the buffer
	})
	h, _ := p.InsertFunc(func(_ pool.Handle[[]byte], body *[]byte) {
		*body = append(*body, "hello"...)
	})
	p.View(h, func(body *[]byte) { fmt.Printf("%s\n", *body) })
	// Output: hello
}

// In logs the figures are a group.
func ExampleStats_LogValue() {
	p := pool.Must(replay[string]())
	_, _ = p.Insert("umbrella")
	only := func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) > 0 && (a.Key == "live" || a.Key == "limbo") || a.Key == slog.MessageKey {
			return a
		}
		return slog.Attr{}
	}
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: only}))
	log.Info("closing time", "coats", p.Stats())
	// Output: msg="closing time" coats.live=1 coats.limbo=0
}

func ExampleReuse() {
	for _, reuse := range []pool.Reuse{pool.LIFO, pool.FIFO} {
		p := pool.Must(&pool.Options[int]{Capacity: 2, Reuse: reuse, Origin: 1, Shards: 1})
		first, _ := p.Insert(1)
		second, _ := p.Insert(2)
		p.Remove(first)
		p.Remove(second)
		h, _ := p.Insert(3)
		fmt.Println(h.Index() == first.Index(), h.Index() == second.Index())
	}
	// Output:
	// false true
	// true false
}

func ExamplePool_Insert() {
	p := pool.Must(&pool.Options[string]{Capacity: 1, Origin: 1})
	h, err := p.Insert("umbrella")
	fmt.Println(h, err)
	_, err = p.Insert("coat")
	fmt.Println(errors.Is(err, pool.ErrFull), err)
	// Output:
	// 0@1 <nil>
	// true pool: full
}

func ExamplePool_InsertFunc() {
	p := pool.Must(replay[Node]())
	h, _ := p.InsertFunc(func(h pool.Handle[Node], n *Node) {
		n.Name, n.Next = "a ring of one", h // built where it will live
	})
	fmt.Println(p.MustGet(h).Next == h)
	// Output: true
}

func ExamplePool_Reserve() {
	p := pool.Must(replay[Node]())
	a, _ := p.Reserve()
	b, _ := p.Reserve()
	a.Value().Next, b.Value().Next = b.Handle(), a.Handle()
	fmt.Println(p.Contains(a.Handle()))
	h := a.Commit()
	b.Commit()
	fmt.Println(p.MustGet(h).Next)
	// Output:
	// false
	// 1@1
}

func ExamplePool_Get() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("umbrella")
	fmt.Println(p.Get(h))
	p.Remove(h)
	_, ok := p.Get(h)
	fmt.Println(ok)
	// Output:
	// umbrella true
	// false
}

func ExamplePool_View() {
	p := pool.Must(replay[[2]uint64]())
	h, _ := p.Insert([2]uint64{1, 2})
	p.View(h, func(v *[2]uint64) { v[1] = 7 }) // in place, without a copy
	fmt.Println(p.MustGet(h))
	// Output: [1 7]
}

func ExamplePool_Contains() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("umbrella")
	fmt.Println(p.Contains(h), p.Contains(h+1<<32))
	// Output: true false
}

func ExamplePool_Remove() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("umbrella")
	fmt.Println(p.Remove(h))
	fmt.Println(p.Remove(h)) // another goroutine was faster
	// Output:
	// true
	// false
}

func ExamplePool_Take() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("umbrella")
	fmt.Println(p.Take(h))
	fmt.Println(p.Len())
	// Output:
	// umbrella true
	// 0
}

func ExamplePool_RemoveBatch() {
	p := pool.Must(replay[string]())
	hs := insertAll(p, "a", "b", "c")
	p.Remove(hs[0])
	fmt.Println(p.RemoveBatch(hs))
	// Output: 2
}

func ExamplePool_Pin() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("umbrella")
	g := p.Pin()
	v, _ := g.Get(h)
	p.Remove(h)
	fmt.Println(*v) // gone from the pool, but still readable
	g.Unpin()
	// Output: umbrella
}

func ExamplePool_Grow() {
	p := pool.Must(&pool.Options[int]{Capacity: 1000})
	fmt.Println(p.Grow(1000), p.Stats().Allocated) // the next 1000 insertions allocate nothing
	fmt.Println(p.Grow(1001))
	// Output:
	// <nil> 1000
	// pool: full: Grow by 1001 values: there may be 1000
}

func ExamplePool_Ptr() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("umbrella")
	q := p.Ptr(h) // needs no pool at hand
	fmt.Println(q.Get())
	// Output: umbrella true
}

func ExamplePool_Worker() {
	p := pool.Must[int](nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w := p.Worker() // one a goroutine
			defer w.Close()
			for i := range 1000 {
				h, _ := w.Insert(i)
				w.Remove(h)
			}
		}()
	}
	wg.Wait()
	fmt.Println(p.Len())
	// Output: 0
}

func ExamplePool_All() {
	p := pool.Must(replay[int]())
	insertAll(p, 1, 2, 3)
	for h, v := range p.All() {
		if *v == 2 {
			p.Remove(h) // the body may do anything to the pool
			continue
		}
		fmt.Println(h, *v)
	}
	// Output:
	// 0@1 1
	// 2@1 3
}

func ExamplePool_Each() {
	p := pool.Must(replay[int]())
	insertAll(p, 1, -2, 3)
	err := p.Each(context.Background(), 0, func(h pool.Handle[int], v *int) error {
		if *v < 0 {
			return fmt.Errorf("%v holds %d", h, *v)
		}
		return nil
	})
	fmt.Println(err)
	// Output: 1@1 holds -2
}

func ExamplePool_Drain() {
	p := pool.Must(replay[string]())
	insertAll(p, "a", "b")
	for h, v := range p.Drain() {
		fmt.Println(h, v, p.Contains(h))
	}
	fmt.Println(p.Len())
	// Output:
	// 0@1 a false
	// 1@1 b false
	// 0
}

func ExamplePool_DeleteFunc() {
	p := pool.Must(replay[int]())
	insertAll(p, 1, 2, 3, 4)
	n := p.DeleteFunc(func(_ pool.Handle[int], v *int) bool { return *v%2 == 0 })
	fmt.Println(n, p.Len())
	// Output: 2 2
}

func ExamplePool_Clear() {
	p := pool.Must(replay[int]())
	hs := insertAll(p, 1, 2, 3)
	fmt.Println(p.Clear(), p.Contains(hs[0]))
	// Output: 3 false
}

func ExamplePool_Len() {
	p := pool.Must(replay[int]())
	insertAll(p, 1, 2, 3)
	fmt.Println(p.Len())
	// Output: 3
}

func ExamplePool_Cap() {
	fmt.Println(pool.Must(&pool.Options[int]{Capacity: 10}).Cap())
	fmt.Println(pool.Must[int](nil).Cap() == pool.MaxCapacity)
	// Output:
	// 10
	// true
}

func ExamplePool_Synchronize() {
	p := pool.Must(&pool.Options[string]{
		Reset: func(s *string) { fmt.Println("reclaimed", *s) },
	})
	h, _ := p.Insert("umbrella")
	p.Remove(h)
	fmt.Println("removed")
	err := p.Synchronize(context.Background())
	fmt.Println(err)
	// Output:
	// removed
	// reclaimed umbrella
	// <nil>
}

func ExamplePool_Stats() {
	p := pool.Must(&pool.Options[string]{Capacity: 10, Origin: 1, Shards: 1})
	h, _ := p.Insert("a")
	_, _ = p.Insert("b")
	g := p.Pin()
	p.Remove(h)
	st := p.Stats()
	fmt.Println(st.Live, st.Limbo, st.Free, st.Allocated, st.Pinned)
	g.Unpin()
	// Output: 1 1 8 10 1
}

func ExampleStats() {
	p := pool.Must(replay[string]())
	g := p.Pin() // forgotten
	for range 1000 {
		h, _ := p.Insert("a")
		p.Remove(h)
	}
	st := p.Stats()
	fmt.Println(st.Limbo, st.Pinned, st.OldestPin > 0)
	g.Unpin()
	// Output: 1000 1 true
}

func ExamplePool_TryInsertFunc() {
	p := pool.Must(replay[*url.URL]())
	for _, text := range []string{"https://go.dev", "::"} {
		h, err := p.TryInsertFunc(func(_ pool.Handle[*url.URL], to **url.URL) (err error) {
			*to, err = url.Parse(text)
			return err
		})
		fmt.Println(h, err)
	}
	fmt.Println(p.Len())
	// Output:
	// 0@1 <nil>
	// none parse "::": missing protocol scheme
	// 1
}

// A snapshot keeps handles, also those inside values.
func ExamplePool_WriteTo() {
	p := pool.Must(replay[Node]())
	root, _ := p.Insert(Node{Name: "root"})
	leaf, _ := p.Insert(Node{Name: "leaf", Next: root})

	var file bytes.Buffer
	n, err := p.WriteTo(&file)
	fmt.Println(n == int64(file.Len()), err)

	restored, err := pool.ReadFrom[Node](&file, nil)
	fmt.Println(restored.Len(), err)
	fmt.Println(restored.MustGet(restored.MustGet(leaf).Next).Name)
	// Output:
	// true <nil>
	// 2 <nil>
	// root
}

// What was stale stays stale in the copy, and input that is no snapshot is refused.
func ExampleReadFrom() {
	p := pool.Must(replay[int]())
	stale, _ := p.Insert(1)
	p.Remove(stale)
	h, _ := p.Insert(2)

	var file bytes.Buffer
	_, _ = p.WriteTo(&file)
	restored, _ := pool.ReadFrom(&file, &pool.Options[int]{Shards: 8, Reuse: pool.FIFO})
	fmt.Println(restored.Contains(stale), restored.MustGet(h))

	_, err := pool.ReadFrom[int](strings.NewReader("a shopping list: coats"), nil)
	fmt.Println(err)
	// Output:
	// false 2
	// pool: the snapshot is corrupt: at byte 0: no snapshot begins with "a shoppi"
}

func ExamplePool_Hold() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("umbrella")
	r, ok := p.Hold(h)
	fmt.Println(ok)
	p.Remove(h)
	fmt.Println(p.Contains(h), *r.Value()) // removed, and still readable
	r.Release()
	_, ok = p.Hold(h)
	fmt.Println(ok)
	// Output:
	// true
	// false umbrella
	// false
}

func ExamplePool_Trim() {
	p := pool.Must(replay[[2]uint64]())
	var hs []pool.Handle[[2]uint64]
	for range 100_000 {
		h, _ := p.Insert([2]uint64{})
		hs = append(hs, h)
	}
	p.RemoveBatch(hs)
	before := p.Stats().Bytes
	freed := p.Trim()
	fmt.Println(freed > before*9/10, p.Stats().Bytes == before-freed)
	fmt.Println(p.Contains(hs[0]))
	// Output:
	// true true
	// false
}
