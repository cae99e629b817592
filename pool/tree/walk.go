package tree

import (
	"iter"
	"slices"

	"coatcheck/pool"
)

// A walk goes through the children of a node, or all its descendants, while others change
// the forest.
//
// The naive walk follows the links, each read atomically, and is wrong. It stands on a; a
// is moved; now a.next leads through another list, and from there the walk climbs to
// another parent. If a is moved to the end of its own list each time the walk comes to
// it, the walk never ends. A busy writer is enough for that.
//
// Three rules prevent it.
//
// A step is read at one moment: between two loads of the version that return the same even
// number (a sequence lock, after Lamport). A reading that changes have invalidated four times
// is repeated under the lock, which excludes changes. A step is short, so a reading seldom meets
// a change. While the version is still that of the step before, nothing has changed, and the link
// that was read then leads on.
//
// A walk sees the past. Each node has the version at which it was last linked or
// unlinked. A walk knows the version at which it began. A node is old to it if it has
// kept its place since. A node put into a list is new, so the old nodes of a list are in
// the order that they had when the walk began. The initial order is this order, continued
// over all levels: each node before its children, or after them.
//
// A walk never goes back. On a stack it keeps all the siblings that it has yielded in each
// list on its path. If the version has changed, it continues behind the last of them that is old
// still. It passes over new nodes, and keeps these too: one that it has passed over, and that has
// kept its place since, is as good a place to continue. So it looks at a node again only if that
// node, or one that it kept behind it, has changed meanwhile: a step costs O(1), amortized over what
// it sees and what has changed. Hence:
//
//	K1  What a walk yields is old, and each node on the path down to it was old when the
//	    walk came to it.
//	K2  It yields in the initial order, each node at most once. An old node stands in one
//	    list. A step begins behind all old nodes that were yielded in its list before.
//	K3  It ends. By K2 each step but a list's last has a node that no other has, and each
//	    takes a bounded number of readings, the last of which excludes changes. A reading
//	    stops when the version changes. While it does not, it goes forwards in a list.
//
// The tempting step goes on from the node that was yielded last, and is wrong if that
// node has been moved. To begin at the list's first node again is wrong if any node that
// was yielded is still there. Both are why a walk keeps what it has yielded.
//
// Three other walks were rejected: a list read whole made the first child of 1,000 cost 7.9 µs and
// 24 KB; one that read some siblings ahead looked up each node twice, and passed over
// the new ones at the front of a list again and again; and budgets of steps.
//
// Links that were read from a file may break W1 and W2, and a list may lead back to one of
// its nodes. A walk ends the list there, since that node has another previous sibling.
//
// A node that was removed behind the forest's back leads nowhere, once its slot is used again (in a phase)
// or the node behind it has left. The nodes on the far side of such a gap are found from there: the first of
// them names a dead node as its previous sibling, to which the walk had come (cross). To go on with any old
// node behind is wrong: it may be one beyond others, and links from a file may lead in a circle.
//
// None of this says that a node is live. Nodes are removed without the Forest's
// knowledge; a walk finds that out when it looks up their handles.
type walk[T any] struct {
	f     *Forest[T]
	order order

	top   pool.Handle[T]
	began uint64 // the version at which the first step was read
	begun bool

	list[T] // in which the walk is

	// The siblings that were yielded and may be old, of all lists on the path: a stack. A list's part
	// of it ends where that of the next level begins.
	depth int
	some  [32]pool.Handle[T]
	more  []pool.Handle[T] // from the 33rd on
}

// order is the order in which a walk yields nodes.
type order uint8

const (
	childrenOnly order = iota
	parentsFirst       // all descendants, each before its children
	parentsLast        // each after its children
)

// list is a list of siblings that a walk is in.
type list[T any] struct {
	parent pool.Handle[T]
	start  int // of its part of the stack

	// last is the sibling that was yielded last, or 0, and next the one behind it at the version seen.
	// If next is 0, there are no more old ones. If it is unknown, a step must read the list.
	last, next pool.Handle[T]
	seen       uint64

	// tail has the links of last. It may be dead; in a phase its slot may even have another value.
	tail *words[T]

	// passed has the new nodes that were passed over and may have kept their places: a stack.
	passed []passed[T]

	// ahead has the nodes behind a gap, the next one last, once the list was read backwards. From then on
	// the walk takes them from here, as long as they keep their places.
	ahead *[]pool.Handle[T]
}

// passed is a node that was passed over when its stamp was this one, behind the sibling with which
// the stack of the walk had this depth.
type passed[T any] struct {
	h     pool.Handle[T]
	stamp uint64
	depth int
}

// never is no version, and unknown no handle.
const (
	never   = ^uint64(0)
	unknown = 1<<64 - 1
)

// walk returns an iterator over the nodes below top, under the caller's pin. The compiler inlines it
// into the loop, and the loop's body into it, because it calls yield in one place. So the order is a
// constant there.
func (f *Forest[T]) walk(o order, top pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		var w walk[T]
		var above []list[T] // those on the path to the list in which the walk is
		if o != childrenOnly {
			var room [3]list[T]
			above = room[:0]
		}
		for last, next := w.begin(f, o, top); ; {
			h := next
			v, _ := f.pool.Pointer(h)
			var n *words[T]
			if v != nil {
				n = f.inside(v)
			}
		step:
			switch {
			case n != nil:
				// Nothing has changed: if the version is the same at the end, all that was loaded since the
				// list was seen is of one moment.
				behind, prev, parent, stamp := n.next.Load(), n.prev.Load(), n.parent.Load(), n.stamp.Load()
				if version := f.version.Load(); version == w.seen && parent == uint64(w.parent) && prev == uint64(last) && stamp <= w.began && h != top {
					last, next, w.tail = h, pool.Handle[T](behind), n
					if d := uint(w.depth); d < uint(len(w.some)) { // push, inlined
						w.some[d] = h
						w.depth++
						break step
					}
					w.push(h)
					break step
				}
				fallthrough
			default:
				if v = nil; next != 0 {
					h, v, next = w.stepSlow(last, next)
					last, n = h, w.tail
				}
				if v != nil {
					break step
				}
				if len(above) == 0 {
					return
				}
				h, v, above = w.leave(above)
				last, next, n = w.last, w.next, nil
				if v == nil {
					continue
				}
			}
			enter := false
			if o != childrenOnly && n != nil && n.first.Load() != 0 {
				w.last, w.next = last, next
				if o == parentsLast {
					last, next, above = w.enter(h, above)
					continue
				}
				enter = true
			}
			if !yield(h, v) {
				return
			}
			if enter {
				last, next, above = w.enter(h, above)
			}
		}
	}
}

// begin begins the walk. It returns last and next of the first list.
//
//go:noinline
func (w *walk[T]) begin(f *Forest[T], o order, top pool.Handle[T]) (last, next pool.Handle[T]) {
	w.f, w.order, w.top = f, o, top
	w.read(top)
	return 0, w.next
}

// enter goes on with the children of h, which was yielded last, or will be after them. It returns last and
// next of their list, and the lists above it.
func (w *walk[T]) enter(h pool.Handle[T], above []list[T]) (last, next pool.Handle[T], _ []list[T]) {
	if w.order == parentsFirst && w.next == 0 {
		// The list is not needed any more, so a long chain makes no high stack.
		w.cut(w.start)
	} else {
		above = append(above, w.list)
	}
	w.list = list[T]{}
	w.read(h)
	return 0, w.next, above
}

// leave goes back to the last list above, as the walk has reached the end of its own. It returns the
// parent of that if it is to be yielded now, and what is above then.
func (w *walk[T]) leave(above []list[T]) (h pool.Handle[T], v *T, _ []list[T]) {
	w.cut(w.start)
	h = w.parent
	w.list, above = above[len(above)-1], above[:len(above)-1]
	if w.order == parentsLast {
		if v, _ = w.f.pool.Pointer(h); v != nil && !w.kept(w.f.links(v)) {
			v = nil
		}
	}
	return h, v, above
}

// read begins with the children of a node.
func (w *walk[T]) read(parent pool.Handle[T]) {
	w.parent, w.start = parent, w.depth
	version := w.f.version.Load()
	if v, live := w.f.pool.Pointer(parent); live {
		w.next, w.seen = load[T](&w.f.links(v).first), w.quiet(version)
		if w.seen == never || w.f.version.Load() != version {
			w.next, w.seen = unknown, never
		} else if !w.begun {
			w.began, w.begun = version, true
		}
	}
}

// quiet returns the version as that at which a list was seen, for a step while nothing changes. It is
// never if there can be none: during a change, and if the links lie elsewhere than in the value.
func (w *walk[T]) quiet(version uint64) uint64 {
	if version%2 != 0 || w.f.outside != nil {
		return never
	}
	return version
}

// stepSlow returns the next sibling of the list that is old and live, with its value, after the version has
// changed, past new nodes, and at the end of a list. There it returns nil. next is the one behind it.
// behind is the one that was behind the last one when that was read.
func (w *walk[T]) stepSlow(last, behind pool.Handle[T]) (h pool.Handle[T], v *T, next pool.Handle[T]) {
	w.last = last
	var n *words[T]
	var seen uint64
	var from place[T]
	var over []passed[T]
	w.f.moment(func(version uint64) {
		h, v, n, seen = 0, nil, nil, version
		if !w.begun {
			w.began = version
		}
		from = w.resume(behind, version)
		prev := from.prev
		next, over = from.next, w.passed[:from.passed]
		for next != w.top {
			value, ok := w.f.pool.Pointer(next)
			if !ok {
				return
			}
			links := w.f.links(value)
			if load[T](&links.parent) != w.parent || load[T](&links.prev) != prev || w.f.version.Load() != version {
				return
			}
			at := next
			next = load[T](&links.next)
			if w.kept(links) {
				h, v, n = at, value, links
				return
			}
			over = append(over, passed[T]{at, links.stamp.Load(), from.depth})
			prev = at
		}
	})
	w.begun, w.passed, w.ahead = true, over, from.ahead
	w.cut(from.depth)
	if n == nil {
		return 0, nil, 0
	}
	if from.gap[0] != 0 {
		w.push(from.gap[0])
		w.push(from.gap[1])
	}
	w.push(h)
	if w.seen = w.quiet(seen); w.ahead != nil {
		w.seen, next = never, unknown
	} else if w.seen == never && next != 0 {
		next = unknown
	}
	w.tail = n
	return h, v, next
}

// place is where a list goes on: at the node next, behind prev, or with the first child if prev is 0.
type place[T any] struct {
	prev, next pool.Handle[T]

	// What was yielded and passed over before, and has kept its place: the rest has left it.
	depth, passed int

	gap   [2]pool.Handle[T] // the dead nodes at both ends of a gap, if the list goes on behind one
	ahead *[]pool.Handle[T] // see list
}

// resume returns where a list goes on: behind the last one, or else behind the last of what was yielded
// or passed over that has kept its place.
//
// The last one may lead on even if it was removed behind the forest's back: its links stay
// readable. In a phase they may be those of another value by now, which its neighbour does not name.
func (w *walk[T]) resume(behind pool.Handle[T], version uint64) place[T] {
	p := place[T]{depth: w.depth, passed: len(w.passed), ahead: w.ahead}
	if p.ahead != nil {
		w.pick(&p)
		return p
	}
	if w.tail != nil && w.kept(w.tail) {
		p.prev, p.next = w.last, load[T](&w.tail.next)
		if n := w.f.child(w.parent, p.next); n != nil && load[T](&n.prev) == w.last {
			return p
		}
	}
	for {
		if k := p.passed - 1; k >= 0 && w.passed[k].depth == p.depth {
			if n := w.f.look(w.passed[k].h); n != nil && n.stamp.Load() == w.passed[k].stamp {
				p.prev, p.next = w.passed[k].h, load[T](&n.next)
				break
			}
			p.passed = k
			continue
		}
		if p.depth == w.start {
			p.prev, p.next = 0, 0
			if n := w.f.look(w.parent); n != nil {
				p.next = load[T](&n.first)
			}
			break
		}
		h := w.yielded(p.depth - 1)
		if n := w.f.look(h); n != nil && w.kept(n) {
			p.prev, p.next = h, load[T](&n.next)
			break
		}
		p.depth--
	}
	if w.fell(p.next, &p) {
		w.cross(&p, behind, version)
	}
	return p
}

// fell reports whether h is one of the nodes that were yielded or passed over behind the place p, and was
// removed behind the forest's back since: p leads to it still.
func (w *walk[T]) fell(h pool.Handle[T], p *place[T]) bool {
	if h == 0 || w.f.pool.Contains(h) {
		return false
	}
	for i := p.depth; i < w.depth; i++ {
		if w.yielded(i) == h {
			return true
		}
	}
	return slices.ContainsFunc(w.passed[p.passed:], func(o passed[T]) bool { return o.h == h })
}

// cross leads p over a gap: the walk has come to the node at its beginning before that died, but no node
// that has kept its place leads on. The node at the other end of the gap names a dead one as well. It may
// be the one that was behind the last one. If that has left too, the whole rest of the list is read once,
// backwards from the last child. If that is dead as well, nothing leads to what lies between.
func (w *walk[T]) cross(p *place[T], behind pool.Handle[T], version uint64) {
	if n := w.f.child(w.parent, behind); n != nil && w.kept(n) {
		if end := w.back(p, behind, version, func(pool.Handle[T]) {}); end != 0 {
			p.gap = [2]pool.Handle[T]{p.next, end}
			p.prev, p.next = load[T](&n.prev), behind
			return
		}
	}
	n := w.f.look(w.parent)
	if n == nil {
		return
	}
	ahead := new([]pool.Handle[T])
	if w.back(p, load[T](&n.last), version, func(h pool.Handle[T]) { *ahead = append(*ahead, h) }) != 0 {
		p.ahead = ahead
		w.pick(p)
	}
}

// back goes back from a node to the gap in its list behind p, and calls f for each node before it. It returns
// the dead node that the last of them names, or 0 if they lead to no such gap, or if the version changes.
func (w *walk[T]) back(p *place[T], h pool.Handle[T], version uint64, f func(pool.Handle[T])) (end pool.Handle[T]) {
	for t := newTortoise[T](0); ; {
		n := w.f.child(w.parent, h)
		if n == nil || t.meets(h) || w.f.version.Load() != version {
			return 0
		}
		f(h)
		if h = load[T](&n.prev); w.fell(h, p) {
			return h
		}
	}
}

// pick leads p to the next node of those ahead that has kept its place, and drops those before it.
func (w *walk[T]) pick(p *place[T]) {
	p.prev, p.next = 0, 0
	for some := *p.ahead; len(some) > 0; some = some[:len(some)-1] {
		h := some[len(some)-1]
		*p.ahead = some
		if n := w.f.child(w.parent, h); n != nil && h != w.last && w.kept(n) {
			p.prev, p.next = load[T](&n.prev), h
			return
		}
	}
}

// kept reports whether a node has kept its place since the walk began. Only a stamp that was copied
// here from another pool is beyond the version.
func (w *walk[T]) kept(n *words[T]) bool {
	stamp := n.stamp.Load()
	return stamp <= w.began || stamp > w.f.version.Load()
}

//go:noinline
func (w *walk[T]) push(h pool.Handle[T]) {
	if w.depth < len(w.some) {
		w.some[w.depth] = h
	} else {
		if w.more == nil {
			w.more = make([]pool.Handle[T], 0, 2*len(w.some))
		}
		w.more = append(w.more, h)
	}
	w.depth++
}

// yielded returns the sibling at a depth of the stack.
func (w *walk[T]) yielded(depth int) pool.Handle[T] {
	if depth < len(w.some) {
		return w.some[depth]
	}
	return w.more[depth-len(w.some)]
}

// cut drops what lies above a depth.
func (w *walk[T]) cut(depth int) {
	w.depth = depth
	w.more = w.more[:max(0, depth-len(w.some))]
}

// attempts is how often links are read before they are read under the lock, where the
// reader delays writers and they delay it.
const attempts = 4

// moment calls read with the version until no link changes meanwhile, at last under the
// lock. If the version changes, read may stop.
func (f *Forest[T]) moment(read func(version uint64)) {
	for range attempts {
		if version := f.version.Load(); version%2 == 0 {
			if read(version); f.version.Load() == version {
				return
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock() // also if the function that finds links panics
	read(f.version.Load())
}
