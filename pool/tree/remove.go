package tree

import "coatcheck/pool"

// Remove removes h, with everything below it, from the pool, and returns how many values
// this call removed: what others remove at the same time, by [pool.Pool.Remove] say, is
// not counted. It returns 0 if h is not live. It costs O(1) for each value.
//
// First h is detached, at once for all readers; then its descendants are removed, those
// without children first. Nodes that were removed behind the forest's back do not make it
// fail: it closes the gap as far as there are neighbours. It cannot reach nodes below a
// dead node, or between two dead siblings; they stay.
//
// If a Reset that the pool calls panics, the panic continues to the caller. By then h is
// detached, and what is not removed yet is below it: call Remove again.
func (f *Forest[T]) Remove(h pool.Handle[T]) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.pin()
	defer g.Unpin()
	n := f.look(&g, h)
	if n == nil {
		return 0
	}
	if load[T](&n.parent) != 0 {
		f.cut(&g, h, n)
	}
	return f.dismantle(&g, h, n)
}

// cut removes h from its parent's list. It changes only links that name h, so a list that
// has a gap at a dead sibling is no more broken than before.
func (f *Forest[T]) cut(g *pool.Guard[T], h pool.Handle[T], n *words[T]) {
	next, prev := load[T](&n.next), load[T](&n.prev)
	p, b, a := f.look(g, load[T](&n.parent)), f.look(g, prev), f.look(g, next)
	stamp := f.change()
	if p != nil && load[T](&p.first) == h {
		p.first.Store(uint64(next))
	}
	if p != nil && load[T](&p.last) == h {
		p.last.Store(uint64(prev))
	}
	if b != nil && load[T](&b.next) == h {
		b.next.Store(uint64(next))
	}
	if a != nil && load[T](&a.prev) == h {
		a.prev.Store(uint64(prev))
	}
	n.detach(stamp)
	f.changed()
}

// dismantle removes top, a root, and everything below it, and returns how many it
// removed.
//
// It needs no stack. It descends to a node without children, unlinks it from its parent,
// removes it and continues at the parent. It takes children from the front of a list, or
// from the back if the first is dead. It does not change the version, since a walk in
// here is about to meet dead nodes anyway.
//
// The guard keeps every node that was looked up readable, though not findable. If others
// remove a parent while its children are being removed, there is no way back up, and the
// descent restarts at top.
func (f *Forest[T]) dismantle(g *pool.Guard[T], top pool.Handle[T], links *words[T]) (removed int) {
	at, n := top, links
	for {
		if child, c := f.below(g, top, at, n); c != nil {
			at, n = child, c
			continue
		}
		if at == top {
			if f.pool.Remove(at) {
				removed++
			}
			return removed
		}
		up, next, prev := load[T](&n.parent), load[T](&n.next), load[T](&n.prev)
		parent := f.look(g, up)
		if parent == nil || up == top {
			up, parent = top, links
		}
		if load[T](&parent.first) == at {
			parent.first.Store(uint64(next))
		}
		if load[T](&parent.last) == at {
			parent.last.Store(uint64(prev))
		}
		// Remove comes last, since it may call a Reset that panics: then the next Remove
		// of top finds the rest.
		if f.pool.Remove(at) {
			removed++
		}
		at, n = up, parent
	}
}

// below returns a live child of at, the first or the last, or nil. Links that make top a
// child are ignored.
func (f *Forest[T]) below(g *pool.Guard[T], top, at pool.Handle[T], n *words[T]) (pool.Handle[T], *words[T]) {
	for _, h := range [...]pool.Handle[T]{load[T](&n.first), load[T](&n.last)} {
		if c := f.child(g, at, h); c != nil && h != top {
			return h, c
		}
	}
	return 0, nil
}
