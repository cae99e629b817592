package tree

import (
	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// ends remembers which child stands beside the one at each end of a list, for parents whose child at an
// end was found dead. If that happens to a parent again, no scan is needed: nobody can read the links of
// the dead, so without this each Append behind a child that is removed at once would visit all others.
//
// It may be out of date, since removals behind the forest's back do not tell: atDeadEnd checks what it finds
// here. It has live parents only, or at most as many dead ones, and 16. The holder of Forest.mu uses it.
type ends[T any] struct {
	of   map[pool.Handle[T]][2]end[T] // the first and the last child of a parent
	kept int                          // how many parents were live when the dead were dropped
}

// end is a child at an end of a list, and the one beside it, or 0.
type end[T any] struct{ child, beside pool.Handle[T] }

// see brings what is remembered of a parent up to date, after a change of its list.
func (e *ends[T]) see(f *Forest[T], parent pool.Handle[T]) {
	if known, ok := e.of[parent]; ok {
		e.of[parent] = f.bothEnds(parent, known)
	}
}

// add remembers the ends of a parent's list from now on.
func (e *ends[T]) add(f *Forest[T], parent pool.Handle[T]) {
	if e.of == nil {
		e.of = make(map[pool.Handle[T]][2]end[T])
	}
	if len(e.of) >= 2*e.kept+16 {
		for h := range e.of {
			if !f.pool.Contains(h) {
				delete(e.of, h)
			}
		}
		e.kept = len(e.of)
	}
	e.of[parent] = f.bothEnds(parent, e.of[parent])
}

// bothEnds returns the ends of a parent's list. What it cannot read stays as it was known.
func (f *Forest[T]) bothEnds(parent pool.Handle[T], known [2]end[T]) [2]end[T] {
	p := f.look(parent)
	if p == nil {
		return known
	}
	first, last := load[T](&p.first), load[T](&p.last)
	if n := f.child(parent, first); n != nil {
		known[0] = end[T]{first, load[T](&n.next)}
	}
	if n := f.child(parent, last); n != nil {
		known[1] = end[T]{last, load[T](&n.prev)}
	}
	return known
}

// atDeadEnd finds the end of a list, where to lies, in front of a child that was removed behind the
// forest's back, and looks to up again: then its links lead to the dead child, and fill leads them to
// another. It returns false if to is not at an end, or if the list does not lead from its other end to
// the dead child: then others are hidden. scanned says that it visited the whole list.
func (f *Forest[T]) atDeadEnd(to *gap[T]) (ok, scanned bool) {
	dead, which := to.before, 1
	if dead == 0 {
		dead, which = to.after, 0
	} else if to.after != 0 {
		return false, false
	}
	if dead == 0 || f.look(dead) != nil {
		return false, false // links disagree
	}
	at := gap[T]{parent: to.parent, p: to.p}
	side := func(h pool.Handle[T], n *words[T]) {
		if which == 1 {
			at.before, at.b = h, n
		} else {
			at.after, at.a = h, n
		}
	}
	inwards := func() *atom.Uint64 { // the link from the living, or from the parent at the other end, to the dead
		next, prev := at.ends()
		if which == 1 {
			return next
		}
		return prev
	}
	if e := f.ends.of[to.parent][which]; e.child == dead {
		if side(e.beside, f.child(to.parent, e.beside)); (e.beside == 0 || at.a != nil || at.b != nil) && load[T](inwards()) == dead {
			*to = at
			return true, false
		}
		side(0, nil)
	}
	for t := newTortoise(dead); ; {
		h := load[T](inwards())
		if h == dead {
			*to = at
			return true, true
		}
		n := f.child(to.parent, h)
		if n == nil || t.meets(h) {
			return false, true
		}
		side(h, n)
	}
}
