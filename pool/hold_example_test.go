package pool_test

import (
	"fmt"

	"coatcheck/pool"
)

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

// A reply is written while the connection may be closed by others: its slot waits,
// and nobody else's does.
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

// A connection's own goroutine has its value to the end, whoever removes it meanwhile.
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
