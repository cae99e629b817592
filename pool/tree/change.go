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

// relation says what h becomes to a node by a call that links it.
type relation uint8

const (
	lastChild    relation = iota
	newLastChild          // lastChild by Move: h may have a parent
	firstChild
	nextSibling
	previousSibling
)

// isSibling reports whether h becomes a sibling of the node, and not a child.
func (rel relation) isSibling() bool { return rel >= nextSibling }

// link makes h what rel says to node. The work is in linkLocked, because that has many returns. In a
// function with many returns the compiler does not expand deferred calls in place, which would cost a
// quarter more instructions.
func (f *Forest[T]) link(h, node pool.Handle[T], rel relation) error {
	f.lock()
	defer f.mu.Unlock()
	g := f.guard()
	defer g.Unpin()
	return f.linkLocked(h, node, rel)
}

// linkLocked does the work of link. The caller holds mu and has pinned the pool.
func (f *Forest[T]) linkLocked(h, node pool.Handle[T], rel relation) error {
	n, o := f.look(h), f.look(node)
	if n == nil || o == nil {
		return ErrStale
	}
	if h == node && (!rel.isSibling() || o.parent.Load() == 0) {
		return ErrCycle // also for a root as its own sibling
	}
	target, err := f.spotFor(node, o, rel)
	switch {
	case err != nil:
		return err
	case target.parent == h:
		return ErrCycle
	}
	parent := load[T](&n.parent)
	if parent != 0 && rel != newLastChild {
		if f.look(parent) == nil {
			return ErrBroken
		}
		return ErrHasParent
	}
	if err := f.rejectCycle(target, h, n); err != nil {
		return err
	}
	var source spot[T]
	if parent != 0 {
		if source, err = f.spotOf(h, n); err != nil {
			if parent == node && f.closeBehind(h, n, target) {
				return nil
			}
			return err
		}
		if target.prev == h && parent == node {
			return nil // it is the last child already
		}
	}
	scanned := false
	if !f.leads(&target, target.next, target.prev) { // each sibling names the other
		var ok bool
		if ok, scanned = f.skipDead(&target); !ok {
			return ErrBroken
		}
	}
	stamp := f.change()
	if parent != 0 {
		source.bypass()
	}
	target.fill(h, n, stamp)
	f.changed()
	if f.ends.update(f, parent); scanned {
		f.ends.add(f, target.parent)
	} else {
		f.ends.update(f, target.parent)
	}
	return nil
}

// closeBehind closes the gap at the end of a list if h is the last live child, and the only dead one is
// behind it. It reports whether it did. h keeps its place. target is the spot at the end of the list.
func (f *Forest[T]) closeBehind(h pool.Handle[T], n *words[T], target spot[T]) bool {
	if load[T](&n.next) != target.prev {
		return false
	}
	if ok, _ := f.skipDead(&target); !ok || target.prev != h {
		return false
	}
	f.change()
	set(&n.next, pool.Handle[T](0))
	set(&target.p.last, h)
	f.changed()
	f.ends.add(f, target.parent)
	return true
}

// spotFor returns the spot for a node that is to be what rel says to node, whose links are o.
func (f *Forest[T]) spotFor(node pool.Handle[T], o *words[T], rel relation) (spot[T], error) {
	switch rel {
	case lastChild, newLastChild:
		return spot[T]{parent: node, prev: load[T](&o.last), p: o}, nil
	case firstChild:
		return spot[T]{parent: node, next: load[T](&o.first), p: o}, nil
	}
	parent := load[T](&o.parent)
	if parent == 0 {
		return spot[T]{}, ErrNoParent
	}
	p := f.look(parent)
	if p == nil {
		return spot[T]{}, ErrBroken
	}
	if rel == previousSibling {
		return spot[T]{parent: parent, prev: load[T](&o.prev), next: node, p: p}, nil
	}
	return spot[T]{parent: parent, prev: node, next: load[T](&o.next), p: p}, nil
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
	source, err := f.spotOf(h, n)
	if err != nil {
		return err
	}
	stamp := f.change()
	source.bypass()
	n.detach(stamp)
	f.changed()
	f.ends.update(f, source.parent)
	return nil
}

// rejectCycle returns ErrCycle if h is an ancestor of the parent at the spot. It need not look if h has no
// children. This package makes no cycles. If links from a file have one, it returns ErrBroken.
func (f *Forest[T]) rejectCycle(target spot[T], h pool.Handle[T], n *words[T]) error {
	if n.first.Load() == 0 && n.last.Load() == 0 {
		return nil
	}
	ancestor := target.p
	for t := newTortoise(target.parent); ; {
		next := load[T](&ancestor.parent)
		switch {
		case next == 0:
			return nil
		case next == h:
			return ErrCycle
		}
		if ancestor = f.look(next); ancestor == nil || t.meets(next) {
			return ErrBroken
		}
	}
}

// spotOf returns the spot at which h stands, which has a parent. It returns ErrBroken if h is not in that
// parent's list.
func (f *Forest[T]) spotOf(h pool.Handle[T], n *words[T]) (spot[T], error) {
	s := spot[T]{parent: load[T](&n.parent), prev: load[T](&n.prev), next: load[T](&n.next)}
	if s.p = f.look(s.parent); s.p == nil || !f.leads(&s, h, h) {
		return s, ErrBroken
	}
	return s, nil
}

// leads looks up the siblings at a spot. It reports whether they are live children of its parent, and
// whether the two links that lead to the spot have these two handles.
func (f *Forest[T]) leads(s *spot[T], forward, backward pool.Handle[T]) bool {
	if s.prev != 0 {
		if s.b = f.child(s.parent, s.prev); s.b == nil {
			return false
		}
	}
	if s.next != 0 {
		if s.a = f.child(s.parent, s.next); s.a == nil {
			return false
		}
	}
	next, prev := s.ends()
	return load[T](next) == forward && load[T](prev) == backward
}

// child returns the links of h if it is a live child of parent, or nil.
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
