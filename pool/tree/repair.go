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
	r.strays()
	r.sew()
	return r.changed
}

// repair is one call of Repair. Each of its passes visits all nodes.
type repair[T any] struct {
	f       *Forest[T]
	g       *pool.Guard[T]
	stamp   uint64
	changed int

	// In circles, visited has the nodes to which it has come, and known those whose path to a root is
	// known. From then on, visited has the nodes that stand in their lists.
	visited, known bits[T]
	seams          map[pool.Handle[T]]*seam[T] // by parents
}

// seam is a list that must be put together again from chains of siblings.
type seam[T any] struct {
	head, tail       pool.Handle[T] // the first and the last sibling of what is joined so far
	endHead, endTail pool.Handle[T] // those of the chain that ends the list, or 0
}

// set sets a link, and counts it if it was another. A repair sets each link at most once.
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

// root makes n the links of a root.
func (r *repair[T]) root(n *words[T]) {
	changed := r.changed
	r.set(&n.parent, 0)
	r.set(&n.prev, 0)
	r.set(&n.next, 0)
	if r.changed != changed {
		store(&n.stamp, r.stamp)
	}
}

// circles makes one node of each cycle a root. From every node it climbs to the first whose path to a root
// is known, and notes that the paths of those on the way are known too.
func (r *repair[T]) circles() {
	var path []pool.Handle[T]
	for h, v := range r.g.All() {
		path = path[:0]
		for n := r.f.links(v); n != nil && !r.known.contains(h); n = r.f.look(h) {
			if r.visited.contains(h) { // and its path is not known: it lies on this path
				r.root(n)
				break
			}
			r.visited.set(h)
			path = append(path, h)
			h = load[T](&n.parent)
		}
		for _, h := range path {
			r.known.set(h)
		}
	}
	r.visited.clear()
}

// lists follows the list of every node's children. It makes a seam for a list that does not lead to the
// last child, with the chain that ends there.
func (r *repair[T]) lists() {
	for parent, v := range r.g.All() {
		p := r.f.links(v)
		first, last := load[T](&p.first), load[T](&p.last)
		head, tail, next := r.chain(parent, 0, first, false)
		if head == first && tail == last && next == 0 {
			continue
		}
		s := &seam[T]{head: head, tail: tail}
		r.seams[parent] = s
		// Backwards from the last, up to the first link that disagrees.
		node := last
		for n := r.child(parent, node); n != nil; n = r.child(parent, node) {
			if s.endTail == 0 {
				s.endTail = last
			} else if load[T](&n.next) != s.endHead {
				break
			}
			r.visited.set(node)
			s.endHead, node = node, load[T](&n.prev)
		}
	}
}

// strays finds the nodes that stand in no list, and joins their chains to the seams of their parents.
func (r *repair[T]) strays() {
	for h, v := range r.g.All() {
		n := r.f.links(v)
		parent := load[T](&n.parent)
		p := r.f.look(parent)
		if p == nil || r.visited.contains(h) {
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
		head, tail, _ := r.chain(parent, s.tail, first, true)
		if b := r.f.look(s.tail); b != nil {
			r.set(&b.next, head)
		} else {
			s.head = head
		}
		s.tail = tail
	}
}

// sew completes each list that has a seam.
func (r *repair[T]) sew() {
	for parent, s := range r.seams {
		head, last := s.head, s.tail
		if s.endHead != 0 {
			last = s.endTail
			if head == 0 {
				head = s.endHead
			}
			if n := r.f.look(s.endHead); n != nil {
				r.set(&n.prev, s.tail)
			}
			if n := r.f.look(s.endTail); n != nil {
				r.set(&n.next, 0)
			}
		}
		if n := r.f.look(s.tail); n != nil {
			r.set(&n.next, s.endHead)
		}
		if p := r.f.look(parent); p != nil {
			r.set(&p.first, head)
			r.set(&p.last, last)
		}
	}
}

// chain follows a chain of siblings from h on, notes that they stand in their list, and sets the previous
// sibling of each: prev for the first. It returns the first and the last sibling, and the next of the
// last. If there is none, the last is prev. If the chain moved, its nodes get a new stamp.
func (r *repair[T]) chain(parent, prev, h pool.Handle[T], moved bool) (head, tail, next pool.Handle[T]) {
	tail = prev
	for n := r.child(parent, h); n != nil; n = r.child(parent, h) {
		if head == 0 {
			head = h
		}
		r.visited.set(h)
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
	if r.visited.contains(h) {
		return nil
	}
	return r.f.child(parent, h)
}
