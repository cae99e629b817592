package tree

import (
	"iter"

	"coatcheck/pool"
)

// Parent returns the parent of h. It returns false if h is a root or not live, or if the parent
// was removed behind the forest's back.
func (f *Forest[T]) Parent(h pool.Handle[T]) (pool.Handle[T], bool) {
	r := f.Pin()
	defer r.Unpin()
	return r.Parent(h)
}

// Parent is [Forest.Parent].
//
// A parent that is gone while the node still names it was removed behind the forest's back; if the
// node names another, it was moved first.
func (r *Reader[T]) Parent(h pool.Handle[T]) (pool.Handle[T], bool) {
	f := r.forest()
	if v, live := f.pool.Pointer(h); live {
		for n := f.links(v); ; {
			to := load[T](&n.parent)
			if f.pool.Contains(to) {
				return to, true
			}
			if load[T](&n.parent) == to {
				break
			}
		}
	}
	return 0, false
}

// Children returns an iterator over the children of h, first to last. If h is not live, the loop
// is empty. The loop is pinned, so every pointer is valid until it ends. The body may change the
// forest and remove nodes, including the one that it was given.
//
// Each step costs O(1), amortized over what has changed meanwhile. If there are more than
// 32 children, the loop remembers 8 bytes for each that it has read. The package documentation says
// what it yields while others change the forest.
func (f *Forest[T]) Children(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) { f.pinned(children, h, yield) }
}

// loop is one of the loops at a node.
type loop uint8

const (
	children loop = iota
	descendants
	postOrder
	ancestors
)

// pinned runs a loop under a pin. In a function literal, a deferred call would allocate.
func (f *Forest[T]) pinned(l loop, h pool.Handle[T], yield func(pool.Handle[T], *T) bool) {
	g := f.guard()
	defer g.Unpin() // also if the body panics
	f.run(l, h, yield)
}

// run runs a loop under the caller's pin.
func (f *Forest[T]) run(l loop, h pool.Handle[T], yield func(pool.Handle[T], *T) bool) {
	switch l {
	case children:
		f.children(h)(yield)
	case ancestors:
		f.ancestors(h, yield)
	default:
		var w walk[T]
		w.below(f, h, l == descendants, yield)
	}
}

// Children is [Forest.Children] without a pin for each loop. The compiler inlines its body.
func (r *Reader[T]) Children(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		r.forest().children(h)(yield)
	}
}

// children is Children under the caller's pin.
func (f *Forest[T]) children(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		var w walk[T]
		var l list[T]
		w.begin(f, h, &l)
		for next := l.next; ; {
			h, v, behind := w.step(&l, next)
			if v == nil || !yield(h, v) {
				return
			}
			next = behind
		}
	}
}

// Descendants returns an iterator over everything below h, parents before their children and
// siblings first to last (pre-order). It does not yield h itself. Otherwise it is like
// [Forest.Children]. It remembers the siblings that it has read in each list on the path to its
// node.
func (f *Forest[T]) Descendants(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) { f.pinned(descendants, h, yield) }
}

// Descendants is [Forest.Descendants] without a pin for each loop.
func (r *Reader[T]) Descendants(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		r.forest().run(descendants, h, yield)
	}
}

// PostOrder returns an iterator over everything below h, children before their parents and
// siblings first to last. It does not yield h itself. Otherwise it is like [Forest.Descendants].
// It remembers another 72 bytes for each level of depth beyond the fourth.
func (f *Forest[T]) PostOrder(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) { f.pinned(postOrder, h, yield) }
}

// PostOrder is [Forest.PostOrder] without a pin for each loop.
func (r *Reader[T]) PostOrder(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		r.forest().run(postOrder, h, yield)
	}
}

// Ancestors returns an iterator over the parent of h, its parent, and so on up to the root. It
// yields the ancestors of one moment when the loop began, except those that are removed before
// the loop reaches them. It yields none above an ancestor that was removed behind the forest's
// back.
//
// It finds the whole path before the loop begins, at O(1) a step, and 8 bytes for each ancestor
// if there are more than 32. For the nearest ancestor, use [Forest.Parent]. The loop is pinned.
func (f *Forest[T]) Ancestors(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) { f.pinned(ancestors, h, yield) }
}

// Ancestors is [Forest.Ancestors] without a pin for each loop.
func (r *Reader[T]) Ancestors(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		r.forest().run(ancestors, h, yield)
	}
}

func (f *Forest[T]) ancestors(h pool.Handle[T], yield func(pool.Handle[T], *T) bool) {
	var room [32]pool.Handle[T]
	path, _ := f.path(h, room[:0], true)
	for _, h := range path {
		if v, ok := f.pool.Pointer(h); ok && !yield(h, v) {
			return
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
	_, depth := r.forest().path(h, nil, false)
	return depth
}

// path returns the ancestors of h at one moment, appended to room if keep, and their number,
// or -1.
func (f *Forest[T]) path(h pool.Handle[T], room []pool.Handle[T], keep bool) (path []pool.Handle[T], depth int) {
	version := f.version.Load()
	if path, depth = f.climb(h, version, room, keep); version%2 != 0 || f.version.Load() != version {
		return f.pathSlow(h, room, keep)
	}
	return path, depth
}

func (f *Forest[T]) pathSlow(h pool.Handle[T], room []pool.Handle[T], keep bool) (path []pool.Handle[T], depth int) {
	f.moment(func(version uint64) { path, depth = f.climb(h, version, room, keep) })
	return path, depth
}

// climb is path, as long as the version does not change.
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

// roots looks up the parent of each child, since it may be gone.
func (f *Forest[T]) roots(g *pool.Guard[T], yield func(pool.Handle[T], *T) bool) {
	for h, v := range g.All() {
		n := f.links(v)
		for {
			to := load[T](&n.parent)
			if to != 0 && f.pool.Contains(to) {
				break
			}
			if load[T](&n.parent) == to { // it is not that the node was moved first
				if !yield(h, v) {
					return
				}
				break
			}
		}
	}
}
