package tree

import (
	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// gap is a place between two siblings, or at an end of their list. before and after are
// the neighbours, zero if there is none.
type gap[T any] struct {
	parent, before, after pool.Handle[T]
	p, b, a               *words[T]
}

// ends returns the two links that lead into a gap: the forward one, from the sibling
// before it or the parent, and the backward one.
func (at *gap[T]) ends() (next, prev *atom.Uint64) {
	next, prev = &at.p.first, &at.p.last
	if at.b != nil {
		next = &at.b.next
	}
	if at.a != nil {
		prev = &at.a.prev
	}
	return next, prev
}

// fill puts n, the links of h, into the gap, during a change.
func (at *gap[T]) fill(h pool.Handle[T], n *words[T], stamp uint64) {
	set(&n.parent, at.parent)
	set(&n.prev, at.before)
	set(&n.next, at.after)
	store(&n.stamp, stamp)
	next, prev := at.ends()
	set(next, h)
	set(prev, h)
}

// close closes the gap over the node in it, during a change. The node keeps its own
// links, so that a reader of its parent finds either the old one or the new one.
func (at *gap[T]) close() {
	next, prev := at.ends()
	set(next, at.after)
	set(prev, at.before)
}

// detach makes n the links of a root, during a change.
func (n *words[T]) detach(stamp uint64) {
	store(&n.parent, 0)
	store(&n.prev, 0)
	store(&n.next, 0)
	store(&n.stamp, stamp)
}

// tortoise detects a cycle in a chain of handles, which links read from a file may have.
// It is Brent's algorithm: it takes at most three times as many steps as there are
// handles.
type tortoise[T any] struct {
	at           pool.Handle[T]
	steps, limit int
}

func newTortoise[T any](h pool.Handle[T]) tortoise[T] { return tortoise[T]{at: h, limit: 1} }

// meets takes the next handle of the chain and reports whether it was seen before.
func (t *tortoise[T]) meets(h pool.Handle[T]) bool {
	if h == t.at {
		return true
	}
	if t.steps++; t.steps == t.limit {
		t.at, t.steps, t.limit = h, 0, 2*t.limit
	}
	return false
}
