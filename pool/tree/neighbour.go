package tree

import (
	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// Parent returns the parent of h. It returns false if h is a root or not live, or if the parent
// was removed behind the forest's back.
//
// Parent, FirstChild, LastChild, Next and Prev answer for one moment of the call. They pin nothing where
// [pool.Pool.Get] does not. For many, take a [Reader]. For a loop, Children is cheaper, and keeps its
// promise while others change the forest.
func (f *Forest[T]) Parent(h pool.Handle[T]) (pool.Handle[T], bool) { return f.find(h, parentOf) }

// FirstChild returns the first child of h. It returns false if h has no children or is not live,
// or if its first child was removed behind the forest's back. It costs O(1).
func (f *Forest[T]) FirstChild(h pool.Handle[T]) (pool.Handle[T], bool) { return f.find(h, firstOf) }

// LastChild returns the last child of h, as [Forest.FirstChild] returns the first.
func (f *Forest[T]) LastChild(h pool.Handle[T]) (pool.Handle[T], bool) { return f.find(h, lastOf) }

// Next returns the next sibling of h. It returns false if h is a root, the last child or not
// live, or if the next sibling was removed behind the forest's back. The children of a parent that was
// removed so keep each other as siblings until Repair. It costs O(1).
func (f *Forest[T]) Next(h pool.Handle[T]) (pool.Handle[T], bool) { return f.find(h, nextOf) }

// Prev returns the previous sibling of h, as [Forest.Next] returns the next.
func (f *Forest[T]) Prev(h pool.Handle[T]) (pool.Handle[T], bool) { return f.find(h, prevOf) }

// Parent is [Forest.Parent].
func (r *Reader[T]) Parent(h pool.Handle[T]) (pool.Handle[T], bool) { return r.parent(h) }

// FirstChild is [Forest.FirstChild].
func (r *Reader[T]) FirstChild(h pool.Handle[T]) (pool.Handle[T], bool) { return r.child(h, firstOf) }

// LastChild is [Forest.LastChild].
func (r *Reader[T]) LastChild(h pool.Handle[T]) (pool.Handle[T], bool) { return r.child(h, lastOf) }

// Next is [Forest.Next].
func (r *Reader[T]) Next(h pool.Handle[T]) (pool.Handle[T], bool) { return r.sibling(h, nextOf) }

// Prev is [Forest.Prev].
func (r *Reader[T]) Prev(h pool.Handle[T]) (pool.Handle[T], bool) { return r.sibling(h, prevOf) }

// side says which neighbour of a node is meant.
type side uint8

const (
	parentOf side = iota
	firstOf
	lastOf
	nextOf
	prevOf
)

// find returns a neighbour of h, under no pin of the caller.
//
// It needs none of its own if a second look finds that h is still live, as in Pool.Get (DESIGN.md,
// L12): then h was live all the while, and the links that were read were its own. Another node's slot
// may get another value meanwhile. But a look at its links after the first look at its handle leads to
// nothing else than the neighbour that the handle names, which was live at that moment, or to nothing.
func (f *Forest[T]) find(h pool.Handle[T], at side) (to pool.Handle[T], ok bool) {
	if !atom.CopiesWithoutPin || f.outside != nil {
		return f.findPinned(h, at)
	}
	r := f.Phase()
	if to, ok = r.find(h, at); f.pool.Contains(h) {
		return to, ok
	}
	return 0, false
}

func (f *Forest[T]) findPinned(h pool.Handle[T], at side) (pool.Handle[T], bool) {
	r := f.Pin()
	defer r.Unpin() // also if the function that finds links panics
	return r.find(h, at)
}

func (r *Reader[T]) find(h pool.Handle[T], at side) (pool.Handle[T], bool) {
	switch at {
	case parentOf:
		return r.parent(h)
	case firstOf, lastOf:
		return r.child(h, at)
	}
	return r.sibling(h, at)
}

// parent is neighbour for the parent, for links in the value. It calls no function then.
//
// A parent that is gone while the node still names it was removed behind the forest's back; if the
// node names another, it was moved first.
func (r *Reader[T]) parent(h pool.Handle[T]) (pool.Handle[T], bool) {
	f := r.forest()
	if f.outside != nil {
		return f.neighbour(h, parentOf)
	}
	if v, _ := f.pool.Pointer(h); v != nil {
		n := f.inside(v)
		for {
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

// child is neighbour for a child, as long as no link changes meanwhile, and for links in the value. It
// calls no function then.
func (r *Reader[T]) child(h pool.Handle[T], at side) (pool.Handle[T], bool) {
	if f := r.forest(); f.outside == nil {
		var to pool.Handle[T]
		version := f.version.Load()
		if v, _ := f.pool.Pointer(h); v != nil {
			n := f.inside(v)
			next := pool.Handle[T](n.first.Load())
			if at != firstOf {
				next = pool.Handle[T](n.last.Load())
			}
			if v, _ := f.pool.Pointer(next); v != nil && load[T](&f.inside(v).parent) == h {
				to = next
			}
		}
		if f.version.Load() == version&^1 { // and the version is even
			return to, to != 0
		}
	}
	return r.f.neighbour(h, at)
}

// sibling is neighbour for a sibling, as child is for a child.
func (r *Reader[T]) sibling(h pool.Handle[T], at side) (pool.Handle[T], bool) {
	if f := r.forest(); f.outside == nil {
		var to pool.Handle[T]
		version := f.version.Load()
		if v, _ := f.pool.Pointer(h); v != nil {
			n := f.inside(v)
			next, parent := pool.Handle[T](n.next.Load()), load[T](&n.parent)
			if at != nextOf {
				next = pool.Handle[T](n.prev.Load())
			}
			if v, _ := f.pool.Pointer(next); v != nil && load[T](&f.inside(v).parent) == parent && parent != 0 {
				to = next
			}
		}
		if f.version.Load() == version&^1 { // and the version is even
			return to, to != 0
		}
	}
	return r.f.neighbour(h, at)
}

// neighbour returns a neighbour of h at one moment, if it is live and has the parent that
// it should have.
//
//go:noinline
func (f *Forest[T]) neighbour(h pool.Handle[T], at side) (to pool.Handle[T], ok bool) {
	f.moment(func(uint64) {
		to = 0
		n := f.look(h)
		if n == nil {
			return
		}
		next, parent := load[T](n.link(at)), h
		if at >= nextOf {
			parent = load[T](&n.parent)
		}
		switch {
		case at == parentOf && f.pool.Contains(next), at != parentOf && parent != 0 && f.child(parent, next) != nil:
			to = next
		}
	})
	return to, to != 0
}

// link returns the link to a neighbour.
func (w *words[T]) link(at side) *atom.Uint64 {
	switch at {
	case parentOf:
		return &w.parent
	case firstOf:
		return &w.first
	case lastOf:
		return &w.last
	case nextOf:
		return &w.next
	}
	return &w.prev
}
