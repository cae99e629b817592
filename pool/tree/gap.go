package tree

import (
	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// gap is a place between two siblings, or at an end of their list: before and after
// are the neighbours, zero where there is none.
type gap[T any] struct {
	parent, before, after pool.Handle[T]
	p, b, a               *words[T]
}

// ends returns the two links that lead into a gap: forwards, from the sibling before
// it or the parent, and backwards.
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
	n.stamp.Store(stamp)
	next, prev := at.ends()
	set(next, h)
	set(prev, h)
}

// close closes the gap over what stood in it, during a change. What stood there keeps
// its own links, so that somebody who looks at its parent finds either this one or the
// one that it gets.
func (at *gap[T]) close() {
	next, prev := at.ends()
	set(next, at.after)
	set(prev, at.before)
}

// detach makes n the links of a root, during a change.
func (n *words[T]) detach(stamp uint64) {
	n.parent.Store(0)
	n.prev.Store(0)
	n.next.Store(0)
	n.stamp.Store(stamp)
}

// tortoise finds out that a chain of handles runs in a circle, which no chain of
// parents does that this package has made: after Brent, at most three times as many
// steps as there are handles to meet.
type tortoise[T any] struct {
	at           pool.Handle[T]
	steps, limit int
}

func newTortoise[T any](h pool.Handle[T]) tortoise[T] { return tortoise[T]{at: h, limit: 1} }

// meets takes the next handle of the chain and reports whether it was here before.
func (t *tortoise[T]) meets(h pool.Handle[T]) bool {
	if h == t.at {
		return true
	}
	if t.steps++; t.steps == t.limit {
		t.at, t.steps, t.limit = h, 0, 2*t.limit
	}
	return false
}
