package tree

import (
	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// spot is a place in a list of siblings: between two of them, or at an end. A node stands there, or
// will. prev and next are the siblings on either side, 0 if there is none.
type spot[T any] struct {
	parent, prev, next pool.Handle[T]
	p, b, a            *words[T] // their links: those of the parent, of the sibling before and of that after
}

// ends returns the two links that lead to a spot: forwards from the sibling on one side or from the parent,
// and backwards from that on the other side or from the parent.
func (s *spot[T]) ends() (next, prev *atom.Uint64) {
	next, prev = &s.p.first, &s.p.last
	if s.b != nil {
		next = &s.b.next
	}
	if s.a != nil {
		prev = &s.a.prev
	}
	return next, prev
}

// fill links h, whose links are n, at the spot. It is part of a change.
func (s *spot[T]) fill(h pool.Handle[T], n *words[T], stamp uint64) {
	set(&n.parent, s.parent)
	set(&n.prev, s.prev)
	set(&n.next, s.next)
	store(&n.stamp, stamp)
	next, prev := s.ends()
	set(next, h)
	set(prev, h)
}

// bypass links the siblings on both sides of the spot, so that no link leads to the node there. It is part
// of a change. The node keeps its own links, so a goroutine that reads its parent finds the old one or the new one.
func (s *spot[T]) bypass() {
	next, prev := s.ends()
	set(next, s.next)
	set(prev, s.prev)
}

// detach makes n the links of a root. It is part of a change.
func (n *words[T]) detach(stamp uint64) {
	store(&n.parent, 0)
	store(&n.prev, 0)
	store(&n.next, 0)
	store(&n.stamp, stamp)
}

// tortoise detects a cycle in a chain of handles: links that were read from a file may have one. It is
// Brent's algorithm, and takes at most three times as many steps as there are handles.
type tortoise[T any] struct {
	saved        pool.Handle[T]
	steps, limit int
}

func newTortoise[T any](h pool.Handle[T]) tortoise[T] { return tortoise[T]{saved: h, limit: 1} }

// meets takes the next handle of the chain, and reports whether the chain is known to have a cycle.
func (t *tortoise[T]) meets(h pool.Handle[T]) bool {
	if h == t.saved {
		return true
	}
	if t.steps++; t.steps == t.limit {
		t.saved, t.steps, t.limit = h, 0, 2*t.limit
	}
	return false
}
