package tree

import (
	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// FirstChild returns the first child of h. It returns false if h has no children or is not live,
// or if its first child was removed behind the forest's back. It costs O(1).
//
// FirstChild, LastChild, Next and Prev each take a pin, and answer for one moment of the call.
// For a loop, Children is cheaper, and keeps its promise while others change the forest.
func (f *Forest[T]) FirstChild(h pool.Handle[T]) (pool.Handle[T], bool) {
	return f.neighbour(h, firstOf)
}

// LastChild returns the last child of h, as [Forest.FirstChild] returns the first.
func (f *Forest[T]) LastChild(h pool.Handle[T]) (pool.Handle[T], bool) {
	return f.neighbour(h, lastOf)
}

// Next returns the next sibling of h. It returns false if h is a root, the last child or not
// live. It also does if the parent or the next sibling was removed behind the forest's back. It
// costs O(1).
func (f *Forest[T]) Next(h pool.Handle[T]) (pool.Handle[T], bool) { return f.neighbour(h, nextOf) }

// Prev returns the previous sibling of h, as [Forest.Next] returns the next.
func (f *Forest[T]) Prev(h pool.Handle[T]) (pool.Handle[T], bool) { return f.neighbour(h, prevOf) }

// side says which neighbour of a node is meant.
type side uint8

const (
	firstOf side = iota
	lastOf
	nextOf
	prevOf
)

// neighbour returns the neighbour of h at one moment, if it is live and has the parent that
// it should have.
func (f *Forest[T]) neighbour(h pool.Handle[T], at side) (to pool.Handle[T], ok bool) {
	g := f.pin()
	defer g.Unpin()
	f.moment(func(uint64) {
		to = 0
		n := f.look(&g, h)
		if n == nil {
			return
		}
		parent := h
		if at >= nextOf {
			if parent = load[T](&n.parent); f.look(&g, parent) == nil {
				return
			}
		}
		if next := load[T](n.link(at)); f.child(&g, parent, next) != nil {
			to = next
		}
	})
	return to, to != 0
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
