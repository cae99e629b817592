package tree

import (
	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// Parent returns the parent of h. It returns false if h is a root or not live, or if the parent
// was removed behind the forest's back.
//
// Parent, FirstChild, LastChild, Next and Prev answer for one moment of the call. They pin nothing where
// [pool.Pool.Get] does not. For many, take a [Reader]. For a loop, Children is cheaper, and keeps its
// promise while others change the forest.
func (f *Forest[T]) Parent(h pool.Handle[T]) (pool.Handle[T], bool) { return f.find(h, parentOf) }

// FirstChild returns the first child of h. It returns false if h has no children or is not live,
// or if its first child was removed behind the forest's back. It costs O(1).
func (f *Forest[T]) FirstChild(h pool.Handle[T]) (pool.Handle[T], bool) { return f.find(h, firstOf) }

// LastChild returns the last child of h, as [Forest.FirstChild] returns the first.
func (f *Forest[T]) LastChild(h pool.Handle[T]) (pool.Handle[T], bool) { return f.find(h, lastOf) }

// Next returns the next sibling of h. It returns false if h is a root, the last child or not
// live, or if the next sibling was removed behind the forest's back. The children of a parent that was
// removed so keep each other as siblings until Repair. It costs O(1).
func (f *Forest[T]) Next(h pool.Handle[T]) (pool.Handle[T], bool) { return f.find(h, nextOf) }

// Prev returns the previous sibling of h, as [Forest.Next] returns the next.
func (f *Forest[T]) Prev(h pool.Handle[T]) (pool.Handle[T], bool) { return f.find(h, prevOf) }

// Parent is [Forest.Parent].
func (r *Reader[T]) Parent(h pool.Handle[T]) (pool.Handle[T], bool) { return r.parent(h) }

// FirstChild is [Forest.FirstChild].
func (r *Reader[T]) FirstChild(h pool.Handle[T]) (pool.Handle[T], bool) { return r.child(h, firstOf) }

// LastChild is [Forest.LastChild].
func (r *Reader[T]) LastChild(h pool.Handle[T]) (pool.Handle[T], bool) { return r.child(h, lastOf) }

// Next is [Forest.Next].
func (r *Reader[T]) Next(h pool.Handle[T]) (pool.Handle[T], bool) { return r.sibling(h, nextOf) }

// Prev is [Forest.Prev].
func (r *Reader[T]) Prev(h pool.Handle[T]) (pool.Handle[T], bool) { return r.sibling(h, prevOf) }

// side names a neighbour of a node.
type side uint8

const (
	parentOf side = iota
	firstOf
	lastOf
	nextOf
	prevOf
)

// find returns a neighbour of h. The caller has no pin.
//
// It needs none if a second look finds h still live, as in Pool.Get (DESIGN.md, L12): then h was live all
// the while, and the links that were read were its own. The slot of the neighbour may get another value
// meanwhile. But the neighbour was live when its handle was looked up, and links that were read later
// lead to this neighbour or to none.
func (f *Forest[T]) find(h pool.Handle[T], sd side) (neighbour pool.Handle[T], ok bool) {
	if !atom.CopiesWithoutPin || f.finder != nil {
		return f.findPinned(h, sd)
	}
	r := f.Phase()
	if neighbour, ok = r.find(h, sd); f.pool.Contains(h) {
		return neighbour, ok
	}
	return 0, false
}

// findPinned returns a neighbour of h, under a pin of its own.
func (f *Forest[T]) findPinned(h pool.Handle[T], sd side) (pool.Handle[T], bool) {
	r := f.Pin()
	defer r.Unpin() // also if the function that finds links panics
	return r.find(h, sd)
}

func (r *Reader[T]) find(h pool.Handle[T], sd side) (pool.Handle[T], bool) {
	switch sd {
	case parentOf:
		return r.parent(h)
	case firstOf, lastOf:
		return r.child(h, sd)
	}
	return r.sibling(h, sd)
}

// parent returns the parent of h. If the links are a part of the value, it takes no second look at the
// version.
//
// If the parent is gone and the node still names it, it was removed behind the forest's back. If the node
// names another by now, the node was moved first, and parent looks again.
func (r *Reader[T]) parent(h pool.Handle[T]) (pool.Handle[T], bool) {
	f := r.forest()
	if f.finder != nil {
		return f.neighbour(h, parentOf)
	}
	if v, _ := f.pool.Pointer(h); v != nil {
		n := f.embedded(v)
		for {
			parent := load[T](&n.parent)
			if f.pool.Contains(parent) {
				return parent, true
			}
			if load[T](&n.parent) == parent {
				break
			}
		}
	}
	return 0, false
}

// child returns the first or the last child of h. If the links are a part of the value, and no change comes
// meanwhile, it calls no function.
func (r *Reader[T]) child(h pool.Handle[T], sd side) (pool.Handle[T], bool) {
	if f := r.forest(); f.finder == nil {
		var child pool.Handle[T]
		version := f.version.Load()
		if v, _ := f.pool.Pointer(h); v != nil {
			n := f.embedded(v)
			next := pool.Handle[T](n.first.Load())
			if sd != firstOf {
				next = pool.Handle[T](n.last.Load())
			}
			if v, _ := f.pool.Pointer(next); v != nil && load[T](&f.embedded(v).parent) == h {
				child = next
			}
		}
		if f.version.Load() == version&^1 { // and the version is even
			return child, child != 0
		}
	}
	return r.f.neighbour(h, sd)
}

// sibling returns the next or the previous sibling of h, as child does a child. One function for both would
// take a tenth more instructions.
func (r *Reader[T]) sibling(h pool.Handle[T], sd side) (pool.Handle[T], bool) {
	if f := r.forest(); f.finder == nil {
		var sibling pool.Handle[T]
		version := f.version.Load()
		if v, _ := f.pool.Pointer(h); v != nil {
			n := f.embedded(v)
			next, parent := pool.Handle[T](n.next.Load()), load[T](&n.parent)
			if sd != nextOf {
				next = pool.Handle[T](n.prev.Load())
			}
			if v, _ := f.pool.Pointer(next); v != nil && load[T](&f.embedded(v).parent) == parent && parent != 0 {
				sibling = next
			}
		}
		if f.version.Load() == version&^1 { // and the version is even
			return sibling, sibling != 0
		}
	}
	return r.f.neighbour(h, sd)
}

// neighbour returns a neighbour of h at one moment, or 0 if that is not live or has another parent than it
// should.
//
//go:noinline
func (f *Forest[T]) neighbour(h pool.Handle[T], sd side) (neighbour pool.Handle[T], ok bool) {
	f.moment(func(uint64) {
		neighbour = 0
		n := f.look(h)
		if n == nil {
			return
		}
		next, parent := load[T](n.link(sd)), h
		if sd >= nextOf {
			parent = load[T](&n.parent)
		}
		switch {
		case sd == parentOf && f.pool.Contains(next), sd != parentOf && parent != 0 && f.child(parent, next) != nil:
			neighbour = next
		}
	})
	return neighbour, neighbour != 0
}

// link returns the link to a neighbour.
func (w *words[T]) link(sd side) *atom.Uint64 {
	switch sd {
	case parentOf:
		return &w.parent
	case firstOf:
		return &w.first
	case lastOf:
		return &w.last
	case nextOf:
		return &w.next
	}
	return &w.prev
}
