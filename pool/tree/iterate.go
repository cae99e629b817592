package tree

import (
	"iter"

	"coatcheck/pool"
)

// Parent returns the parent of h. It returns false if h is a root or not live, or if its
// parent was removed behind the forest's back.
func (f *Forest[T]) Parent(h pool.Handle[T]) (pool.Handle[T], bool) {
	g := f.pin()
	defer g.Unpin()
	if n := f.look(&g, h); n != nil {
		if to := load[T](&n.parent); f.look(&g, to) != nil {
			return to, true
		}
	}
	return 0, false
}

// Children ranges over the children of h, first to last. The loop is pinned, so every
// pointer is valid until it ends. The body may change the forest and remove nodes,
// including the one that it was given. If h is not live the loop is empty.
//
// A step costs O(1). The package documentation says what is yielded beside changes.
func (f *Forest[T]) Children(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return f.walk(h, false)
}

// Descendants ranges over everything below h, parents before their children and siblings
// first to last (pre-order). h itself is not included. Otherwise it is like
// [Forest.Children]. Its memory does not depend on depth, and a step costs O(1)
// amortized.
//
// It remembers the path down for fourteen levels. If a node further down leaves its place
// while the loop is below it, the loop continues behind the ancestor at the fourteenth
// level.
func (f *Forest[T]) Descendants(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return f.walk(h, true)
}

// walk ranges over the children of h and, if deep, over what lies below them.
func (f *Forest[T]) walk(h pool.Handle[T], deep bool) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		w := walk[T]{f: f, g: f.pin(), top: h, deep: deep}
		defer w.g.Unpin() // also if the body panics
		if !w.begin() {
			return
		}
		for h, v := w.step(); v != nil; h, v = w.step() {
			if !yield(h, v) {
				return
			}
		}
	}
}

// Ancestors ranges over the parent of h, its parent, and so on up to the root. They are
// the ancestors of one moment when the loop began, except those removed before the loop
// reaches them. Above an ancestor that was removed behind the forest's back it yields
// none.
//
// The path up is found before the loop begins: it costs O(1) a step, and 8 bytes for each
// ancestor if there are more than 32. Use [Forest.Parent] for the nearest only. The loop
// is pinned.
func (f *Forest[T]) Ancestors(h pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		g := f.pin()
		defer g.Unpin() // also if the body panics
		var room [32]pool.Handle[T]
		way, _ := f.way(&g, h, room[:0], true)
		for _, h := range way {
			if v, ok := g.Get(h); ok && !yield(h, v) {
				return
			}
		}
	}
}

// Depth returns how many ancestors h had at one moment of the call: 0 for a root, -1 if h
// is not live. Those above one that was removed behind the forest's back do not count. It
// costs O(depth).
func (f *Forest[T]) Depth(h pool.Handle[T]) int {
	g := f.pin()
	defer g.Unpin()
	_, depth := f.way(&g, h, nil, false)
	return depth
}

// way returns the ancestors of h, appended to room if keep, and their number, or -1. As
// in a walk, an attempt that changes have invalidated is repeated, at last under the
// lock.
func (f *Forest[T]) way(g *pool.Guard[T], h pool.Handle[T], room []pool.Handle[T], keep bool) ([]pool.Handle[T], int) {
	for range attempts {
		if version := f.version.Load(); version%2 == 0 {
			if way, n, ok := f.climb(g, version, h, room, keep); ok {
				return way, n
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	way, n, _ := f.climb(g, f.version.Load(), h, room, keep)
	return way, n
}

// climb finds the ancestors of h, and fails if links change meanwhile.
func (f *Forest[T]) climb(g *pool.Guard[T], version uint64, h pool.Handle[T], way []pool.Handle[T], keep bool) ([]pool.Handle[T], int, bool) {
	n := f.look(g, h)
	if n == nil {
		return way, -1, true // at any version
	}
	steps := 0
	for t := newTortoise(h); ; steps++ {
		h = load[T](&n.parent)
		if f.version.Load() != version {
			return nil, 0, false
		}
		if h == 0 || t.meets(h) {
			return way, steps, true
		}
		if n = f.look(g, h); n == nil {
			return way, steps, true
		}
		if keep {
			way = append(way, h)
		}
	}
}

// Roots ranges over the nodes without a parent, including those whose parent was removed
// behind the forest's back. It visits every slot of the pool that has memory. It is
// weakly consistent, as [pool.Pool.All] is.
func (f *Forest[T]) Roots() iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		g := f.pin()
		defer g.Unpin() // also if the body panics
		for h, v := range g.All() {
			if f.look(&g, load[T](&f.linksOf(v).parent)) == nil && !yield(h, v) {
				return
			}
		}
	}
}
