// Package tree makes hierarchies of the values in a pool: scenes, widgets, families of
// processes, syntax trees.
//
// The links lie in the values themselves, as in the intrusive lists of a kernel. So a
// tree allocates nothing, and a node's links come with the node. A link is a
// [pool.Handle]. A pointer cannot tell that the value behind it was removed. A handle
// can: a node that was removed without the tree's knowledge is a visible gap, and never
// leads to the next value in its slot.
//
//	type Node struct {
//		Name  string
//		Links tree.Links[Node]
//	}
//	p := pool.Must[Node](nil)
//	f := tree.New(p, func(n *Node) *tree.Links[Node] { return &n.Links })
//
//	root, _ := p.Insert(Node{Name: "root"})
//	leaf, _ := p.Insert(Node{Name: "leaf"})
//	err := f.Append(root, leaf)
//	for h, n := range f.Descendants(root) {
//		…
//	}
//	f.Remove(root) // with the leaf
//
// [Links] is a field of the value, for one place in one [Forest]. A T with two such
// fields can stand in two forests over the same pool.
//
// # Changing
//
// Append, Prepend, InsertAfter and InsertBefore give a root a parent. Move takes a node, with
// everything below it, from one parent to another; Detach makes it a root again. Remove
// removes it from the pool, with everything below it; RemoveLeaf only if there is nothing below
// it. Each takes effect at once, and either succeeds or returns an error and changes nothing:
// [ErrStale], [ErrHasParent], [ErrNoParent], [ErrHasChildren], [ErrCycle], [ErrBroken].
//
// Several goroutines may change a forest: a lock orders their changes, and those of all
// Forests of the pool. A decision that takes more than one call (see whether there is room,
// then append) needs a lock of the program's own.
//
// # Walking while others change
//
// All methods that read may run while others change the forest. They take no lock, except
// where changes have disturbed several attempts to read a neighbour, or a path up. Loops are
// pinned, so every pointer that they yield is valid until the loop ends, even when the
// value is removed meanwhile.
//
// Children, Descendants and PostOrder are walks. A node leaves its place when it is
// detached, moved or removed. This is the promise:
//
//	A walk yields nodes that were below its top when it began, in the order of that moment, each at most once.
//	It yields all that keep their places until it ends, and whose ancestors do.
//
// So a walk ends, however fast others change the forest. A node is live when it is
// yielded, and has not left its place since the walk began. If a node has left before
// the walk comes to it, the walk also passes over what is below it.
//
// Each loop takes a pin, and so does each Depth. For many, and for many looks at neighbours, take a
// [Reader]: [Forest.Pin] returns one that has all the verbs that read, under one pin; [Forest.Phase] one
// for the phase of a frame in which one goroutine is alone, which takes none. Both mean the same as the
// Forest's verbs. The compiler inlines their Children, Descendants and PostOrder into the loop, with its
// body.
//
//	r := f.Pin()
//	defer r.Unpin()
//	for h, ship := range r.Children(fleet) {
//		for _, turret := range r.Children(h) {
//			…
//		}
//	}
//
// Parent, FirstChild, LastChild, Next and Prev answer for one moment. A loop that steps
// by Next has no promise: if its node is moved, it goes on there.
//
// Ancestors yields the ancestors of one moment when the loop began.
//
// The links are atomic, the values are not: goroutines that share one *T, one of them
// writing, synchronize between themselves.
//
// # Removal behind the forest's back
//
// Remove nodes by [Forest.Remove], in a frame of package command by its Do. No other removal tells
// the forest: Remove and Take of a Pool, a Worker or a Ptr, the pool's RemoveBatch, DeleteFunc,
// Drain and Clear, Buffer.Remove, and, for a value that stands in two forests, Remove and RemoveLeaf
// of the other one. They leave a gap, and no wrong link. A list of siblings seems to end before the
// dead node, which hides those behind it, and the dead node's children seem to have no parent,
// but are siblings still. A loop that came to the node before it died goes on after it, whatever else
// leaves; only between two dead siblings it may find nothing. A change that needs a neighbour that
// is gone returns [ErrBroken]. But Append and Move close the gap if the last child of the parent is gone, and
// Prepend if the first is, as long as all other children live.
//
// [Forest.Repair] closes such gaps in the whole forest; the children of the dead become
// roots. It may move siblings between two dead nodes. A walk that has passed a gap does
// not return to what Repair reveals there. If nodes removed in this way have no children,
// or their children may become roots, an occasional Repair is enough, and one when a change returns
// ErrBroken.
//
// # Snapshots
//
// [pool.Pool.WriteTo] writes the links with the values. A New over the pool that
// [pool.ReadFrom] makes has the same trees and the same handles. A snapshot that is taken
// while the forest changes may contain half of a change: call Repair on the copy.
//
// # Limits
//
// Roots have no order. Values enter the pool as roots without the forest's knowledge, so
// no list could have them all, and Roots reads every slot. For an ordered list of roots, or a quick
// one, give them a common parent; then InsertAfter, Children and Move apply to them.
//
// Links lie in values, not in the columns of a table. Records of a table move, and its
// readers and writers exclude each other. This package relies on guards and on slots that
// stay in place, so the two could share nothing.
//
// # Cost
//
// Each step of a loop, each look at a neighbour and each change costs O(1), except that
// linking a node with children visits all ancestors of its new parent, to exclude cycles, and the
// first change that closes a gap at an end of a list visits the list.
// A step of a loop is amortized over what the loop sees and what has changed since it began. Remove costs O(1) for each value,
// and Repair O(n). Nothing recurses, so depth does not use up the stack. Links take 48
// bytes a value.
//
// In entity component systems this is the hierarchy, or the relationship component: its
// destroy with all children is [Forest.Remove], and its set parent is [Forest.Move].
package tree
