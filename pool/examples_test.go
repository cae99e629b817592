package pool_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"coatcheck/pool"
)

// replay are options that make the handles of the examples the same each time:
// generations start at 1, and there is one shard.
func replay[T any]() *pool.Options[T] { return &pool.Options[T]{Origin: 1, Shards: 1} }

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

// A handle goes into a packet as eight bytes. Whatever comes back is for the pool to
// judge.
func ExampleHandle_binary() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("umbrella")
	packet := binary.LittleEndian.AppendUint64(nil, uint64(h))
	fmt.Println(packet)

	back := pool.Handle[string](binary.LittleEndian.Uint64(packet))
	fmt.Println(p.Get(back))
	packet[4] ^= 2 // another generation
	fmt.Println(p.Get(pool.Handle[string](binary.LittleEndian.Uint64(packet))))
	// Output:
	// [0 0 0 0 1 0 0 0]
	// umbrella true
	//  false
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
		a, _ := p.Insert(1)
		b, _ := p.Insert(2)
		p.Remove(a)
		c, _ := p.Insert(3)
		fmt.Println(reuse, a, b, c.Index() == a.Index())
	}
	// Output:
	// LIFO 0@1 1@1 true
	// FIFO 65@1 66@1 false
}

func ExampleReuse_String() {
	fmt.Println(pool.LIFO.String(), pool.FIFO.String())
	// Output: LIFO FIFO
}

func ExampleHandle() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("umbrella")
	owners := map[pool.Handle[string]]string{h: "Ada"} // a handle is a word
	fmt.Println(owners[h])

	var none pool.Handle[string]
	fmt.Println(none, p.Contains(none))
	// Output:
	// Ada
	// none false
}

func ExampleHandle_Index() {
	p := pool.Must(replay[string]())
	_, _ = p.Insert("a")
	h, _ := p.Insert("b")
	fmt.Println(h.Index())
	// Output: 1
}

func ExampleHandle_Generation() {
	p := pool.Must(&pool.Options[string]{Capacity: 1, Origin: 1})
	for range 3 {
		h, _ := p.Insert("a")
		fmt.Println(h.Generation())
		p.Remove(h)
	}
	// Output:
	// 1
	// 3
	// 5
}

func ExampleHandle_IsZero() {
	var h pool.Handle[int]
	fmt.Println(h.IsZero())
	// Output: true
}

func ExampleHandle_String() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("a")
	fmt.Println(h.String())
	// Output: 0@1
}

func ExampleHandle_AppendText() {
	b, _ := pool.Handle[int](7<<32 | 42).AppendText([]byte("job "))
	fmt.Printf("%s\n", b)
	// Output: job 42@7
}

func ExampleHandle_MarshalText() {
	type edge struct{ From, To pool.Handle[int] }
	b, _ := json.Marshal(edge{From: 7<<32 | 42})
	fmt.Printf("%s\n", b)
	// Output: {"From":"42@7","To":"none"}
}

func ExampleHandle_UnmarshalText() {
	var h pool.Handle[int]
	fmt.Println(h.UnmarshalText([]byte("42@7")), h.Index(), h.Generation())
	fmt.Println(h.UnmarshalText([]byte("42@8")))
	// Output:
	// <nil> 42 7
	// pool: handle "42@8": generation 8 is even, so nothing ever lived with it
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
	fmt.Println(p.Remove(h)) // somebody else was faster
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

func ExamplePool_InsertBatch() {
	p := pool.Must(&pool.Options[string]{Capacity: 2, Origin: 1, Shards: 1})
	hs, err := p.InsertBatch([]string{"a", "b", "c"}, nil)
	fmt.Println(hs, err)
	// Output: [0@1 1@1] pool: full
}

func ExamplePool_RemoveBatch() {
	p := pool.Must(replay[string]())
	hs, _ := p.InsertBatch([]string{"a", "b", "c"}, nil)
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
	_, _ = p.InsertBatch([]int{1, 2, 3}, nil)
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
	_, _ = p.InsertBatch([]int{1, -2, 3}, nil)
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
	_, _ = p.InsertBatch([]string{"a", "b"}, nil)
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
	_, _ = p.InsertBatch([]int{1, 2, 3, 4}, nil)
	n := p.DeleteFunc(func(_ pool.Handle[int], v *int) bool { return *v%2 == 0 })
	fmt.Println(n, p.Len())
	// Output: 2 2
}

func ExamplePool_Clear() {
	p := pool.Must(replay[int]())
	hs, _ := p.InsertBatch([]int{1, 2, 3}, nil)
	fmt.Println(p.Clear(), p.Contains(hs[0]))
	// Output: 3 false
}

func ExamplePool_Len() {
	p := pool.Must(replay[int]())
	_, _ = p.InsertBatch([]int{1, 2, 3}, nil)
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

func ExampleGuard() {
	p := pool.Must(replay[string]())
	hs, _ := p.InsertBatch([]string{"a", "b"}, nil)
	g := p.Pin() // for a burst of look-ups
	defer g.Unpin()
	for _, h := range hs {
		if v, ok := g.Get(h); ok {
			fmt.Println(*v)
		}
	}
	// Output:
	// a
	// b
}

// A goroutine that does nothing but look up keeps its guard, and pins anew now and then,
// so that what others remove can be reused.
func ExampleGuard_kept() {
	p := pool.Must[int](nil)
	h, _ := p.Insert(0)

	g := p.Pin()
	for i := range 1000 {
		if i%64 == 63 {
			g.Repin() // no pointer is kept across this
		}
		if hits, ok := g.Get(h); ok {
			*hits++
		}
	}
	g.Unpin()
	fmt.Println(p.MustGet(h))
	// Output: 1000
}

func ExampleGuard_Repin() {
	p := pool.Must(&pool.Options[string]{Capacity: 1})
	h, _ := p.Insert("umbrella")
	g := p.Pin()
	p.Remove(h)
	_, err := p.Insert("coat")
	fmt.Println(err) // the guard may have seen the umbrella

	g.Repin()
	h, err = p.Insert("coat")
	v, _ := g.Get(h)
	fmt.Println(*v, err)
	g.Unpin()
	// Output:
	// pool: full: removed slots wait for a guard that is still pinned, or for a Ref
	// coat <nil>
}

func ExampleGuard_Get() {
	p := pool.Must(replay[int]())
	h, _ := p.Insert(1)
	g := p.Pin()
	v, ok := g.Get(h)
	*v++
	fmt.Println(*v, ok)
	v, ok = g.Get(0)
	fmt.Println(v, ok)
	g.Unpin()
	// Output:
	// 2 true
	// <nil> false
}

func ExampleGuard_GetBatch() {
	p := pool.Must(replay[int]())
	hs, _ := p.InsertBatch([]int{1, 2, 3}, nil)
	p.Remove(hs[1])
	g := p.Pin()
	for i, v := range g.GetBatch(hs, nil) {
		fmt.Println(i, v != nil)
	}
	g.Unpin()
	// Output:
	// 0 true
	// 1 false
	// 2 true
}

func ExampleGuard_All() {
	p := pool.Must(replay[int]())
	_, _ = p.InsertBatch([]int{1, 2}, nil)
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

func ExampleGuard_Pages() {
	p := pool.Must(replay[int]())
	_, _ = p.InsertBatch(make([]int, 10_000), nil)
	g := p.Pin()
	var wg sync.WaitGroup
	counts := make([]int, 100)
	for k, page := range g.Pages() {
		wg.Add(1)
		go func() { // the pages' loops may run at the same time
			defer wg.Done()
			for range page {
				counts[k]++
			}
		}()
	}
	wg.Wait()
	g.Unpin()
	sum := 0
	for _, n := range counts {
		sum += n
	}
	fmt.Println(sum)
	// Output: 10000
}

func ExampleReservation() {
	p := pool.Must(replay[string]())
	r, _ := p.Reserve()
	fmt.Println(r.Handle(), p.Contains(r.Handle()))
	*r.Value() = "umbrella"
	h := r.Commit()
	fmt.Println(h, p.MustGet(h))
	// Output:
	// 0@1 false
	// 0@1 umbrella
}

func ExampleReservation_Handle() {
	p := pool.Must(replay[string]())
	r, _ := p.Reserve()
	fmt.Println(r.Handle())
	r.Cancel()
	// Output: 0@1
}

func ExampleReservation_Value() {
	p := pool.Must(replay[[2]uint64]())
	r, _ := p.Reserve()
	r.Value()[1] = 7
	fmt.Println(p.MustGet(r.Commit()))
	// Output: [0 7]
}

func ExampleReservation_Commit() {
	p := pool.Must(replay[string]())
	r, _ := p.Reserve()
	*r.Value() = "umbrella"
	fmt.Println(p.Len())
	r.Commit()
	fmt.Println(p.Len())
	// Output:
	// 0
	// 1
}

func ExampleReservation_Cancel() {
	p := pool.Must(replay[string]())
	r, _ := p.Reserve()
	r.Cancel()
	fmt.Println(p.Contains(r.Handle()), p.Stats().Reserved)
	// Output: false 0
}

func ExamplePtr() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("umbrella")
	owners := map[string]pool.Ptr[string]{"Ada": p.Ptr(h)}
	fmt.Println(owners["Ada"].Live())
	p.Remove(h)
	fmt.Println(owners["Ada"].Live(), owners["Bob"].Live())
	// Output:
	// true
	// false false
}

func ExamplePtr_Live() {
	p := pool.Must(replay[int]())
	h, _ := p.Insert(1)
	fmt.Println(p.Ptr(h).Live(), p.Ptr(0).Live())
	// Output: true false
}

func ExamplePtr_Get() {
	p := pool.Must(replay[int]())
	h, _ := p.Insert(42)
	fmt.Println(p.Ptr(h).Get())
	// Output: 42 true
}

func ExamplePtr_View() {
	p := pool.Must(replay[int]())
	h, _ := p.Insert(42)
	p.Ptr(h).View(func(v *int) { *v++ })
	fmt.Println(p.MustGet(h))
	// Output: 43
}

func ExamplePtr_Under() {
	p := pool.Must(replay[int]())
	h, _ := p.Insert(42)
	g := p.Pin()
	defer g.Unpin()
	if v, ok := p.Ptr(h).Under(&g); ok {
		*v++
	}
	fmt.Println(p.MustGet(h))
	// Output: 43
}

func ExamplePtr_Remove() {
	p := pool.Must(replay[int]())
	h, _ := p.Insert(42)
	fmt.Println(p.Ptr(h).Remove(), p.Ptr(h).Remove())
	// Output: true false
}

func ExampleWorker() {
	p := pool.Must(replay[string]())
	w := p.Worker()
	defer w.Close()
	h, _ := w.Insert("umbrella")
	fmt.Println(p.Contains(h)) // handles are the pool's
	fmt.Println(w.Remove(h))
	// Output:
	// true
	// true
}

func ExampleWorker_Insert() {
	p := pool.Must(replay[string]())
	w := p.Worker()
	defer w.Close()
	h, err := w.Insert("umbrella")
	fmt.Println(h, err)
	// Output: 0@1 <nil>
}

func ExampleWorker_InsertFunc() {
	p := pool.Must(replay[[]byte]())
	w := p.Worker()
	defer w.Close()
	h, _ := w.InsertFunc(func(_ pool.Handle[[]byte], v *[]byte) { *v = append(*v, 1, 2) })
	fmt.Println(w.Get(h))
	// Output: [1 2] true
}

func ExampleWorker_Get() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("umbrella")
	w := p.Worker()
	defer w.Close()
	fmt.Println(w.Get(h))
	// Output: umbrella true
}

func ExampleWorker_Remove() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("umbrella") // by whomever
	w := p.Worker()
	defer w.Close()
	fmt.Println(w.Remove(h), w.Remove(h))
	// Output: true false
}

func ExampleWorker_Take() {
	p := pool.Must(replay[string]())
	w := p.Worker()
	defer w.Close()
	h, _ := w.Insert("umbrella")
	fmt.Println(w.Take(h))
	// Output: umbrella true
}

func ExampleWorker_Pin() {
	p := pool.Must(replay[string]())
	w := p.Worker()
	defer w.Close()
	h, _ := w.Insert("umbrella")
	g := w.Pin()
	v, _ := g.Get(h)
	fmt.Println(*v)
	g.Unpin()
	// Output: umbrella
}

func ExampleWorker_Flush() {
	p := pool.Must(replay[string]())
	w := p.Worker()
	defer w.Close()
	h, _ := w.Insert("umbrella")
	w.Remove(h)
	fmt.Println(p.Stats().Cached > 0)
	w.Flush() // before a long pause
	fmt.Println(p.Stats().Cached)
	// Output:
	// true
	// 0
}

func ExampleWorker_Close() {
	p := pool.Must(replay[string]())
	w := p.Worker()
	w.Close()
	w.Close()
	defer func() { fmt.Println(recover()) }()
	_, _ = w.Insert("umbrella")
	// Output: pool: use of a Worker that is closed, or not from Pool.Worker
}
