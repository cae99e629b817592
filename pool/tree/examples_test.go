//go:build !race

package tree_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strings"

	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// Part is a part of a scene, with its place in it, and in the order of assembly.
type Part struct {
	Name  string
	Links tree.Links[Part]
	Built tree.Links[Part]
}

// scene makes a forest of the parts in a picture like "car(wheel wheel)", and a map from
// names to handles.
func scene(picture string) (*pool.Pool[Part], *tree.Forest[Part], map[string]pool.Handle[Part]) {
	p := pool.Must(&pool.Options[Part]{Origin: 1, Shards: 1})
	f := tree.New(p, func(v *Part) *tree.Links[Part] { return &v.Links })
	named := map[string]pool.Handle[Part]{}
	above := []string{} // each part that is open
	last := ""
	for _, word := range strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(picture)) {
		switch word {
		case "(":
			above = append(above, last)
		case ")":
			above = above[:len(above)-1]
		default:
			last = word
			named[word], _ = p.Insert(Part{Name: word})
			if n := len(above); n > 0 {
				_ = f.Append(named[above[n-1]], named[word])
			}
		}
	}
	return p, f, named
}

// names prints what a loop yields.
func names(loop iter.Seq2[pool.Handle[Part], *Part]) {
	var all []string
	for _, v := range loop {
		all = append(all, v.Name)
	}
	fmt.Println(strings.Join(all, " "))
}

// show prints the nodes below h.
func show(f *tree.Forest[Part], h pool.Handle[Part]) {
	for d, v := range f.Descendants(h) {
		fmt.Print(strings.Repeat("· ", f.Depth(d)), v.Name, "\n")
	}
}

func Example() {
	type Node struct {
		Name  string
		Links tree.Links[Node]
	}
	p := pool.Must[Node](nil)
	f := tree.New(p, func(n *Node) *tree.Links[Node] { return &n.Links })

	car, _ := p.Insert(Node{Name: "car"})
	door, _ := p.Insert(Node{Name: "door"})
	handle, _ := p.Insert(Node{Name: "handle"})
	_ = f.Append(car, door)
	_ = f.Append(door, handle)
	fmt.Println(f.Append(handle, car))

	for h, n := range f.Descendants(car) {
		fmt.Println(n.Name, f.Depth(h))
	}
	fmt.Println(f.Remove(car), p.Contains(handle))
	// Output:
	// tree: the node would lie below itself
	// door 1
	// handle 2
	// 3 false
}

func ExampleNew() {
	// A T with two fields stands in two forests.
	p, f, part := scene("car(door(handle) wheel)")
	built := tree.New(p, func(v *Part) *tree.Links[Part] { return &v.Built })
	fmt.Println(built.Append(part["wheel"], part["handle"]))
	up, _ := f.Parent(part["handle"])
	before, _ := built.Parent(part["handle"])
	fmt.Println(up == part["door"], before == part["wheel"])
	// Output:
	// <nil>
	// true true
}

func ExampleForest_Append() {
	_, f, part := scene("car wheel")
	fmt.Println(f.Append(part["car"], part["wheel"]))
	fmt.Println(f.Append(part["car"], part["wheel"]))
	fmt.Println(f.Append(part["wheel"], part["car"]))
	show(f, part["car"])
	// Output:
	// <nil>
	// tree: the node has a parent already
	// tree: the node would lie below itself
	// · wheel
}

func ExampleForest_InsertAfter() {
	_, f, part := scene("car(engine wheel) door")
	fmt.Println(f.InsertAfter(part["car"], part["door"]))
	fmt.Println(f.InsertAfter(part["engine"], part["door"]))
	show(f, part["car"])
	// Output:
	// tree: the sibling has no parent
	// <nil>
	// · engine
	// · door
	// · wheel
}

func ExampleForest_InsertBefore() {
	_, f, part := scene("car(engine wheel) door")
	fmt.Println(f.InsertBefore(part["wheel"], part["door"]))
	show(f, part["car"])
	// Output:
	// <nil>
	// · engine
	// · door
	// · wheel
}

func ExampleForest_Move() {
	_, f, part := scene("car(door(handle) wheel) garage")
	fmt.Println(f.Move(part["garage"], part["door"]))
	show(f, part["garage"])
	// Output:
	// <nil>
	// · door
	// · · handle
}

func ExampleForest_Detach() {
	_, f, part := scene("car(door(handle) wheel)")
	fmt.Println(f.Detach(part["door"]))
	show(f, part["car"])
	fmt.Println(f.Depth(part["handle"]))
	// Output:
	// <nil>
	// · wheel
	// 1
}

func ExampleForest_Remove() {
	p, f, part := scene("car(door(handle) wheel)")
	fmt.Println(f.Remove(part["door"]), f.Remove(part["door"]))
	fmt.Println(p.Contains(part["handle"]), p.Len())
	// Output:
	// 2 0
	// false 2
}

func ExampleForest_Repair() {
	p, f, part := scene("car(door(handle) wheel)")
	p.Remove(part["door"]) // without the forest's knowledge

	for _, v := range f.Children(part["car"]) {
		fmt.Println(v.Name) // never: the list seems to end before the dead door
	}
	fmt.Println(errors.Is(f.Prepend(part["car"], part["handle"]), tree.ErrBroken))

	fmt.Println(f.Repair()) // car's first child, wheel's previous sibling, handle's parent
	fmt.Println(f.Prepend(part["car"], part["handle"]))
	show(f, part["car"])
	// Output:
	// true
	// 3
	// <nil>
	// · handle
	// · wheel
}

func ExampleForest_Children() {
	_, f, part := scene("car(door(handle) wheel)")
	for h, v := range f.Children(part["car"]) {
		fmt.Println(v.Name)
		_ = f.Detach(h) // the body may change the forest
	}
	_, ok := f.Parent(part["wheel"])
	fmt.Println(ok)
	// Output:
	// door
	// wheel
	// false
}

func ExampleForest_PostOrder() {
	_, f, part := scene("car(door(handle) wheel)")
	names(f.PostOrder(part["car"]))
	names(f.Descendants(part["car"]))
	// Output:
	// handle door wheel
	// door handle wheel
}

func ExampleForest_FirstChild() {
	p, f, part := scene("car(door engine wheel)")
	first, _ := f.FirstChild(part["car"])
	for h, ok := first, true; ok; h, ok = f.Next(h) {
		p.View(h, func(v *Part) { fmt.Print(v.Name, " ") }) // a copy would copy the Links
	}
	_, ok := f.FirstChild(part["wheel"])
	fmt.Println(ok)
	// Output: door engine wheel false
}

func ExampleForest_LastChild() {
	p, f, part := scene("car(door engine wheel)")
	last, _ := f.LastChild(part["car"])
	for h, ok := last, true; ok; h, ok = f.Prev(h) {
		p.View(h, func(v *Part) { fmt.Print(v.Name, " ") }) // a copy would copy the Links
	}
	// Output: wheel engine door
}

func ExampleForest_Next() {
	_, f, part := scene("car(door engine wheel)")
	next, ok := f.Next(part["door"])
	fmt.Println(next == part["engine"], ok)
	_, ok = f.Next(part["wheel"])
	fmt.Println(ok)
	// Output:
	// true true
	// false
}

func ExampleForest_Prev() {
	_, f, part := scene("car(door engine wheel)")
	prev, ok := f.Prev(part["wheel"])
	fmt.Println(prev == part["engine"], ok)
	_, ok = f.Prev(part["door"])
	fmt.Println(ok)
	// Output:
	// true true
	// false
}

func ExampleForest_Ancestors() {
	_, f, part := scene("car(door(handle) wheel)")
	names(f.Ancestors(part["handle"]))
	// Output: door car
}

func ExampleForest_Roots() {
	_, f, part := scene("car(door) garage")
	_ = f.Detach(part["door"])
	names(f.Roots())
	// Output: car door garage
}

func ExampleForest_RemoveLeaf() {
	_, f, part := scene("car(door(handle) wheel)")
	fmt.Println(f.RemoveLeaf(part["door"]))
	fmt.Println(f.RemoveLeaf(part["wheel"]))
	names(f.Children(part["car"]))
	// Output:
	// tree: the node has children
	// <nil>
	// door
}

func ExampleForest_Pin() {
	_, f, part := scene("car(door(handle) wheel)")
	r := f.Pin() // once for all that follows
	defer r.Unpin()
	for h, v := range r.Children(part["car"]) {
		first, ok := r.FirstChild(h)
		fmt.Println(v.Name, r.Depth(h), ok && first == part["handle"])
	}
	// Output:
	// door 1 true
	// wheel 1 false
}

func ExampleForest_Phase() {
	_, f, part := scene("car(door(handle) wheel)")
	r := f.Phase() // nobody else uses the pool now
	for h := range r.Children(part["car"]) {
		f.Remove(h)
	}
	_, ok := r.FirstChild(part["car"])
	fmt.Println(ok)
	// Output: false
}

func ExampleLinks() {
	p, f, part := scene("car(door wheel)")
	var file bytes.Buffer
	_, _ = p.WriteTo(&file) // the links are part of the values

	again, _ := pool.ReadFrom[Part](&file, nil)
	g := tree.New(again, func(v *Part) *tree.Links[Part] { return &v.Links })
	show(g, part["car"]) // with the same handles
	_ = f
	// Output:
	// · door
	// · wheel
}
