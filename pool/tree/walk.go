package tree

import (
	"iter"
	"slices"

	"coatcheck/pool"
)

// A walk goes through the children of a node, or all its descendants, while others change
// the forest.
//
// The naive walk follows the links, each read atomically, and is wrong. It stands on a; a
// is moved; now a.next leads through another list, and from there the walk climbs to
// another parent. If a is moved to the end of its own list each time the walk comes to
// it, the walk never ends. A busy writer is enough for that.
//
// Three rules prevent it.
//
// A list is read at one moment, whole, when the walk comes to its parent: between two loads
// of the Forest's version that return the same even number (a sequence lock, after
// Lamport). A reading that changes have invalidated four times is repeated under the
// Forest's lock, which excludes changes.
//
// A walk sees the past. Each node has the version at which it was last linked or
// unlinked. A walk knows the version at which it began. A node is old to it if it has
// kept its place since. A node put into a list is new, so the old nodes of a list are in
// the order that they had when the walk began. The initial order is this order, continued
// over all levels: parents before children.
//
// A walk never goes back. It keeps the siblings that it has read and not come to, on a
// stack, and passes over those that are dead or have left their places by then. Hence:
//
//	K1  What a walk yields is old, and each node on the path down to it was old when the
//	    walk came to it.
//	K2  It yields in the initial order, each node at most once. An old node stands in one
//	    list, and a list is read once, after its parent was yielded.
//	K3  It ends. By K2 there are at most as many lists as there were nodes, and each takes
//	    a bounded number of readings, the last of which excludes changes. A reading stops
//	    when the version changes. While it does not, it goes forwards in a list.
//
// Links that were read from a file may break W1 and W2, and a list may lead back to one of
// its nodes. A reading ends there, since that node has another previous sibling.
//
// None of this says that a node is live. Nodes are removed without the Forest's
// knowledge; a walk finds that out when it looks up their handles.
func (f *Forest[T]) walk(top pool.Handle[T], deep bool) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		g := f.pin()
		defer g.Unpin() // also if the body panics
		var room [32]pool.Handle[T]
		todo, began := f.list(&g, top, top, room[:0])
		for len(todo) > 0 {
			last := len(todo) - 1
			h := todo[last]
			todo = todo[:last]
			v, n := f.find(&g, h)
			if n == nil || n.stamp.Load() > began {
				continue // it is dead, or has left its place
			}
			if !yield(h, v) {
				return
			}
			if deep && n.first.Load() != 0 {
				todo, _ = f.list(&g, top, h, todo)
			}
		}
	}
}

// list appends the children of h at one moment to todo, the first at its end, and returns
// the version of that moment. The list ends at a node that is dead, or does not agree with
// the one before. It does not contain top.
func (f *Forest[T]) list(g *pool.Guard[T], top, h pool.Handle[T], todo []pool.Handle[T]) ([]pool.Handle[T], uint64) {
	all := todo
	version := f.moment(func(version uint64) {
		to := todo
		if n := f.look(g, h); n != nil {
			var prev pool.Handle[T]
			for at := load[T](&n.first); at != top; {
				n = f.look(g, at)
				if n == nil || load[T](&n.parent) != h || load[T](&n.prev) != prev || f.version.Load() != version {
					break
				}
				to = append(to, at)
				prev, at = at, load[T](&n.next)
			}
		}
		all = to
	})
	slices.Reverse(all[len(todo):])
	return all, version
}

// attempts is how often links are read before they are read under the lock, where the
// reader delays writers and they delay it.
const attempts = 4

// moment calls read with the version until no link changes meanwhile, at last under the
// lock, and returns the version. If the version changes, read may stop.
func (f *Forest[T]) moment(read func(version uint64)) uint64 {
	for range attempts {
		if version := f.version.Load(); version%2 == 0 {
			if read(version); f.version.Load() == version {
				return version
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock() // also if the function that finds links panics
	version := f.version.Load()
	read(version)
	return version
}
