package command_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"coatcheck/pool"
	"coatcheck/pool/command"
	"coatcheck/pool/tree"
)

// replay returns options that make the handles of the examples the same each time.
func replay[T any]() *pool.Options[T] { return &pool.Options[T]{Origin: 1, Shards: 1} }

type shell struct {
	owner string
	fuse  int
}

// node is a value that refers to another.
type node struct {
	name   string
	parent pool.Handle[node]
}

// Goroutines work on all values at once and record what should come and go. None of them
// sees another's commands; all of it happens in Apply.
func Example() {
	p := pool.Must[shell](nil)
	for i := range 4 {
		_, _ = p.Insert(shell{owner: "gun", fuse: i})
	}
	b := command.New(p)
	for frame := range 4 {
		_ = p.Each(context.Background(), 0, func(h pool.Handle[shell], s *shell) error {
			if s.fuse--; s.fuse > 0 {
				return nil
			}
			b.Remove(h)
			if s.owner == "gun" { // bursts in two
				_, _ = b.Insert(shell{owner: "burst", fuse: 2})
				_, _ = b.Insert(shell{owner: "burst", fuse: 2})
			}
			return nil
		})
		inserted, removed := b.Apply()
		fmt.Printf("frame %d: +%d −%d, %d fly\n", frame, inserted, removed, p.Len())
	}
	// Output:
	// frame 0: +4 −2, 6 fly
	// frame 1: +2 −1, 7 fly
	// frame 2: +2 −5, 4 fly
	// frame 3: +0 −2, 2 fly
}

func ExampleBuffer_Insert() {
	p := pool.Must(replay[node]())
	b := command.New(p)
	root, err := b.Insert(node{name: "root"})
	leaf, _ := b.Insert(node{name: "leaf", parent: root}) // the handle is known at once
	fmt.Println(root, err, p.Contains(root))

	b.Apply()
	fmt.Println(p.MustGet(p.MustGet(leaf).parent).name)
	// Output:
	// 0@1 <nil> false
	// root
}

func ExampleBuffer_InsertFunc() {
	p := pool.Must[node](nil)
	b := command.New(p)
	h, _ := b.InsertFunc(func(h pool.Handle[node], n *node) { n.name, n.parent = "its own", h })
	b.Apply()
	fmt.Println(p.MustGet(h).parent == h)
	// Output: true
}

func ExampleBuffer_Remove() {
	p := pool.Must[string](nil)
	b, c := command.New(p), command.New(p)
	coat, _ := p.Insert("coat")
	hat, _ := b.Insert("hat")

	b.Remove(coat)
	c.Remove(coat) // counts once
	c.Remove(hat)  // inserted by the same frame
	fmt.Println(command.Apply(b, c))
	// Output: 1 2
}

// Each piece of the work has its Buffer. If they are applied in the order of the pieces,
// the values go live in the same order each time.
func ExampleApply() {
	p := pool.Must[string](nil)
	buffers := []*command.Buffer[string]{command.New(p), command.New(p)}
	var wg sync.WaitGroup
	for i, piece := range []string{"a b", "c d e"} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for _, word := range strings.Fields(piece) {
				_, _ = buffers[i].Insert(word)
			}
		}()
	}
	wg.Wait()
	fmt.Println(command.Apply(buffers...))
	// Output: 5 0
}

// An index beside the pool follows what frames remove, and files are closed once.
func ExampleApplyFunc() {
	p := pool.Must[string](nil)
	b := command.New(p)
	names := map[string]pool.Handle[string]{}
	gone := func(_ pool.Handle[string], name string) { delete(names, name) }

	_, _ = b.Insert("coat")
	_, _ = b.Insert("hat")
	for h, name := range b.Insertions() {
		names[*name] = h
	}
	b.ApplyFunc(gone)
	fmt.Println(len(names), p.MustGet(names["hat"]))

	b.Remove(names["hat"])
	b.Remove(names["hat"]) // has no effect, and is not told
	fmt.Println(command.ApplyFunc(gone, b))
	fmt.Println(len(names))
	// Output:
	// 2 hat
	// 0 1
	// 1
}

// Nodes of a forest are linked and removed where the frame ends, by the forest.
func ExampleBuffer_Do() {
	type item struct {
		name  string
		links tree.Links[item]
	}
	p := pool.Must[item](nil)
	forest := tree.New(p, func(i *item) *tree.Links[item] { return &i.links })
	b := command.New(p)

	menu, _ := b.Insert(item{name: "menu"})
	for _, name := range []string{"open", "close"} {
		h, _ := b.Insert(item{name: name})
		b.Do(func() { _ = forest.Append(menu, h) }) // both are live then
	}
	fmt.Println(b.Apply())
	for _, i := range forest.Children(menu) {
		fmt.Println(i.name)
	}

	b.Do(func() { fmt.Println(forest.Remove(menu), "removed") })
	b.Apply()
	// Output:
	// 3 0
	// open
	// close
	// 3 removed
}

// Values that wait are completed when all of a frame are known.
func ExampleBuffer_Insertions() {
	p := pool.Must(replay[node]())
	b := command.New(p)
	_, _ = b.Insert(node{name: "a"})
	_, _ = b.Insert(node{name: "b"})
	var last pool.Handle[node]
	for h, n := range b.Insertions() {
		n.parent, last = last, h
	}
	fmt.Println(b.Len())
	b.Apply()
	n := p.MustGet(last)
	fmt.Println(n.name, "in", p.MustGet(n.parent).name)
	// Output:
	// 2
	// b in a
}

func ExampleBuffer_Discard() {
	p := pool.Must[string](nil)
	b := command.New(p)
	coat, _ := p.Insert("coat")
	hat, _ := b.Insert("hat")
	b.Remove(coat)
	n := b.Discard()
	b.Apply()
	fmt.Println(n, p.Contains(coat), p.Contains(hat), p.Stats().Reserved)
	// Output: 2 true false 0
}

func ExampleBuffer_Removals() {
	p := pool.Must(replay[string]())
	b := command.New(p)
	h, _ := p.Insert("coat")
	b.Remove(h)
	fmt.Println(slices.Collect(b.Removals()))
	// Output: [0@1]
}
