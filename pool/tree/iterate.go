package tree

import (
	"iter"

	"coatcheck/pool"
)

// Children returns an iterator over the children of h, first to last. If h is not live, the loop
// is empty. The loop is pinned, so every pointer is valid until it ends. The body may change the
// forest and remove nodes, including the one that it was given.
//
// Each step costs O(1), amortized over what has changed meanwhile. If there are more than
// 32 children, the loop remembers 8 bytes for each that it has read. The package documentation says
// what it yields while others change the forest.
func (f *Forest[T]) Children(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) { f.pinned(childrenOnly, h, yield) }
}

// pinned runs a walk under a pin. In a function literal, a deferred call would allocate.
func (f *Forest[T]) pinned(o order, h pool.Handle[T], yield func(pool.Handle[T], *T) bool) {
	g := f.guard()
	defer g.Unpin() // also if the body panics
	f.walk(o, h)(yield)
}

// Children is [Forest.Children] without a pin for each loop. The compiler inlines its body.
func (r *Reader[T]) Children(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) { r.forest().walk(childrenOnly, h)(yield) }
}

// Descendants returns an iterator over everything below h, parents before their children and
// siblings first to last (pre-order). It does not yield h itself. Otherwise it is like
// [Forest.Children]. It remembers the siblings that it has read in each list on the path to its
// node.
func (f *Forest[T]) Descendants(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) { f.pinned(parentsFirst, h, yield) }
}

// Descendants is [Forest.Descendants] without a pin for each loop. The compiler inlines its body.
func (r *Reader[T]) Descendants(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) { r.forest().walk(parentsFirst, h)(yield) }
}

// PostOrder returns an iterator over everything below h, children before their parents and
// siblings first to last. It does not yield h itself. Otherwise it is like [Forest.Descendants].
// It remembers another 80 bytes for each level of depth beyond the fourth.
func (f *Forest[T]) PostOrder(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) { f.pinned(parentsLast, h, yield) }
}

// PostOrder is [Forest.PostOrder] without a pin for each loop. The compiler inlines its body.
func (r *Reader[T]) PostOrder(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) { r.forest().walk(parentsLast, h)(yield) }
}

// Ancestors returns an iterator over the parent of h, its parent, and so on up to the root. It
// yields the ancestors of one moment when the loop began, except those that are removed before
// the loop reaches them. It yields none above an ancestor that was removed behind the forest's
// back.
//
// It finds the whole path before the loop begins, at O(1) a step, and 8 bytes for each ancestor
// if there are more than 32. For the nearest ancestor, use [Forest.Parent]. The loop is pinned.
func (f *Forest[T]) Ancestors(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) { f.pinnedAncestors(h, yield) }
}

// Ancestors is [Forest.Ancestors] without a pin for each loop. The compiler inlines its body.
func (r *Reader[T]) Ancestors(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) { r.forest().ancestors(h)(yield) }
}

func (f *Forest[T]) pinnedAncestors(h pool.Handle[T], yield func(pool.Handle[T], *T) bool) {
	g := f.guard()
	defer g.Unpin() // also if the body panics
	f.ancestors(h)(yield)
}

// ancestors returns an iterator over the ancestors of h. The caller has pinned the pool, or is in a phase.
func (f *Forest[T]) ancestors(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		var room [16]pool.Handle[T]
		path, complete := f.path(h, &room)
		if !complete {
			var room [32]pool.Handle[T]
			path, _ = f.pathSlow(h, room[:0], true)
		}
		for _, ancestor := range path {
			if v, _ := f.pool.Pointer(ancestor); v != nil && !yield(ancestor, v) {
				return
			}
		}
	}
}

// Depth returns how many ancestors h had at one moment of the call: 0 for a root, -1 if h is not
// live. It does not count those above one that was removed behind the forest's back. It costs
// O(depth).
func (f *Forest[T]) Depth(h pool.Handle[T]) int {
	r := f.Pin()
	defer r.Unpin()
	return r.Depth(h)
}

// Depth is [Forest.Depth].
func (r *Reader[T]) Depth(h pool.Handle[T]) int {
	if f := r.forest(); f.finder == nil {
		depth, version := -1, f.version.Load()
		for node := h; depth < quick; { // so it ends, whatever others change
			v, _ := f.pool.Pointer(node)
			if v == nil {
				break
			}
			depth++
			if node = load[T](&f.embedded(v).parent); node == 0 {
				break
			}
		}
		if depth < quick && f.version.Load() == version&^1 { // and the version is even
			return depth
		}
	}
	_, depth := r.f.pathSlow(h, nil, false)
	return depth
}

// quick is how many ancestors Depth reads before it loads the version, or looks for a cycle.
const quick = 32

// path returns the ancestors of h at one moment, up to one that is dead. It returns false if it cannot: if
// a change came meanwhile, if there are more than room has place for, or if the links are no part of the
// value.
func (f *Forest[T]) path(h pool.Handle[T], room *[16]pool.Handle[T]) (_ []pool.Handle[T], complete bool) {
	if f.finder != nil {
		return nil, false
	}
	n, version := 0, f.version.Load()
	for node := h; n < len(room); n++ {
		v, _ := f.pool.Pointer(node)
		if v == nil {
			break
		}
		if node = load[T](&f.embedded(v).parent); node == 0 {
			break
		}
		room[n] = node
	}
	return room[:n], n < len(room) && f.version.Load() == version&^1 // and the version is even
}

// pathSlow returns the ancestors of h at one moment, up to one that is dead, and their number, or -1 if h
// is not live. If keep is true, it appends them to room.
func (f *Forest[T]) pathSlow(h pool.Handle[T], room []pool.Handle[T], keep bool) (path []pool.Handle[T], depth int) {
	f.moment(func(version uint64) { path, depth = f.climb(h, version, room, keep) })
	return path, depth
}

// climb does what pathSlow does, in one attempt. It may stop early if the version changes.
func (f *Forest[T]) climb(h pool.Handle[T], version uint64, path []pool.Handle[T], keep bool) (_ []pool.Handle[T], depth int) {
	for t := newTortoise(h); ; depth++ {
		v, live := f.pool.Pointer(h)
		if !live {
			return path, depth - 1
		}
		if keep && depth > 0 {
			path = append(path, h)
		}
		h = load[T](&f.links(v).parent)
		if h == 0 || f.version.Load() != version || t.meets(h) {
			return path, depth
		}
	}
}

// Roots returns an iterator over the nodes without a parent, including those whose parent was
// removed behind the forest's back. It visits every slot of the pool that has memory. It is
// weakly consistent, as [pool.Pool.All] is.
func (f *Forest[T]) Roots() iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) { f.pinnedRoots(yield) }
}

// Roots is [Forest.Roots] without a pin for each loop.
func (r *Reader[T]) Roots() iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		if f := r.forest(); r.phase {
			f.pinnedRoots(yield) // a pin costs little beside the slots
		} else {
			f.roots(&r.pin, yield)
		}
	}
}

func (f *Forest[T]) pinnedRoots(yield func(pool.Handle[T], *T) bool) {
	g := f.guard()
	defer g.Unpin() // also if the body panics
	f.roots(&g, yield)
}

// roots yields the nodes without a live parent. It looks up the parent of each node, since that may be
// gone. If the node before has the same parent, and the body has not run since, it does not look again: a
// node that loses its parent during the loop need not be yielded.
func (f *Forest[T]) roots(g *pool.Guard[T], yield func(pool.Handle[T], *T) bool) {
	known := pool.Handle[T](unknown) // a parent that was live
	for h, v := range g.All() {
		n := f.links(v)
		if load[T](&n.parent) == known {
			continue
		}
		if known = f.parentIn(n); known == 0 {
			if known = unknown; !yield(h, v) {
				return
			}
		}
	}
}

// parentIn returns the parent that these links name, or 0 if it is not live.
//
//go:noinline
func (f *Forest[T]) parentIn(n *words[T]) pool.Handle[T] {
	for {
		parent := load[T](&n.parent)
		switch {
		case f.pool.Contains(parent):
			return parent
		case load[T](&n.parent) == parent: // otherwise the node was moved first
			return 0
		}
	}
}
