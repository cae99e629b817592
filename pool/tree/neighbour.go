package tree

import (
	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// FirstChild returns the first child of h. It returns false if h has no children or is not live,
// or if its first child was removed behind the forest's back. It costs O(1).
//
// FirstChild, LastChild, Next and Prev each take a pin, and answer for one moment of the call. For
// many, take a [Reader]. For a loop, Children is cheaper, and keeps its promise while others change
// the forest.
func (f *Forest[T]) FirstChild(h pool.Handle[T]) (pool.Handle[T], bool) {
	r := f.Pin()
	defer r.Unpin()
	return r.FirstChild(h)
}

// LastChild returns the last child of h, as [Forest.FirstChild] returns the first.
func (f *Forest[T]) LastChild(h pool.Handle[T]) (pool.Handle[T], bool) {
	r := f.Pin()
	defer r.Unpin()
	return r.LastChild(h)
}

// Next returns the next sibling of h. It returns false if h is a root, the last child or not
// live. It also does if the parent or the next sibling was removed behind the forest's back. It
// costs O(1).
func (f *Forest[T]) Next(h pool.Handle[T]) (pool.Handle[T], bool) {
	r := f.Pin()
	defer r.Unpin()
	return r.Next(h)
}

// Prev returns the previous sibling of h, as [Forest.Next] returns the next.
func (f *Forest[T]) Prev(h pool.Handle[T]) (pool.Handle[T], bool) {
	r := f.Pin()
	defer r.Unpin()
	return r.Prev(h)
}

// FirstChild is [Forest.FirstChild].
func (r *Reader[T]) FirstChild(h pool.Handle[T]) (pool.Handle[T], bool) {
	return r.neighbour(h, firstOf, attempts)
}

// LastChild is [Forest.LastChild].
func (r *Reader[T]) LastChild(h pool.Handle[T]) (pool.Handle[T], bool) {
	return r.neighbour(h, lastOf, attempts)
}

// Next is [Forest.Next].
func (r *Reader[T]) Next(h pool.Handle[T]) (pool.Handle[T], bool) {
	return r.neighbour(h, nextOf, attempts)
}

// Prev is [Forest.Prev].
func (r *Reader[T]) Prev(h pool.Handle[T]) (pool.Handle[T], bool) {
	return r.neighbour(h, prevOf, attempts)
}

// side says which neighbour of a node is meant.
type side uint8

const (
	firstOf side = iota
	lastOf
	nextOf
	prevOf
)

// neighbour returns the neighbour of h at one moment, if it is live and has the parent that
// it should have. It reads up to so many times, and then under the lock. It calls no function, as
// long as no link changes meanwhile.
func (r *Reader[T]) neighbour(h pool.Handle[T], at side, attempts int) (to pool.Handle[T], ok bool) {
	f := r.forest()
	version := f.version.Load()
	if v, live := f.pool.Pointer(h); live {
		n, parent := f.links(v), h
		if at >= nextOf {
			parent = load[T](&n.parent)
		}
		if next := load[T](n.link(at)); parent == h || f.pool.Contains(parent) {
			if v, live := f.pool.Pointer(next); live && load[T](&f.links(v).parent) == parent {
				to, ok = next, true
			}
		}
	}
	if attempts > 0 && (version%2 != 0 || f.version.Load() != version) {
		return r.neighbourSlow(h, at, attempts-1)
	}
	return to, ok
}

// neighbourSlow is neighbour after a change has disturbed it.
//
//go:noinline
func (r *Reader[T]) neighbourSlow(h pool.Handle[T], at side, attempts int) (pool.Handle[T], bool) {
	if attempts == 0 {
		r.f.mu.Lock()
		defer r.f.mu.Unlock() // also if the function that finds links panics
	}
	return r.neighbour(h, at, attempts)
}

// link returns the link to a neighbour.
func (w *words[T]) link(at side) *atom.Uint64 {
	switch at {
	case firstOf:
		return &w.first
	case lastOf:
		return &w.last
	case nextOf:
		return &w.next
	}
	return &w.prev
}
