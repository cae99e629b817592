package tree

import (
	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// Repair repairs the links after removals behind the forest's back. It returns how many links it
// changed, 0 if all were right. A node whose parent is gone becomes a root, with everything below
// it. Siblings close up, in their order; but groups of siblings, each between two dead ones, may
// change places.
//
// Repair also repairs links that never were those of one tree, as in a snapshot taken while the
// forest changed. A node goes to the parent that it names, and in each cycle one node becomes a
// root.
//
// Repair costs O(n), some six look-ups for each node, and visits every slot that has memory. It
// takes two bits for each slot, 8 bytes for each level of depth, and memory for damaged lists.
// Walks wait for it. If nodes are removed behind its back meanwhile, links may be broken again.
func (f *Forest[T]) Repair() int {
	f.lock()
	defer f.mu.Unlock()
	g := f.guard()
	defer g.Unpin()
	r := repair[T]{f: f, g: &g, seams: make(map[pool.Handle[T]]*seam[T])}
	r.stamp = f.change()
	defer f.changed() // also if the function that finds links panics
	r.orphans()
	r.circles()
	r.lists()
	r.between()
	r.sew()
	return r.changed
}

// repair is one call of Repair. Each of its passes visits all nodes.
type repair[T any] struct {
	f       *Forest[T]
	g       *pool.Guard[T]
	stamp   uint64
	changed int

	// here and done have a bit for each slot. circles uses both; from then on here has
	// the nodes that stand in their lists.
	here, done bits[T]
	seams      map[pool.Handle[T]]*seam[T]
}

// seam is a list of siblings that must be joined, by its parent.
type seam[T any] struct {
	head, tail pool.Handle[T] // the part joined so far
	rest, last pool.Handle[T] // the run that ends it, or 0
}

// set sets a link and counts it if that changed it. Each link is set at most once in a
// repair.
func (r *repair[T]) set(link *atom.Uint64, h pool.Handle[T]) {
	if set(link, h) {
		r.changed++
	}
}

// orphans makes nodes without a living parent roots, and clears the siblings of roots.
func (r *repair[T]) orphans() {
	for _, v := range r.g.All() {
		n := r.f.links(v)
		if r.f.look(load[T](&n.parent)) == nil {
			r.root(n)
		}
	}
}

func (r *repair[T]) root(n *words[T]) {
	before := r.changed
	r.set(&n.parent, 0)
	r.set(&n.prev, 0)
	r.set(&n.next, 0)
	if r.changed != before {
		store(&n.stamp, r.stamp)
	}
}

// circles makes one node of each cycle a root. It climbs from every node to the first
// whose path up is known, and marks those that it passed as known.
func (r *repair[T]) circles() {
	var way []pool.Handle[T]
	for h, v := range r.g.All() {
		way = way[:0]
		for n := r.f.links(v); n != nil && !r.done.has(h); n = r.f.look(h) {
			if r.here.has(h) { // and its path is not known: this path has been here
				r.root(n)
				break
			}
			r.here.set(h)
			way = append(way, h)
			h = load[T](&n.parent)
		}
		for _, h := range way {
			r.done.set(h)
		}
	}
	r.here.clear()
}

// lists goes through the list of every node's children. It records a seam for a list that
// does not lead to the last child, with the run of siblings that ends there.
func (r *repair[T]) lists() {
	for parent, v := range r.g.All() {
		p := r.f.links(v)
		first, last := load[T](&p.first), load[T](&p.last)
		head, tail, next := r.run(parent, 0, first, false)
		if head == first && tail == last && next == 0 {
			continue
		}
		s := &seam[T]{head: head, tail: tail}
		r.seams[parent] = s
		// Backwards from the last, up to the first link that disagrees.
		at := last
		for n := r.child(parent, at); n != nil; n = r.child(parent, at) {
			if s.last == 0 {
				s.last = last
			} else if load[T](&n.next) != s.rest {
				break
			}
			r.here.set(at)
			s.rest, at = at, load[T](&n.prev)
		}
	}
}

// between finds the nodes that stand in no list, and appends their runs to the seams of
// their parents' lists.
func (r *repair[T]) between() {
	for h, v := range r.g.All() {
		n := r.f.links(v)
		parent := load[T](&n.parent)
		p := r.f.look(parent)
		if p == nil || r.here.has(h) {
			continue
		}
		s := r.seams[parent]
		if s == nil {
			s = &seam[T]{head: load[T](&p.first), tail: load[T](&p.last)}
			r.seams[parent] = s
		}
		first := h
		for t := newTortoise(h); ; {
			prev := load[T](&n.prev)
			if n = r.child(parent, prev); n == nil || load[T](&n.next) != first || t.meets(prev) {
				break
			}
			first = prev
		}
		head, tail, _ := r.run(parent, s.tail, first, true)
		if b := r.f.look(s.tail); b != nil {
			r.set(&b.next, head)
		} else {
			s.head = head
		}
		s.tail = tail
	}
}

// sew completes the lists that have seams.
func (r *repair[T]) sew() {
	for parent, s := range r.seams {
		head, last := s.head, s.tail
		if s.rest != 0 {
			last = s.last
			if head == 0 {
				head = s.rest
			}
			if n := r.f.look(s.rest); n != nil {
				r.set(&n.prev, s.tail)
			}
			if n := r.f.look(s.last); n != nil {
				r.set(&n.next, 0)
			}
		}
		if n := r.f.look(s.tail); n != nil {
			r.set(&n.next, s.rest)
		}
		if p := r.f.look(parent); p != nil {
			r.set(&p.first, head)
			r.set(&p.last, last)
		}
	}
}

// run marks a run of siblings from h on and sets the previous sibling of each, prev for
// the first. It returns the first and the last, which is prev if there is none, and the
// next of the last. The nodes of a run that is moved get a new stamp.
func (r *repair[T]) run(parent, prev, h pool.Handle[T], moved bool) (head, tail, next pool.Handle[T]) {
	tail = prev
	for n := r.child(parent, h); n != nil; n = r.child(parent, h) {
		if head == 0 {
			head = h
		}
		r.here.set(h)
		if moved || load[T](&n.prev) != tail {
			store(&n.stamp, r.stamp)
		}
		r.set(&n.prev, tail)
		tail, h = h, load[T](&n.next)
	}
	return head, tail, h
}

// child returns the links of h if it is a child of parent that stands in no list yet.
func (r *repair[T]) child(parent, h pool.Handle[T]) *words[T] {
	if r.here.has(h) {
		return nil
	}
	return r.f.child(parent, h)
}
