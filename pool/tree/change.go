package tree

import "coatcheck/pool"

// Append makes child, a root, the last child of parent. It costs O(1) if child has no children.
// Otherwise it visits every ancestor of parent, to check that none is child. If the last child was
// removed behind the forest's back, it visits all children the first time that this happens to parent.
func (f *Forest[T]) Append(parent, child pool.Handle[T]) error {
	return f.link(child, parent, lastChild)
}

// Prepend makes child, a root, the first child of parent. It costs as much as
// [Forest.Append].
func (f *Forest[T]) Prepend(parent, child pool.Handle[T]) error {
	return f.link(child, parent, firstChild)
}

// InsertAfter makes h, a root, the next sibling of sibling. sibling must have a parent, because
// roots have no order. It costs as much as [Forest.Append].
func (f *Forest[T]) InsertAfter(sibling, h pool.Handle[T]) error {
	return f.link(h, sibling, nextSibling)
}

// InsertBefore makes h, a root, the previous sibling of sibling. Otherwise it is like
// [Forest.InsertAfter].
func (f *Forest[T]) InsertBefore(sibling, h pool.Handle[T]) error {
	return f.link(h, sibling, previousSibling)
}

// Move makes h, with everything below it, the last child of newParent. h may be a root or have a
// parent, even newParent. Readers see h in one place or the other. newParent must not be the zero
// handle; to make h a root, call Detach. Move costs as much as [Forest.Append].
func (f *Forest[T]) Move(newParent, h pool.Handle[T]) error {
	return f.link(h, newParent, newLastChild)
}

// where is a place relative to a node.
type where uint8

const (
	lastChild    where = iota
	newLastChild       // lastChild for Move: h may have a parent
	firstChild
	nextSibling
	previousSibling
)

// beside reports whether a place is in the list of the node, and not among its children.
func (at where) beside() bool { return at >= nextSibling }

// link links h at a place relative to node. With the returns of linkLocked the compiler would not
// expand the deferred calls in place, which would take a quarter of all instructions.
func (f *Forest[T]) link(h, node pool.Handle[T], at where) error {
	f.lock()
	defer f.mu.Unlock()
	g := f.guard()
	defer g.Unpin()
	return f.linkLocked(h, node, at)
}

func (f *Forest[T]) linkLocked(h, node pool.Handle[T], at where) error {
	n, o := f.look(h), f.look(node)
	if n == nil || o == nil {
		return ErrStale
	}
	if h == node && (!at.beside() || o.parent.Load() == 0) {
		return ErrCycle // also for a root as its own sibling
	}
	to, err := f.place(node, o, at)
	switch {
	case err != nil:
		return err
	case to.parent == h:
		return ErrCycle
	}
	parent := load[T](&n.parent)
	if parent != 0 && at != newLastChild {
		if f.look(parent) == nil {
			return ErrBroken
		}
		return ErrHasParent
	}
	if err := f.above(to, h, n); err != nil {
		return err
	}
	var from gap[T]
	if parent != 0 {
		if from, err = f.around(h, n); err != nil {
			if parent == node && f.closeBehind(h, n, to) {
				return nil
			}
			return err
		}
		if to.before == h && parent == node {
			return nil // it is the last child already
		}
	}
	scanned := false
	if !f.leads(&to, to.after, to.before) { // each sibling names the other
		var ok bool
		if ok, scanned = f.atDeadEnd(&to); !ok {
			return ErrBroken
		}
	}
	stamp := f.change()
	if parent != 0 {
		from.close()
	}
	to.fill(h, n, stamp)
	f.changed()
	if f.ends.see(f, parent); scanned {
		f.ends.add(f, to.parent)
	} else {
		f.ends.see(f, to.parent)
	}
	return nil
}

// closeBehind closes the end of a list, where to lies, if h is the last that lives in it and the only dead
// child is behind. It reports whether it did. h keeps its place.
func (f *Forest[T]) closeBehind(h pool.Handle[T], n *words[T], to gap[T]) bool {
	if load[T](&n.next) != to.before {
		return false
	}
	if ok, _ := f.atDeadEnd(&to); !ok || to.before != h {
		return false
	}
	f.change()
	set(&n.next, pool.Handle[T](0))
	set(&to.p.last, h)
	f.changed()
	f.ends.add(f, to.parent)
	return true
}

// place returns the gap at a place.
func (f *Forest[T]) place(node pool.Handle[T], o *words[T], at where) (gap[T], error) {
	switch at {
	case lastChild, newLastChild:
		return gap[T]{parent: node, before: load[T](&o.last), p: o}, nil
	case firstChild:
		return gap[T]{parent: node, after: load[T](&o.first), p: o}, nil
	}
	parent := load[T](&o.parent)
	if parent == 0 {
		return gap[T]{}, ErrNoParent
	}
	p := f.look(parent)
	if p == nil {
		return gap[T]{}, ErrBroken
	}
	if at == previousSibling {
		return gap[T]{parent: parent, before: load[T](&o.prev), after: node, p: p}, nil
	}
	return gap[T]{parent: parent, before: node, after: load[T](&o.next), p: p}, nil
}

// Detach makes h, with everything below it, a root. If h is a root, it does nothing. It costs
// O(1).
func (f *Forest[T]) Detach(h pool.Handle[T]) error {
	f.lock()
	defer f.mu.Unlock()
	g := f.guard()
	defer g.Unpin()
	n := f.look(h)
	if n == nil {
		return ErrStale
	}
	if load[T](&n.parent) == 0 {
		return nil
	}
	from, err := f.around(h, n)
	if err != nil {
		return err
	}
	stamp := f.change()
	from.close()
	n.detach(stamp)
	f.changed()
	f.ends.see(f, from.parent)
	return nil
}

// above returns ErrCycle if h is one of to's ancestors above the parent. Only a node with
// children has anything below it. This package makes no cycles, but links read from a
// file may have them, and ErrBroken is returned for these.
func (f *Forest[T]) above(to gap[T], h pool.Handle[T], n *words[T]) error {
	if n.first.Load() == 0 && n.last.Load() == 0 {
		return nil
	}
	at := to.p
	for t := newTortoise(to.parent); ; {
		up := load[T](&at.parent)
		switch {
		case up == 0:
			return nil
		case up == h:
			return ErrCycle
		}
		if at = f.look(up); at == nil || t.meets(up) {
			return ErrBroken
		}
	}
}

// around returns the gap that h, which has a parent, would leave, or ErrBroken if h is
// not in that parent's list.
func (f *Forest[T]) around(h pool.Handle[T], n *words[T]) (gap[T], error) {
	at := gap[T]{parent: load[T](&n.parent), before: load[T](&n.prev), after: load[T](&n.next)}
	if at.p = f.look(at.parent); at.p == nil || !f.leads(&at, h, h) {
		return at, ErrBroken
	}
	return at, nil
}

// leads looks up the siblings of a gap. It reports whether they are live children of its
// parent, and the links into the gap lead to these two nodes.
func (f *Forest[T]) leads(at *gap[T], forward, back pool.Handle[T]) bool {
	if at.before != 0 {
		if at.b = f.child(at.parent, at.before); at.b == nil {
			return false
		}
	}
	if at.after != 0 {
		if at.a = f.child(at.parent, at.after); at.a == nil {
			return false
		}
	}
	next, prev := at.ends()
	return load[T](next) == forward && load[T](prev) == back
}

// child returns the links of h, or nil if it is not a live child of parent.
func (f *Forest[T]) child(parent, h pool.Handle[T]) *words[T] {
	v, _ := f.pool.Pointer(h) // look, inlined
	if v == nil {
		return nil
	}
	n := f.links(v)
	if load[T](&n.parent) != parent {
		return nil
	}
	return n
}
