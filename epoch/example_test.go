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

	g := d.Pin()        // a reader looks at a node
	stamp := d.Retire() // a writer has unlinked it
	fmt.Println("passed:", d.Passed(stamp))
	g.Unpin()
	fmt.Println("passed:", d.Passed(stamp))
	// Output:
	// passed: false
	// passed: true
}

func ExampleNewSize() {
	d := epoch.NewSize(1000)
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

func ExampleDomain_Init() {
	var structure struct {
		domain epoch.Domain
		// …
	}
	structure.domain.Init(0)
	g := structure.domain.Pin()
	fmt.Println(g.Pinned())
	g.Unpin()
	// Output: true
}

func ExampleDomain_InitFull() {
	var with, without epoch.Domain
	with.Init(0)
	without.InitFull(0)
	fmt.Println(2*without.Scanned() == with.Scanned())
	g := without.PinBrief()
	fmt.Println(without.Pinned())
	g.UnpinBrief()
	// Output:
	// true
	// 1 0
}

func ExampleDomain_Pin() {
	d := epoch.New()
	g := d.Pin()
	defer g.Unpin()
	fmt.Println(d.Pinned())
	// Output: 1 0
}

func ExampleDomain_PinBrief() {
	d := epoch.New()
	look := func() (n int) {
		g := d.PinBrief()
		n, _ = d.Pinned()
		g.UnpinBrief()
		return n
	}
	fmt.Println(look())
	// Output: 1
}

func ExampleDomain_Retire() {
	d := epoch.New()
	fmt.Println(d.Retire(), d.Retire(), d.Epoch())
	// Output: 0 1 2
}

func ExampleDomain_Epoch() {
	d := epoch.New()
	before := d.Epoch()
	d.Retire()
	fmt.Println(d.Epoch() - before)
	// Output: 1
}

func ExampleDomain_Passed() {
	d := epoch.New()
	stamp := d.Retire()
	fmt.Println(d.Passed(stamp))
	// Output: true
}

func ExampleDomain_Safe() {
	d := epoch.New()
	stamp := d.Retire()
	fmt.Println(stamp < d.Safe()) // no scan has looked
	d.Frontier()
	fmt.Println(stamp < d.Safe())
	// Output:
	// false
	// true
}

func ExampleDomain_Frontier() {
	d := epoch.New()
	g := d.Pin()
	d.Retire()
	fmt.Println(d.Frontier())
	g.Unpin()
	fmt.Println(d.Frontier())
	// Output:
	// 0
	// 1
}

func ExampleDomain_Pinned() {
	d := epoch.New()
	g := d.Pin()
	for range 3 {
		d.Retire()
	}
	guards, oldest := d.Pinned()
	fmt.Println(guards, "guard, the oldest", oldest, "epochs back")
	g.Unpin()
	// Output: 1 guard, the oldest 3 epochs back
}

func ExampleDomain_Scanned() {
	d := epoch.NewSize(1000)
	fmt.Println(d.Scanned() < 1000) // the others were never used
	// Output: true
}

func ExampleDomain_Bytes() {
	fmt.Println(epoch.NewSize(100_000).Bytes() > epoch.New().Bytes())
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

func ExampleGuard_Release() {
	d := epoch.New()
	g := d.Pin()
	fmt.Println(g.Release(), g.Release())
	// Output: true false
}

func ExampleGuard_Pinned() {
	d := epoch.New()
	g := d.Pin()
	fmt.Println(g.Pinned())
	g.Unpin()
	fmt.Println(g.Pinned())
	// Output:
	// true
	// false
}

func ExampleGuard_UnpinBrief() {
	d := epoch.New()
	g := d.PinBrief()
	g.UnpinBrief()
	fmt.Println(d.Pinned())
	// Output: 0 0
}
