package epoch_test

import (
	"context"
	"fmt"
	"time"

	"coatcheck/epoch"
)

// Retired nodes are reused when every reader that may have seen them has gone.
func Example() {
	d := epoch.New()

	g := d.Pin()       // a reader looks at a node
	stamp := d.Stamp() // a writer has unlinked it
	fmt.Println("passed:", d.Expired(stamp))
	g.Unpin()
	fmt.Println("passed:", d.Expired(stamp))
	// Output:
	// passed: false
	// passed: true
}

func ExampleDomain_Init() {
	var structure struct {
		domain epoch.Domain
		// …
	}
	d := &structure.domain
	d.Init(1000)
	before := d.Bytes()
	guards := make([]epoch.Guard, 1000)
	for i := range guards {
		guards[i] = d.Pin()
	}
	fmt.Println("allocated:", d.Bytes()-before)
	for i := range guards {
		guards[i].Unpin()
	}
	// Output: allocated: 0
}

// Stamps share an epoch. The next Pin begins a later one.
func ExampleDomain_Stamp() {
	d := epoch.New()
	fmt.Println(d.Stamp(), d.Stamp())
	g := d.Pin()
	defer g.Unpin()
	fmt.Println(d.Stamp())
	// Output:
	// 0 0
	// 1
}

func ExampleDomain_Scan() {
	d := epoch.New()
	g := d.Pin()
	for range 3 {
		d.Stamp()
		transient := d.PinTransient()
		transient.Unpin()
	}
	p := d.Scan()
	fmt.Println(p.Count, "guard, the oldest", d.Epoch()-p.Oldest, "epochs back")
	g.Unpin()
	// Output: 1 guard, the oldest 3 epochs back
}

func ExampleDomain_Age() {
	d := epoch.New()
	g := d.Pin()
	d.Age(d.Scan()) // it counts from here
	time.Sleep(time.Millisecond)
	fmt.Println(d.Age(d.Scan()) >= time.Millisecond)
	g.Unpin()
	// Output: true
}

func ExampleDomain_Synchronize() {
	d := epoch.New()
	g := d.Pin()
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	fmt.Println(d.Synchronize(ctx))
	g.Unpin()
	fmt.Println(d.Synchronize(context.Background()))
	// Output:
	// context deadline exceeded
	// <nil>
}

func ExampleWait() {
	n := 0
	err := epoch.Wait(context.Background(), func() bool { n++; return n == 3 })
	fmt.Println(n, err)
	// Output: 3 <nil>
}

func ExampleGuard_Unpin() {
	d := epoch.New()
	g := d.Pin()
	g.Unpin()
	defer func() { fmt.Println(recover()) }()
	g.Unpin()
	// Output: epoch: Unpin of a guard that is not pinned (unpinned before, or through a copy?)
}
