package pool_test

import (
	"fmt"

	"coatcheck/pool"
)

// A loader names all records before it knows any of them.
func ExampleReserver() {
	p := pool.Must(replay[Node]())
	reserver := p.Reserver()

	names := []string{"hat", "coat", "scarf"}
	rs := make([]*pool.Reservation[Node], len(names))
	for i := range rs {
		rs[i], _ = reserver.Reserve()
	}
	for i, r := range rs {
		*r.Value() = Node{names[i], rs[(i+1)%len(rs)].Handle()}
	}
	for _, r := range rs {
		r.Commit()
	}

	h := rs[0].Handle()
	for range names {
		v := p.MustGet(h)
		fmt.Println(h, v.Name)
		h = v.Next
	}
	// Output:
	// 0@1 hat
	// 1@1 coat
	// 2@1 scarf
}

func ExamplePool_Reserver() {
	p := pool.Must(&pool.Options[string]{Capacity: 1})
	reserver := p.Reserver()
	r, _ := reserver.Reserve()
	_, err := reserver.Reserve()
	fmt.Println(err)
	r.Cancel()
	// Output: pool: full
}

func ExampleReserver_Reserve() {
	p := pool.Must(replay[string]())
	reserver := p.Reserver() // one for all that follow
	for _, v := range []string{"hat", "coat"} {
		r, err := reserver.Reserve()
		if err != nil {
			panic(err)
		}
		*r.Value() = v
		fmt.Println(p.Contains(r.Handle()), p.MustGet(r.Commit()))
	}
	// Output:
	// false hat
	// false coat
}
