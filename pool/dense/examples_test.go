package dense_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// coats returns a store with two values in it, and the handle of the first.
func coats() (s *dense.Store[string], coat pool.Handle[string]) {
	s = dense.Must(&dense.Options[string]{Origin: 1}) // the same handles each time
	coat, _ = s.Create("coat")
	_, _ = s.Create("umbrella")
	s.Refresh()
	return s, coat
}

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

func ExampleOptions() {
	s := dense.Must(&dense.Options[string]{
		Unordered: true,
		OnDestroy: func(h pool.Handle[string], v *string) { fmt.Println(*v, "goes") },
	})
	h, _ := s.Create("a")
	for _, v := range []string{"b", "c", "d"} {
		_, _ = s.Create(v)
	}
	s.Kill(h)
	s.Refresh()
	fmt.Println(s.Values()) // the last has filled the gap
	// Output:
	// a goes
	// [d b c]
}

func ExampleStore_Create() {
	s := dense.Must(&dense.Options[string]{Capacity: 1, Origin: 7})
	h, err := s.Create("coat")
	v, ok := s.Pointer(h) // it is not in Values before Refresh
	fmt.Println(h, err, *v, ok, s.Values())

	_, err = s.Create("umbrella")
	fmt.Println(err, s.Cap())
	// Output:
	// 0@7 <nil> coat true []
	// dense: full; Store[string]; capacity: 1 1
}

func ExampleStore_Kill() {
	s, coat := coats()
	fmt.Println(s.Kill(coat), s.Kill(coat), s.Values())
	s.Refresh()
	fmt.Println(s.Kill(coat), s.Values())
	// Output:
	// true false [coat umbrella]
	// false [umbrella]
}

func ExampleStore_CreateFunc() {
	type unit struct {
		self pool.Handle[unit] // for those who find it in Values
		name string
	}
	s := dense.Must(&dense.Options[unit]{Origin: 1})
	h, err := s.CreateFunc(func(h pool.Handle[unit], u *unit) {
		u.self, u.name = h, "scout"
	})
	s.Refresh()
	fmt.Println(s.Values()[0].self == h, err)
	// Output: true <nil>
}

func ExampleStore_CreateAt() {
	server, coat := coats()
	client := dense.Must(&dense.Options[string]{Capacity: server.Cap()})

	fmt.Println(client.CreateAt(coat, "coat"))
	fmt.Println(client.CreateAt(coat, "coat")) // the message comes again
	v, ok := client.Get(coat)
	fmt.Println(v, ok)

	client.Kill(coat)
	client.Refresh()
	fmt.Println(errors.Is(client.CreateAt(coat, "coat"), dense.ErrStale)) // and once more, late
	// Output:
	// <nil>
	// dense: the handle's slot has a value: CreateAt under 0@1; Store[string]
	// coat true
	// true
}

func ExampleStore_DeleteFunc() {
	s, coat := coats()
	n := s.DeleteFunc(func(h pool.Handle[string], v *string) bool { return *v == "coat" })
	fmt.Println(n, s.State(coat))
	s.Refresh()
	fmt.Println(s.Values())
	// Output:
	// 1 dead
	// [umbrella]
}

func ExampleStore_Pointer() {
	s, coat := coats()
	if v, ok := s.Pointer(coat); ok {
		*v = "hat"
	}
	_, ok := s.Pointer(0)
	fmt.Println(s.Values(), ok)
	// Output: [hat umbrella] false
}

func ExampleStore_Get() {
	s, coat := coats()
	v, ok := s.Get(coat) // a copy
	v += ", wet"
	fmt.Println(v, ok, s.Values())
	// Output: coat, wet true [coat umbrella]
}

func ExampleStore_State() {
	s, coat := coats()
	first := s.State(coat)
	s.Kill(coat)
	second := s.State(coat)
	s.Refresh()
	fmt.Println(first, second, s.State(coat))
	// Output: alive dead unused
}

func ExampleState_String() {
	fmt.Println(dense.Alive.String(), dense.Dead.String(), dense.Unused.String(), dense.State(3).String())
	// Output: alive dead unused State(3)
}

func ExampleStore_Refresh() {
	s, coat := coats()
	s.Kill(coat)
	_, _ = s.Create("hat")
	_, _ = s.Create("bag")
	created, destroyed := s.Refresh()
	fmt.Println(created, destroyed, s.Values())
	// Output: 2 1 [umbrella hat bag]
}

func ExampleStore_All() {
	s, _ := coats()
	for h, v := range s.All() {
		if *v == "coat" {
			s.Kill(h)
		}
	}
	s.Refresh()
	fmt.Println(s.Values())
	// Output: [umbrella]
}

func ExampleStore_Grow() {
	s, _ := coats()
	s.Grow(1000)
	fmt.Println(s.Allocated() >= 1002, s.Len())
	// Output: true 2
}

func ExampleStore_Trim() {
	s, _ := coats()
	s.Clear()
	fmt.Println(s.Trim() > 0, s.Allocated())
	// Output: true 0
}

func ExampleStore_SortFunc() {
	s, coat := coats()
	s.SortFunc(func(a, b *string) int { return strings.Compare(*b, *a) })
	v, _ := s.Pointer(coat)
	fmt.Println(s.Values(), *v)
	// Output: [umbrella coat] coat
}

// An array beside Values, for what only one of several systems needs.
func ExampleStore_OnMove() {
	s := dense.Must[int](nil)
	var tags []string
	stop := s.OnMove(func(h pool.Handle[int], from, to int) {
		if to == len(tags) {
			tags = append(tags, "")
		}
		switch {
		case to == dense.None:
			fmt.Println(tags[from], "goes")
		case from == dense.None:
			v, _ := s.Get(h)
			tags[to] = fmt.Sprint("tag of ", v)
		default:
			tags[to] = tags[from]
		}
	})
	defer stop()
	first, _ := s.Create(1)
	_, _ = s.Create(3)
	_, _ = s.Create(2)
	s.Refresh()
	s.SortFunc(func(a, b *int) int { return *b - *a })
	fmt.Println(s.Values(), tags[:s.Len()])

	s.Kill(first)
	_, _ = s.Create(4)
	s.Refresh()
	fmt.Println(s.Values(), tags[:s.Len()])
	// Output:
	// [3 2 1] [tag of 3 tag of 2 tag of 1]
	// tag of 1 goes
	// [3 2 4] [tag of 3 tag of 2 tag of 4]
}

func ExampleStore_Ptr() {
	s, coat := coats()
	q := s.Ptr(coat) // to be used where s is not at hand
	v, ok := q.Get()
	fmt.Println(v, ok, q.Alive(), q.State())
	fmt.Println(q.Kill(), q.Kill(), q.Alive(), q.State())
	s.Refresh()
	fmt.Println(q.Alive(), q.State(), dense.Ptr[string]{}.Alive())
	// Output:
	// coat true true alive
	// true false true dead
	// false unused false
}

func ExampleStore_Clear() {
	s, coat := coats()
	fmt.Println(s.Clear(), s.Len(), s.Alive(coat))
	// Output: 2 0 false
}

// Coats had a name, and now have a size as well.
func ExampleReadFromFunc() {
	type sized struct {
		Name string
		Size int
	}
	s, coat := coats()
	var file bytes.Buffer
	_, err := s.WriteTo(&file)
	c, err2 := dense.ReadFromFunc(&file, nil, func(name *string) (sized, error) { return sized{*name, 48}, nil })
	v, ok := c.Get(pool.Handle[sized](coat)) // the same number
	fmt.Println(v, ok, err, err2)
	// Output: {coat 48} true <nil> <nil>
}

func ExampleReadFrom() {
	s, coat := coats()
	var file bytes.Buffer
	_, err := s.WriteTo(&file)
	c, err2 := dense.ReadFrom[string](&file, nil)
	v, ok := c.Get(coat) // the same handle
	fmt.Println(v, ok, err, err2)
	// Output: coat true <nil> <nil>
}

// A game keeps a frame, and goes back to it. With Origin, it would issue the same handles again.
func ExampleStore_Clone() {
	s, coat := coats()
	frame, err := s.Clone(nil, nil)
	s.Kill(coat)
	s.Refresh()
	v, ok := frame.Get(coat) // the same handle
	fmt.Println(v, ok, s.Alive(coat), err)
	// Output: coat true false <nil>
}
