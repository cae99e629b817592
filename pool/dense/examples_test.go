package dense_test

import (
	"bytes"
	"fmt"
	"sync"

	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// replay returns options that make the handles of the examples the same each time.
func replay[T any]() *dense.Options[T] { return &dense.Options[T]{Origin: 1} }

func Example() {
	type particle struct {
		height, speed float64
	}
	s := dense.Must[particle](nil)
	for i := range 4 {
		_, _ = s.Create(particle{height: float64(2 * i), speed: -3})
	}
	s.Refresh() // they join

	// A phase: the values are shared out, and nothing moves.
	values, handles := s.Values(), s.Handles()
	var wg sync.WaitGroup
	for part := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := part * 2; i < part*2+2; i++ {
				p := &values[i]
				p.height += p.speed
				if p.height < 0 {
					s.Kill(handles[i])
				}
			}
		}()
	}
	wg.Wait()

	created, destroyed := s.Refresh()
	fmt.Println(created, destroyed, s.Values())
	// Output: 0 2 [{1 -3} {3 -3}]
}

// Several goroutines create, and a handle outlives its value.
func Example_phases() {
	s := dense.Must[string](nil)
	old, _ := s.Create("spark")
	s.Refresh()

	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if _, ok := s.Get(old); ok { // until Refresh, although it was killed
				_, _ = s.Create("flame")
				s.Kill(old)
			}
		}()
	}
	wg.Wait()
	s.Refresh()
	fmt.Println(s.Values(), s.Alive(old))
	// Output: [flame flame flame] false
}

func ExampleNew() {
	_, err := dense.New(&dense.Options[int]{Capacity: -1})
	fmt.Println(err)
	// Output: dense: Options.Capacity is -1; want 0 (no limit) or more
}

func ExampleMust() {
	s := dense.Must[int](nil)
	fmt.Println(s.Len())
	// Output: 0
}

func ExampleOptions() {
	s := dense.Must(&dense.Options[string]{
		Capacity:  100,
		Unordered: true,
		OnDestroy: func(h pool.Handle[string], v *string) { fmt.Println(*v, "goes") },
	})
	for _, v := range []string{"a", "b", "c", "d"} {
		_, _ = s.Create(v)
	}
	s.Refresh()
	s.Kill(s.Handles()[0])
	s.Refresh()
	fmt.Println(s.Values()) // the last has filled the gap
	// Output:
	// a goes
	// [d b c]
}

// A value learns its own handle before any other goroutine has it. The value is in Values
// from the next Refresh on.
func ExampleStore_Create_ownHandle() {
	type beetle struct{ self pool.Handle[beetle] }
	s := dense.Must(&dense.Options[beetle]{Origin: 1})
	h, _ := s.Create(beetle{})
	if b, ok := s.Get(h); ok {
		b.self = h
	}
	s.Refresh()
	fmt.Println(s.Values()[0].self == h)
	// Output: true
}

func ExampleStore_Create() {
	s := dense.Must(&dense.Options[string]{Capacity: 1, Origin: 1})
	h, err := s.Create("coat")
	v, ok := s.Get(h)
	fmt.Println(h, err, *v, ok)
	fmt.Println(s.Values()) // before Refresh

	_, err = s.Create("umbrella")
	fmt.Println(err)
	s.Refresh()
	fmt.Println(s.Values())
	// Output:
	// 0@1 <nil> coat true
	// []
	// pool: full
	// [coat]
}

func ExampleStore_Kill() {
	s := dense.Must(replay[string]())
	h, _ := s.Create("coat")
	s.Refresh()
	fmt.Println(s.Kill(h), s.Kill(h), s.Values())
	s.Refresh()
	fmt.Println(s.Kill(h), s.Values())
	// Output:
	// true false [coat]
	// false []
}

func ExampleStore_Get() {
	s := dense.Must(replay[int]())
	h, _ := s.Create(41)
	if v, ok := s.Get(h); ok {
		*v++
	}
	s.Refresh()
	fmt.Println(s.Values())
	_, ok := s.Get(0)
	fmt.Println(ok)
	// Output:
	// [42]
	// false
}

func ExampleStore_Alive() {
	s := dense.Must(replay[int]())
	h, _ := s.Create(1)
	s.Kill(h)
	fmt.Println(s.Alive(h))
	s.Refresh()
	fmt.Println(s.Alive(h))
	// Output:
	// true
	// false
}

func ExampleStore_State() {
	s := dense.Must(replay[int]())
	h, _ := s.Create(1)
	fmt.Println(s.State(h))
	s.Kill(h)
	fmt.Println(s.State(h))
	s.Refresh()
	fmt.Println(s.State(h))
	// Output:
	// alive
	// dead
	// unused
}

func ExampleState_String() {
	fmt.Println(dense.Alive.String(), dense.Dead.String(), dense.Unused.String())
	// Output: alive dead unused
}

func ExampleStore_Refresh() {
	s := dense.Must(replay[int]())
	for i := range 5 {
		_, _ = s.Create(i)
	}
	fmt.Println(s.Refresh())
	s.Kill(s.Handles()[1])
	s.Kill(s.Handles()[2])
	_, _ = s.Create(5)
	fmt.Println(s.Refresh())
	fmt.Println(s.Values())
	// Output:
	// 5 0
	// 1 2
	// [0 3 4 5]
}

func ExampleStore_Values() {
	s := dense.Must(replay[int]())
	for i := range 3 {
		_, _ = s.Create(i)
	}
	s.Refresh()
	for i := range s.Values() {
		s.Values()[i] *= 10
	}
	fmt.Println(s.Values())
	// Output: [0 10 20]
}

func ExampleStore_Handles() {
	s := dense.Must(replay[string]())
	_, _ = s.Create("coat")
	_, _ = s.Create("umbrella")
	s.Refresh()
	for i, h := range s.Handles() {
		fmt.Println(h, s.Values()[i])
	}
	// Output:
	// 0@1 coat
	// 1@1 umbrella
}

func ExampleStore_All() {
	s := dense.Must(replay[string]())
	_, _ = s.Create("coat")
	_, _ = s.Create("umbrella")
	s.Refresh()
	for h, v := range s.All() {
		if *v == "coat" {
			s.Kill(h)
		}
	}
	s.Refresh()
	fmt.Println(s.Values())
	// Output: [umbrella]
}

func ExampleStore_Reserve() {
	s := dense.Must(replay[int]())
	s.Reserve(1000)
	fmt.Println(s.Allocated() >= 1000, s.Len())
	// Output: true 0
}

func ExampleStore_Allocated() {
	s := dense.Must(&dense.Options[int]{Capacity: 50})
	fmt.Println(s.Allocated())
	s.Reserve(50)
	fmt.Println(s.Allocated())
	// Output:
	// 0
	// 50
}

func ExampleStore_Clear() {
	s := dense.Must(replay[int]())
	h, _ := s.Create(1)
	s.Clear()
	fmt.Println(s.Len(), s.Alive(h))
	// Output: 0 false
}

func ExampleStore_Len() {
	s := dense.Must(replay[int]())
	a, _ := s.Create(1)
	fmt.Println(s.Len())
	s.Refresh()
	s.Kill(a)
	fmt.Println(s.Len())
	// Output:
	// 0
	// 1
}

func ExampleStore_Pending() {
	s := dense.Must(replay[int]())
	a, _ := s.Create(1)
	_, _ = s.Create(2)
	s.Kill(a)
	fmt.Println(s.Pending())
	// Output: 2 1
}

func ExampleStore_Cap() {
	fmt.Println(dense.Must(&dense.Options[int]{Capacity: 50}).Cap())
	fmt.Println(dense.Must[int](nil).Cap() == pool.MaxCapacity)
	// Output:
	// 50
	// true
}

func ExampleStore_Ptr() {
	s := dense.Must[string](nil)
	h, _ := s.Create("door")
	q := s.Ptr(h) // has its Store with it
	v, ok := q.Get()
	fmt.Println(*v, ok, q.Kill(), q.State())
	// Output: door true true dead
}

func ExamplePtr() {
	s := dense.Must[string](nil)
	h, _ := s.Create("door")
	exits := map[string]dense.Ptr[string]{"north": s.Ptr(h)}
	fmt.Println(exits["north"].Alive(), exits["north"].State(), exits["south"].Alive())
	// Output: true alive false
}

func ExamplePtr_Get() {
	s := dense.Must[int](nil)
	h, _ := s.Create(42)
	v, ok := s.Ptr(h).Get()
	fmt.Println(*v, ok)
	// Output: 42 true
}

func ExamplePtr_Alive() {
	s := dense.Must[int](nil)
	h, _ := s.Create(1)
	fmt.Println(s.Ptr(h).Alive(), s.Ptr(0).Alive())
	// Output: true false
}

func ExamplePtr_State() {
	s := dense.Must[int](nil)
	h, _ := s.Create(1)
	s.Kill(h)
	fmt.Println(s.Ptr(h).State())
	// Output: dead
}

func ExamplePtr_Kill() {
	s := dense.Must[int](nil)
	h, _ := s.Create(1)
	fmt.Println(s.Ptr(h).Kill(), s.Ptr(h).Kill())
	// Output: true false
}

func ExampleStore_Trim() {
	s := dense.Must[int](nil)
	for i := range 1000 {
		s.Create(i)
	}
	s.Clear()
	fmt.Println(s.Trim() > 0, s.Allocated())
	// Output: true 0
}

func ExampleReadFrom() {
	s := dense.Must[string](nil)
	h, _ := s.Create("door")
	s.Refresh()
	var file bytes.Buffer
	if _, err := s.WriteTo(&file); err != nil {
		fmt.Println(err)
	}
	c, err := dense.ReadFrom[string](&file, nil)
	v, ok := c.Get(h) // the same handle
	fmt.Println(*v, ok, err)
	// Output: door true <nil>
}
