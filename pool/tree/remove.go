package tree

import "coatcheck/pool"

// Remove removes h from the pool with everything below it, and returns how many values
// this call removed: what somebody else removes at the same time, by [pool.Pool.Remove]
// say, counts there. It is 0 if h is not live. It costs O(1) for each value.
//
// First h is detached, at once for all readers; then its descendants go, those without
// children first. Remove does not fail on what was removed behind the forest's back: it
// closes the gap as far as there are neighbours. What it cannot reach, because it hangs
// from a dead node or stands between two dead siblings, stays.
//
// If a Reset that the pool calls panics, that goes on up. By then h is detached, and what
// has not gone yet is below it: Remove it again.
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

// cut takes h out of its parent's list. It changes what names h and leaves alone what
// does not, so that a list which dead siblings have cut is no more broken than before.
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

// dismantle removes top, a root, and what is below it, and returns how many it
// removed.
//
// It needs no stack: it goes down to a node without children, takes that out of its
// parent's list, removes it and goes on at the parent. It takes children from the front
// of a list, or from the back when it finds the front dead. This is no change in the
// sense of the version: who walks in here is about to find nothing but dead nodes, and
// may as well be told by them.
//
// The guard keeps every node that was looked up readable, though not findable. If a
// parent is removed by others while its children are being removed, there is no way
// back up, and the descent begins at top again.
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
		// After that, since it may call a Reset that panics: whoever calls Remove
		// again finds what is left.
		if f.pool.Remove(at) {
			removed++
		}
		at, n = up, parent
	}
}

// below returns a child of at that lives, the first or the last, or nil. Top is
// nobody's child, whatever links from elsewhere say.
func (f *Forest[T]) below(g *pool.Guard[T], top, at pool.Handle[T], n *words[T]) (pool.Handle[T], *words[T]) {
	for _, h := range [...]pool.Handle[T]{load[T](&n.first), load[T](&n.last)} {
		if c := f.look(g, h); c != nil && h != top && load[T](&c.parent) == at {
			return h, c
		}
	}
	return 0, nil
}
