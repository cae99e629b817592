package tree

import "coatcheck/pool"

// Remove removes h, with everything below it, from the pool. It returns how many values this call
// removed, without those that other calls remove at the same time. It returns 0 if h is not live.
// It costs O(1) for each value.
//
// Remove first detaches h, at once for all readers. Then it removes the descendants, those
// without children first. It does not fail if nodes were removed behind the forest's back, but
// cannot reach nodes below a dead node, or between two dead siblings; they stay.
//
// If an OnRemove of the pool panics, the panic continues. By then h is detached, and
// what is not removed yet is below it: call Remove again.
func (f *Forest[T]) Remove(h pool.Handle[T]) int {
	f.lock()
	defer f.mu.Unlock()
	g := f.guard()
	defer g.Unpin()
	n := f.look(h)
	if n == nil {
		return 0
	}
	if load[T](&n.parent) != 0 {
		f.cut(h, n)
	}
	return f.dismantle(h, n)
}

// RemoveLeaf removes h from the pool if it has no children, and returns ErrHasChildren if it has. No
// other change comes between the look and the removal, so no child is lost that another goroutine
// appends meanwhile. If h seems to have no children because they were removed behind the forest's
// back, others may be hidden behind them: then it returns ErrBroken. It costs O(1).
func (f *Forest[T]) RemoveLeaf(h pool.Handle[T]) error {
	f.lock()
	defer f.mu.Unlock()
	g := f.guard()
	defer g.Unpin()
	n := f.look(h)
	switch {
	case n == nil:
		return ErrStale
	case n.first.Load() == 0 && n.last.Load() == 0:
	case f.child(h, load[T](&n.first)) != nil || f.child(h, load[T](&n.last)) != nil:
		return ErrHasChildren
	default:
		return ErrBroken
	}
	if load[T](&n.parent) != 0 {
		f.cut(h, n)
	}
	if !f.pool.Remove(h) {
		return ErrStale // another goroutine has removed it from the pool meanwhile
	}
	return nil
}

// cut removes h from its parent's list. It changes only links that name h. So if the list has a gap, it is
// no more broken than before.
func (f *Forest[T]) cut(h pool.Handle[T], n *words[T]) {
	next, prev, parent := load[T](&n.next), load[T](&n.prev), load[T](&n.parent)
	p, b, a := f.look(parent), f.look(prev), f.look(next)
	stamp := f.change()
	if p != nil && load[T](&p.first) == h {
		store(&p.first, uint64(next))
	}
	if p != nil && load[T](&p.last) == h {
		store(&p.last, uint64(prev))
	}
	if b != nil && load[T](&b.next) == h {
		store(&b.next, uint64(next))
	}
	if a != nil && load[T](&a.prev) == h {
		store(&a.prev, uint64(prev))
	}
	n.detach(stamp)
	f.changed()
	f.ends.update(f, parent)
}

// dismantle removes top, a root, and everything below it from the pool. It returns how many nodes it
// removed.
//
// It needs no stack. It descends to a node without children, removes it, unlinks it from its parent, and
// goes on at the parent.
//
// The guard keeps every node readable that was looked up, but others may remove it. If they remove a parent
// while its children are being removed, no handle leads back up, and the descent begins again at top.
func (f *Forest[T]) dismantle(top pool.Handle[T], links *words[T]) (removed int) {
	node, n := top, links
	for {
		if child, c := f.liveChild(top, node, n); c != nil {
			node, n = child, c
			continue
		}
		if node == top {
			if f.pool.Remove(node) {
				removed++
			}
			return removed
		}
		parent := load[T](&n.parent)
		p := f.look(parent)
		if p == nil {
			parent, p = top, links
		}
		if f.removeChild(p, node, n) {
			removed++
		}
		node, n = parent, p
	}
}

// removeChild removes h from the pool, the last child of a parent or the first. It reports whether this
// call removed it.
//
// dismantle takes children from the back of a list. So the list always leads from the first child to all
// that are left, and a walk there omits none of them, although the version stays. If the last child is
// dead, dismantle takes children from the front. Then the next child gets another link, so each is
// detached by a change.
func (f *Forest[T]) removeChild(parent *words[T], h pool.Handle[T], n *words[T]) bool {
	if load[T](&parent.last) != h {
		f.cut(h, n)
		return f.pool.Remove(h)
	}
	// Also if Remove calls an OnRemove that panics: then the next Remove finds the rest. Only then does a parent lose
	// its last link to a child. Otherwise it goes next, and a walk in post-order that has come to it must not take it
	// for a leaf.
	returned := false
	defer func() {
		if !returned && load[T](&parent.first) == h {
			store(&parent.first, 0)
		}
		store(&parent.last, n.prev.Load())
	}()
	removed := f.pool.Remove(h)
	returned = true
	return removed
}

// liveChild returns the last child of a node, or the first if the last is dead, with its links, or nil. It
// ignores links that make top a child.
func (f *Forest[T]) liveChild(top, node pool.Handle[T], n *words[T]) (pool.Handle[T], *words[T]) {
	for _, h := range [...]pool.Handle[T]{load[T](&n.last), load[T](&n.first)} {
		if c := f.child(node, h); c != nil && h != top {
			return h, c
		}
	}
	return 0, nil
}
