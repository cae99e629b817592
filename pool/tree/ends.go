package tree

import (
	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// ends remembers the two children at each end of a list, for parents whose child at an end was found dead.
//
// Nobody can read the links of a dead child, so the first Append behind one scans the whole list for the
// child before it. If the program removes each child at once that it appends, every Append would do so.
// With what ends remembers, the second and all later ones need no scan.
//
// It may be out of date, since nobody tells the forest of removals behind its back. So skipDead checks what
// it finds here. Its parents are live ones, at most as many dead ones, and 16 more. The holder of Forest.mu
// uses it.
type ends[T any] struct {
	known map[pool.Handle[T]][2]end[T] // of each parent, at the front of its list and at the back
	kept  int                          // how many parents were live when the dead were dropped
}

// end is the child at an end of a list, and its sibling, or 0.
type end[T any] struct{ child, sibling pool.Handle[T] }

// update brings what is remembered of a parent up to date, after a change of its list.
func (e *ends[T]) update(f *Forest[T], parent pool.Handle[T]) {
	if known, ok := e.known[parent]; ok {
		e.known[parent] = f.bothEnds(parent, known)
	}
}

// add remembers the ends of a parent's list from now on.
func (e *ends[T]) add(f *Forest[T], parent pool.Handle[T]) {
	if e.known == nil {
		e.known = make(map[pool.Handle[T]][2]end[T])
	}
	if len(e.known) >= 2*e.kept+16 {
		for h := range e.known {
			if !f.pool.Contains(h) {
				delete(e.known, h)
			}
		}
		e.kept = len(e.known)
	}
	e.known[parent] = f.bothEnds(parent, e.known[parent])
}

// bothEnds returns the ends of a parent's list. An end that it cannot read stays as it was.
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

// skipDead moves a spot at an end of a list past the dead child there, so that fill then replaces the links
// to the dead child. It returns false if the spot is not at an end, or if the list does not lead from its
// other end to the dead child, because that hides others. scanned reports whether it visited the whole
// list.
func (f *Forest[T]) skipDead(target *spot[T]) (ok, scanned bool) {
	dead, end := target.prev, 1
	if dead == 0 {
		dead, end = target.next, 0
	} else if target.next != 0 {
		return false, false
	}
	if dead == 0 || f.look(dead) != nil {
		return false, false // links disagree
	}
	found := spot[T]{parent: target.parent, p: target.p}
	setSide := func(h pool.Handle[T], n *words[T]) {
		if end == 1 {
			found.prev, found.b = h, n
		} else {
			found.next, found.a = h, n
		}
	}
	inwards := func() *atom.Uint64 { // the link to the dead child, from a live one or from the parent
		next, prev := found.ends()
		if end == 1 {
			return next
		}
		return prev
	}
	if e := f.ends.known[target.parent][end]; e.child == dead {
		if setSide(e.sibling, f.child(target.parent, e.sibling)); (e.sibling == 0 || found.a != nil || found.b != nil) && load[T](inwards()) == dead {
			*target = found
			return true, false
		}
		setSide(0, nil)
	}
	for t := newTortoise(dead); ; {
		h := load[T](inwards())
		if h == dead {
			*target = found
			return true, true
		}
		n := f.child(target.parent, h)
		if n == nil || t.meets(h) {
			return false, true
		}
		setSide(h, n)
	}
}
