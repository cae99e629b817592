package pool_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"coatcheck/pool"
)

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

func ExampleGuard() {
	p := pool.Must(replay[string]())
	hs := insertAll(p, "a", "b")
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
	fmt.Println(p.Get(h))
	// Output: [1 2] true
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

func ExampleWorker_TryInsertFunc() {
	p := pool.Must(replay[string]())
	w := p.Worker()
	defer w.Close()
	closing := errors.New("the cloakroom is closing")
	_, err := w.TryInsertFunc(func(pool.Handle[string], *string) error { return closing })
	fmt.Println(err == closing, p.Len())
	// Output: true 0
}

// A reply is written while the connection may be closed by others: its slot waits,
// and no other slot does.
func ExampleRef() {
	conns := pool.Must(replay[string]())
	h, _ := conns.Insert("alice")

	done := make(chan string)
	if r, ok := conns.Hold(h); ok {
		go func() {
			defer r.Release()
			done <- "replied to " + *r.Value() // as long as it takes
		}()
	}
	conns.Remove(h)
	fmt.Println(<-done)
	// Output: replied to alice
}

// The goroutine of a connection keeps its value to the end, even if another removes it.
func ExampleReservation_CommitHold() {
	conns := pool.Must(replay[string]())
	r, _ := conns.Reserve()
	*r.Value() = "alice"
	mine := r.CommitHold()
	conns.Clear() // the server shuts down
	fmt.Println(*mine.Value(), conns.Contains(mine.Handle()))
	mine.Release()
	// Output: alice false
}

func ExampleRef_Value() {
	p := pool.Must(replay[[2]uint64]())
	h, _ := p.Insert([2]uint64{1, 2})
	r, _ := p.Hold(h)
	r.Value()[1] = 7
	r.Release()
	fmt.Println(p.MustGet(h))
	// Output: [1 7]
}

func ExampleRef_Handle() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("umbrella")
	r, _ := p.Hold(h)
	fmt.Println(r.Handle() == h)
	r.Release()
	// Output: true
}

func ExampleRef_Release() {
	p := pool.Must(replay[string]())
	h, _ := p.Insert("umbrella")
	r, _ := p.Hold(h)
	p.Remove(h)
	fmt.Println(p.Stats().Held, p.Stats().Limbo)
	r.Release()
	fmt.Println(p.Stats().Held)
	// Output:
	// 1 1
	// 0
}
