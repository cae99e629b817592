package pool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/url"
	"strings"
	"sync"
	"time"

	"coatcheck/pool"
)

// The README's example.
func Example() {
	type Conn struct {
		Name string
		Peer pool.Handle[Conn] // a reference that cannot dangle
	}
	conns := pool.Must[Conn](nil)
	alice, err := conns.Insert(Conn{Name: "alice"})
	if err != nil {
		log.Fatal(err)
	}
	bob := Conn{Name: "bob", Peer: alice}

	peer, ok := conns.Get(bob.Peer)
	fmt.Println(peer.Name, ok)            // alice true
	fmt.Println(conns.Remove(alice))      // true, for exactly one caller
	fmt.Println(conns.Contains(bob.Peer)) // false, even if the slot has another Conn by now
	// Output:
	// alice true
	// true
	// false
}

// must returns v, or ends the program.
func must[V any](v V, err error) V {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// replay are options that make the handles of the examples the same each time:
// generations start at 1, and there is one shard.
func replay[T any]() *pool.Options[T] { return &pool.Options[T]{Origin: 1, Shards: 1} }

// insertAll inserts values and returns their handles.
func insertAll[T any](p *pool.Pool[T], vs ...T) (hs []pool.Handle[T]) {
	for _, v := range vs {
		h := must(p.Insert(v))
		hs = append(hs, h)
	}
	return hs
}

// Node is the examples' value that refers to another.
type Node struct {
	Name string
	Next pool.Handle[Node]
}

func ExampleOptions() {
	p := pool.Must(&pool.Options[[]byte]{
		Capacity: 1000,
		Reset:    func(body *[]byte) { *body = (*body)[:0] }, // keeps the buffer
	})
	h := must(p.InsertFunc(func(_ pool.Handle[[]byte], body *[]byte) {
		*body = append(*body, "hello"...)
	}))
	p.View(h, func(body *[]byte) { fmt.Printf("%s\n", *body) })
	_, err := pool.New(&pool.Options[int]{Capacity: -1})
	fmt.Println(err)
	// Output:
	// hello
	// pool: Options.Capacity is -1; want 0 (no limit) or more
}

func ExampleReuse() {
	for _, reuse := range []pool.Reuse{pool.LIFO, pool.FIFO} {
		p := pool.Must(&pool.Options[int]{Capacity: 2, Reuse: reuse, Origin: 1, Shards: 1})
		first := must(p.Insert(1))
		second := must(p.Insert(2))
		p.Remove(first)
		p.Remove(second)
		h := must(p.Insert(3))
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
	// true pool: full; Pool[string]; capacity: 1; Pool.Stats tells more
}

func ExamplePool_InsertWait() {
	p := pool.Must(&pool.Options[string]{Capacity: 1})
	h := must(p.Insert("umbrella"))
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err := p.InsertWait(ctx, "coat")
	fmt.Println(errors.Is(err, pool.ErrFull), err)

	go p.Remove(h)
	h, err = p.InsertWait(context.Background(), "coat")
	fmt.Println(p.MustGet(h), err)
	// Output:
	// true pool: full; Pool[string]; capacity: 1; Pool.Stats tells more: context deadline exceeded
	// coat <nil>
}

func ExamplePool_InsertFunc() {
	p := pool.Must(replay[Node]())
	h := must(p.InsertFunc(func(h pool.Handle[Node], n *Node) {
		n.Name, n.Next = "a ring of one", h // built where it will live
	}))
	fmt.Println(p.MustGet(h).Next == h)
	// Output: true
}

func ExamplePool_Get() {
	p := pool.Must(replay[string]())
	h := must(p.Insert("umbrella"))
	fmt.Println(p.Get(h))
	fmt.Println(p.Remove(h), p.Remove(h)) // another goroutine was faster
	_, ok := p.Get(h)
	fmt.Println(ok, p.Contains(h))
	// Output:
	// umbrella true
	// true false
	// false false
}

func ExamplePool_Pointer() {
	type session struct {
		user  string
		lines int
	}
	p := pool.Must(replay[session]())
	handle := func(h pool.Handle[session], lines int) {
		defer p.Remove(h) // nobody else does
		s, _ := p.Pointer(h)
		for range lines {
			s.lines++
		}
		fmt.Println(s.user, "sent", s.lines, "lines")
	}
	h := must(p.Insert(session{user: "alice"}))
	handle(h, 3)
	_, ok := p.Pointer(h)
	fmt.Println(ok)
	// Output:
	// alice sent 3 lines
	// false
}

func ExamplePool_Pin() {
	p := pool.Must(replay[string]())
	h := must(p.Insert("umbrella"))
	g := p.Pin()
	v, _ := g.Pointer(h)
	p.Remove(h)
	fmt.Println(*v) // gone from the pool, but still readable
	g.Unpin()
	// Output: umbrella
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
				h := must(w.Insert(i))
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

func ExamplePool_Synchronize() {
	p := pool.Must(&pool.Options[string]{
		Reset: func(s *string) { fmt.Println("reclaimed", *s) },
	})
	h := must(p.Insert("umbrella"))
	p.Remove(h)
	fmt.Println("removed")
	err := p.Synchronize(context.Background())
	fmt.Println(err)
	// Output:
	// removed
	// reclaimed umbrella
	// <nil>
}

func ExampleStats() {
	p := pool.Must(replay[string]())
	g := p.Pin() // forgotten
	for range 1000 {
		h := must(p.Insert("a"))
		p.Remove(h)
	}
	st := p.Stats()
	fmt.Println(st.Limbo, st.Pinned, st.OldestPin > 0)
	fmt.Println(st.LogValue().Group()[2]) // as slog shows it
	g.Unpin()
	// Output:
	// 1000 1 true
	// limbo=1000
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

// A snapshot keeps handles, also those inside values. What was stale stays stale in the
// copy, and input that is no snapshot is refused.
func ExamplePool_WriteTo() {
	p := pool.Must(replay[Node]())
	stale := must(p.Insert(Node{}))
	p.Remove(stale)
	root := must(p.Insert(Node{Name: "root"}))
	leaf := must(p.Insert(Node{Name: "leaf", Next: root}))

	var file bytes.Buffer
	n, err := p.WriteTo(&file)
	fmt.Println(n == int64(file.Len()), err)

	restored, err := pool.ReadFrom(&file, &pool.Options[Node]{Shards: 8, Reuse: pool.FIFO})
	fmt.Println(restored.Len(), restored.Contains(stale), err)
	fmt.Println(restored.MustGet(restored.MustGet(leaf).Next).Name)

	_, err = pool.ReadFrom[Node](strings.NewReader("a shopping list: coats"), nil)
	fmt.Println(err)
	// Output:
	// true <nil>
	// 2 false <nil>
	// root
	// pool: the snapshot is corrupt: at byte 0: no snapshot begins with "a shoppi"; Pool[pool_test.Node]
}

func ExamplePool_Trim() {
	p := pool.Must(replay[[2]uint64]())
	var hs []pool.Handle[[2]uint64]
	for range 100_000 {
		h := must(p.Insert([2]uint64{}))
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

func ExampleHandle() {
	p := pool.Must(replay[string]())
	h := must(p.Insert("umbrella"))
	owners := map[pool.Handle[string]]string{h: "Ada"} // a handle is a word
	fmt.Println(owners[h], h, h.Index(), h.Generation())

	var none pool.Handle[string]
	fmt.Println(none, none.IsZero(), p.Contains(none))
	// Output:
	// Ada 0@1 0 1
	// none true false
}

// In JSON a handle is a text.
func ExampleHandle_UnmarshalText() {
	type edge struct{ From, To pool.Handle[int] }
	b := must(json.Marshal(edge{From: 7<<32 | 42}))
	fmt.Printf("%s\n", b)
	var e edge
	fmt.Println(json.Unmarshal(b, &e), e.From.Index(), e.To.IsZero())
	fmt.Println(e.From.UnmarshalText([]byte("42@8")))
	// Output:
	// {"From":"42@7","To":"none"}
	// <nil> 42 true
	// pool: handle "42@8": want "none", or index@generation in decimal, with an odd generation up to 4294967293
}

func ExampleGuard_All() {
	p := pool.Must(replay[int]())
	insertAll(p, 1, 2)
	g := p.Pin()
	most := new(int)
	for _, v := range g.All() {
		if *v > *most {
			most = v // good until Unpin, beyond the loop
		}
	}
	fmt.Println(*most)
	g.Unpin()
	// Output: 2
}

// Two values that refer to each other, and one that is not made after all.
func ExampleReservation() {
	p := pool.Must(replay[Node]())
	a := must(p.Reserve())
	b := must(p.Reserve())
	c := must(p.Reserve())
	a.Pointer().Next, b.Pointer().Next = b.Handle(), a.Handle()
	fmt.Println(p.Contains(a.Handle()))
	h := a.Commit()
	b.Commit()
	c.Cancel()
	fmt.Println(p.MustGet(h).Next, p.Len(), p.Stats().Reserved)
	// Output:
	// false
	// 1@1 2 0
}

// A Ptr is used where no pool is at hand.
func ExamplePtr() {
	p := pool.Must(replay[int]())
	h := must(p.Insert(42))
	q := p.Ptr(h)
	fmt.Println(q.Get())
	q.View(func(v *int) { *v++ })
	fmt.Println(p.MustGet(h))
	fmt.Println(q.Remove(), q.Remove(), q.Live(), pool.Ptr[int]{}.Live())
	// Output:
	// 42 true
	// 43
	// true false false false
}

func ExampleWorker() {
	p := pool.Must(replay[string]())
	w := p.Worker()
	h := must(w.Insert("umbrella"))
	fmt.Println(p.Contains(h)) // handles are the pool's
	fmt.Println(w.Take(h))
	h = must(p.Insert("coat")) // not by the Worker
	fmt.Println(w.Remove(h), w.Remove(h))
	w.Flush() // before a long pause
	fmt.Println(p.Stats().Cached)
	w.Close()
	defer func() { fmt.Println(recover()) }()
	must(w.Insert("scarf"))
	// Output:
	// true
	// umbrella true
	// true false
	// 0
	// pool: use of a Worker that is closed, or not from Pool.Worker
}

// A reply is written while the connection may be closed by others: its slot waits,
// and no other slot does.
func ExampleRef() {
	conns := pool.Must(replay[string]())
	h := must(conns.Insert("alice"))

	done := make(chan string)
	if r, ok := conns.Hold(h); ok {
		go func() {
			defer r.Release()
			done <- "replied to " + *r.Pointer() // as long as it takes
		}()
	}
	conns.Remove(h)
	fmt.Println(<-done)
	// Output: replied to alice
}
