// Package tree makes hierarchies of the values in a pool: scenes, widgets, families of
// processes, syntax trees.
//
// The links lie in the values themselves, as in the intrusive lists of a kernel, so a
// tree allocates nothing and a node is found with its neighbours. A link is a
// [pool.Handle] and not a pointer. Bare pointers cannot tell that what they lead to was
// given up; a handle is refused, so a node that was removed without the tree's knowledge
// is a gap that everybody sees, and not a way into whatever has moved into its slot.
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
// Append, Prepend, InsertAfter and InsertBefore give a root a parent; Move takes a node from one
// parent to another, Detach makes it a root again, each with all below it; Remove
// removes it from the pool, with all below it. Each takes effect at once, for whoever
// changes or walks, and either succeeds or returns an error and changes nothing:
// [ErrStale], [ErrHasParent], [ErrNoParent], [ErrCycle], [ErrBroken].
//
// Several goroutines may change a forest: they take turns. What takes more than one
// call (look whether there is room, then append) they have to order themselves.
//
// # Walking while others change
//
// All that reads may run while others change the forest. It takes no lock, unless a
// change is under way when it begins, or changes have spoilt a step four times in a row:
// then it waits for it. Loops are pinned, so every pointer that they yield is good until
// the loop ends, also when the value is removed meanwhile.
//
// Children, Descendants, DescendantsFunc and PostOrder, forwards and backward, are walks.
// Nodes leave their places by being detached, moved or removed. This is the promise:
//
//	A walk yields nodes that were below its top when it began, in the order of that moment, each at most once.
//	It yields all that keep their places until it ends, and whose ancestors do. Only if a node leaves, with the
//	walk at it or below it, and the sibling that followed has not kept its place either, may it omit some behind these.
//
// So a walk ends, however fast others change the forest. A node is live when it is
// yielded, and has not left its place since the walk began. A body that takes away the
// node that it has just got makes the walk omit nothing.
//
// Ancestors yields the way up as it was at one moment when the loop began.
//
// The values themselves are yours: goroutines that share one *T, one of them writing,
// synchronize between themselves. The links are atomic.
//
// # Removal behind the forest's back
//
// Pool.Remove of a node, or Take, Clear or anything else that ends its life, cannot
// tell the forest. Nothing comes to harm by that. A list of siblings seems to end before
// the dead node, which hides those behind it; its children seem to have no parent. Changes
// that need a neighbour which is gone return [ErrBroken].
//
// [Forest.Repair] closes such gaps in the whole forest; the children of the dead become
// roots. It may move siblings between two dead nodes. A walk that has passed a gap does
// not go back to what Repair shows there. If all nodes that are removed in this way have
// no children, or nobody needs their children's places, a Repair now and then is enough.
//
// # Snapshots
//
// [pool.Pool.WriteTo] writes the links with the values, and a New over the pool that
// [pool.ReadFrom] makes goes on with the same trees and the same handles. A snapshot
// that is taken while the forest changes may catch a change half done: call Repair on
// what is read from it.
//
// # What is not here
//
// Roots have no order. Values enter the pool as roots, and the pool does not tell the
// forest: no list could have them all. Who needs an ordered list of roots gives them a
// parent, one more value, and has InsertAfter, Children and Move for them.
//
// Links lie in values, and not in the columns of a table. Records move when others are
// removed and readers take turns with writers there, so nothing of what is here, which
// goes by slots that stay and by guards, could be shared.
//
// # Cost
//
// Each step and each change costs O(1), but that linking a node which has children looks
// at all ancestors of its new parent, for cycles; Remove costs O(1) for each value, and
// Repair O(n). Depth is no burden on the stack. Links take 48 bytes a value.
//
// In entity component systems this is the hierarchy, or the relationship component: its
// destroy with all children is [Forest.Remove], and a setting of the parent [Forest.Move].
//
// The idea of lists in the things themselves is as old as linked lists; here it follows
// the "large array of things" of handmade game engines, with generations in the links.
// The readers' protocol is Lamport's sequence lock with stamps in the manner of
// multi-version databases.
package tree
