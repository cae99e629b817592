package tree

import (
	"iter"

	"coatcheck/pool"
)

// Parent returns the parent of h. It returns false if h is a root or not live, or if the parent
// was removed behind the forest's back.
func (f *Forest[T]) Parent(h pool.Handle[T]) (pool.Handle[T], bool) {
	g := f.pin()
	defer g.Unpin()
	if n := f.look(&g, h); n != nil {
		return f.parent(&g, n)
	}
	return 0, false
}

// parent returns the live parent of a node. A parent that is gone while the node still names
// it was removed behind the forest's back; if the node names another, it was moved first.
func (f *Forest[T]) parent(g *pool.Guard[T], n *words[T]) (pool.Handle[T], bool) {
	for {
		switch to := load[T](&n.parent); {
		case f.look(g, to) != nil:
			return to, true
		case load[T](&n.parent) == to:
			return 0, false
		}
	}
}

// Children returns an iterator over the children of h, first to last. If h is not live, the loop
// is empty. The loop is pinned, so every pointer is valid until it ends. The body may change the
// forest and remove nodes, including the one that it was given.
//
// Each step costs O(1). The loop reads 8 siblings, then 8 to 64 at a time. If there are more than
// 32, it remembers 8 bytes for each that it has read. The package documentation says what it
// yields while others change the forest.
func (f *Forest[T]) Children(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return f.walk(h, childrenAlone)
}

// Descendants returns an iterator over everything below h, parents before their children and
// siblings first to last (pre-order). It does not yield h itself. Otherwise it is like
// [Forest.Children]. It remembers the siblings that it has read in each list on the path to its
// node.
func (f *Forest[T]) Descendants(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return f.walk(h, parentsFirst)
}

// PostOrder returns an iterator over everything below h, children before their parents and
// siblings first to last. It does not yield h itself. Otherwise it is like [Forest.Descendants].
// It remembers another 56 bytes for each level of depth beyond the fourth.
func (f *Forest[T]) PostOrder(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return f.walk(h, parentsLast)
}

// Ancestors returns an iterator over the parent of h, its parent, and so on up to the root. It
// yields the ancestors of one moment when the loop began, except those that are removed before
// the loop reaches them. It yields none above an ancestor that was removed behind the forest's
// back.
//
// It finds the whole path before the loop begins, at O(1) a step, and 8 bytes for each ancestor
// if there are more than 32. For the nearest ancestor, use [Forest.Parent]. The loop is pinned.
func (f *Forest[T]) Ancestors(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		g := f.pin()
		defer g.Unpin() // also if the body panics
		var room [32]pool.Handle[T]
		way, _ := f.way(&g, h, room[:0], true)
		for _, h := range way {
			if v, ok := g.Pointer(h); ok && !yield(h, v) {
				return
			}
		}
	}
}

// Depth returns how many ancestors h had at one moment of the call: 0 for a root, -1 if h is not
// live. It does not count those above one that was removed behind the forest's back. It costs
// O(depth).
func (f *Forest[T]) Depth(h pool.Handle[T]) int {
	g := f.pin()
	defer g.Unpin()
	_, depth := f.way(&g, h, nil, false)
	return depth
}

// way returns the ancestors of h at one moment, appended to room if keep, and their number,
// or -1.
func (f *Forest[T]) way(g *pool.Guard[T], h pool.Handle[T], room []pool.Handle[T], keep bool) (way []pool.Handle[T], depth int) {
	f.moment(func(version uint64) {
		at := h
		n := f.look(g, at)
		way, depth = room, -1
		for t := newTortoise(at); n != nil; n = f.look(g, at) {
			depth++
			if keep && at != h {
				way = append(way, at)
			}
			at = load[T](&n.parent)
			if f.version.Load() != version || at == 0 || t.meets(at) {
				return
			}
		}
	})
	return way, depth
}

// Roots returns an iterator over the nodes without a parent, including those whose parent was
// removed behind the forest's back. It visits every slot of the pool that has memory. It is
// weakly consistent, as [pool.Pool.All] is.
func (f *Forest[T]) Roots() iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		g := f.pin()
		defer g.Unpin() // also if the body panics
		for h, v := range g.All() {
			if _, child := f.parent(&g, f.linksOf(v)); !child && !yield(h, v) {
				return
			}
		}
	}
}
