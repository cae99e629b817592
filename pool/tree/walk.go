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
	depth    int
	stack    [32]pool.Handle[T]
	overflow []pool.Handle[T] // from the 33rd on
}

// order says which nodes a walk yields, and in which order.
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

	// last is the sibling that was yielded last, or 0. next is the sibling behind it at the version seen: 0 if
	// no old one follows, and unknown if a step must read the list.
	last, next pool.Handle[T]
	seen       uint64

	// tail has the links of last, which may be dead. In a phase its slot may even have another value.
	tail *words[T]

	// passed is a stack of the new nodes that the walk passed over, and that may have kept their places.
	passed []passed[T]

	// ahead has the nodes behind a gap, the next one last. It is nil until the walk has read a list backwards
	// to cross a gap. From then on the walk takes the nodes from here, as long as they keep their places.
	ahead *[]pool.Handle[T]
}

// passed is a new node that a walk passed over, with the stamp that it had then. depth is how many siblings
// were on the stack of the walk then: the node stands behind the last of these.
type passed[T any] struct {
	h     pool.Handle[T]
	stamp uint64
	depth int
}

const (
	never   = ^uint64(0) // no version
	unknown = 1<<64 - 1  // no handle
)

// walk returns an iterator over the nodes below top. The caller has pinned the pool, or is in a phase. The
// compiler inlines the iterator into the loop, and the loop's body into the iterator, because that calls
// yield in one place. So the order is a constant there.
func (f *Forest[T]) walk(o order, top pool.Handle[T]) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		var w walk[T]
		var outer []list[T] // those on the path to the list in which the walk is
		if o != childrenOnly {
			var room [3]list[T]
			outer = room[:0]
		}
		for last, next := w.begin(f, o, top); ; {
			h := next
			v, _ := f.pool.Pointer(h)
			var n *words[T]
			if v != nil {
				n = f.embedded(v)
			}
		step:
			switch {
			case n != nil:
				// Nothing has changed: if the version is the same at the end, all that was loaded since the
				// list was seen is of one moment.
				follower, prev, parent, stamp := n.next.Load(), n.prev.Load(), n.parent.Load(), n.stamp.Load()
				if version := f.version.Load(); version == w.seen && parent == uint64(w.parent) && prev == uint64(last) && stamp <= w.began && h != top {
					last, next, w.tail = h, pool.Handle[T](follower), n
					if d := uint(w.depth); d < uint(len(w.stack)) { // push, inlined
						w.stack[d] = h
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
				if len(outer) == 0 {
					return
				}
				h, v, outer = w.leave(outer)
				last, next, n = w.last, w.next, nil
				if v == nil {
					continue
				}
			}
			enter := false
			if o != childrenOnly && n != nil && n.first.Load() != 0 {
				w.last, w.next = last, next
				if o == parentsLast {
					last, next, outer = w.enter(h, outer)
					continue
				}
				enter = true
			}
			if !yield(h, v) {
				return
			}
			if enter {
				last, next, outer = w.enter(h, outer)
			}
		}
	}
}

// begin begins the walk with the children of top. It returns last and next of their list.
//
//go:noinline
func (w *walk[T]) begin(f *Forest[T], o order, top pool.Handle[T]) (last, next pool.Handle[T]) {
	w.f, w.order, w.top = f, o, top
	w.read(top)
	return 0, w.next
}

// enter goes on with the children of h, which was yielded last, or will be yielded after them. It returns
// last and next of their list, and the lists on the path to it.
func (w *walk[T]) enter(h pool.Handle[T], outer []list[T]) (last, next pool.Handle[T], _ []list[T]) {
	if w.order == parentsFirst && w.next == 0 {
		// Nothing follows in this list. It is dropped, so that a deep forest makes no high stack.
		w.cut(w.start)
	} else {
		outer = append(outer, w.list)
	}
	w.list = list[T]{}
	w.read(h)
	return 0, w.next, outer
}

// leave goes back to the list of the parent, because the walk has reached the end of its list. It returns
// the parent, and its value if it is to be yielded now, and the lists on the path to it.
func (w *walk[T]) leave(outer []list[T]) (h pool.Handle[T], v *T, _ []list[T]) {
	w.cut(w.start)
	h = w.parent
	w.list, outer = outer[len(outer)-1], outer[:len(outer)-1]
	if w.order == parentsLast {
		if v, _ = w.f.pool.Pointer(h); v != nil && !w.kept(w.f.links(v)) {
			v = nil
		}
	}
	return h, v, outer
}

// read begins the list of a node's children.
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

// quiet returns the version for list.seen, so that a step can tell that nothing has changed since. It
// returns never where a step cannot: during a change, and if the links are no part of the value.
func (w *walk[T]) quiet(version uint64) uint64 {
	if version%2 != 0 || w.f.finder != nil {
		return never
	}
	return version
}

// stepSlow returns the next sibling that is old and live, its value, and the sibling behind it. At the end of
// the list it returns no value. The walk calls it where its own step cannot go on: when the version has
// changed, before new nodes, and at the end. follower is the sibling that followed last when that was read.
func (w *walk[T]) stepSlow(last, follower pool.Handle[T]) (h pool.Handle[T], v *T, next pool.Handle[T]) {
	w.last = last
	var n *words[T]
	var seen uint64
	var resumed cursor[T]
	var skipped []passed[T]
	w.f.moment(func(version uint64) {
		h, v, n, seen = 0, nil, nil, version
		if !w.begun {
			w.began = version
		}
		resumed = w.resume(follower, version)
		prev := resumed.prev
		next, skipped = resumed.next, w.passed[:resumed.passed]
		for next != w.top {
			value, ok := w.f.pool.Pointer(next)
			if !ok {
				return
			}
			links := w.f.links(value)
			if load[T](&links.parent) != w.parent || load[T](&links.prev) != prev || w.f.version.Load() != version {
				return
			}
			node := next
			next = load[T](&links.next)
			if w.kept(links) {
				h, v, n = node, value, links
				return
			}
			skipped = append(skipped, passed[T]{node, links.stamp.Load(), resumed.depth})
			prev = node
		}
	})
	w.begun, w.passed, w.ahead = true, skipped, resumed.ahead
	w.cut(resumed.depth)
	if n == nil {
		return 0, nil, 0
	}
	if resumed.gap[0] != 0 {
		w.push(resumed.gap[0])
		w.push(resumed.gap[1])
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

// cursor tells where a walk goes on in a list: at the node next, which follows prev, or is the first child
// if prev is 0.
type cursor[T any] struct {
	prev, next pool.Handle[T]

	// How many nodes stay on the stacks of those yielded and passed over. Those above have left their places.
	depth, passed int

	gap   [2]pool.Handle[T] // the dead nodes at both ends of a gap, if the walk goes on behind one
	ahead *[]pool.Handle[T] // as in list
}

// resume returns where the walk goes on: behind last, or else behind the last of all yielded and passed
// nodes that has kept its place.
//
// last may lead on even if it was removed behind the forest's back, since its links stay readable. In a
// phase they may be those of another value by now. Then the node that they lead to does not name last.
func (w *walk[T]) resume(follower pool.Handle[T], version uint64) cursor[T] {
	p := cursor[T]{depth: w.depth, passed: len(w.passed), ahead: w.ahead}
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
	if w.visitedDead(p.next, &p) {
		w.cross(&p, follower, version)
	}
	return p
}

// visitedDead reports whether the node h, to which p leads, is dead, and the walk had yielded it or passed
// over it before.
func (w *walk[T]) visitedDead(h pool.Handle[T], p *cursor[T]) bool {
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

// cross leads p over a gap. The walk had come to the node at the near end of the gap before that died, but
// no node that has kept its place leads on. The node beyond the gap has a dead one as its previous sibling.
// It may be follower, the node that followed last. If that has left too, cross reads the rest of the list once,
// backwards from the last child. If the last child is dead too, nothing leads to the nodes between.
func (w *walk[T]) cross(p *cursor[T], follower pool.Handle[T], version uint64) {
	if n := w.f.child(w.parent, follower); n != nil && w.kept(n) {
		if end := w.backUp(p, follower, version, func(pool.Handle[T]) {}); end != 0 {
			p.gap = [2]pool.Handle[T]{p.next, end}
			p.prev, p.next = load[T](&n.prev), follower
			return
		}
	}
	n := w.f.look(w.parent)
	if n == nil {
		return
	}
	ahead := new([]pool.Handle[T])
	if w.backUp(p, load[T](&n.last), version, func(h pool.Handle[T]) { *ahead = append(*ahead, h) }) != 0 {
		p.ahead = ahead
		w.pick(p)
	}
}

// backUp follows a list backwards, from a node to the gap behind p, and calls f for each node on the way. It
// returns the dead node that the last of them names. It returns 0 if it comes to no such gap, or if the
// version changes.
func (w *walk[T]) backUp(p *cursor[T], h pool.Handle[T], version uint64, f func(pool.Handle[T])) (end pool.Handle[T]) {
	for t := newTortoise[T](0); ; {
		n := w.f.child(w.parent, h)
		if n == nil || t.meets(h) || w.f.version.Load() != version {
			return 0
		}
		f(h)
		if h = load[T](&n.prev); w.visitedDead(h, p) {
			return h
		}
	}
}

// pick leads p to the next of the nodes ahead that has kept its place, and drops those before it.
func (w *walk[T]) pick(p *cursor[T]) {
	p.prev, p.next = 0, 0
	for nodes := *p.ahead; len(nodes) > 0; nodes = nodes[:len(nodes)-1] {
		h := nodes[len(nodes)-1]
		*p.ahead = nodes
		if n := w.f.child(w.parent, h); n != nil && h != w.last && w.kept(n) {
			p.prev, p.next = load[T](&n.prev), h
			return
		}
	}
}

// kept reports whether a node has kept its place since the walk began. A stamp beyond the version comes from
// another pool, from which the value was copied.
func (w *walk[T]) kept(n *words[T]) bool {
	stamp := n.stamp.Load()
	return stamp <= w.began || stamp > w.f.version.Load()
}

// push puts a sibling on the stack.
//
//go:noinline
func (w *walk[T]) push(h pool.Handle[T]) {
	if w.depth < len(w.stack) {
		w.stack[w.depth] = h
	} else {
		if w.overflow == nil {
			w.overflow = make([]pool.Handle[T], 0, 2*len(w.stack))
		}
		w.overflow = append(w.overflow, h)
	}
	w.depth++
}

// yielded returns the sibling at a depth of the stack.
func (w *walk[T]) yielded(depth int) pool.Handle[T] {
	if depth < len(w.stack) {
		return w.stack[depth]
	}
	return w.overflow[depth-len(w.stack)]
}

// cut drops what lies on the stack above a depth.
func (w *walk[T]) cut(depth int) {
	w.depth = depth
	w.overflow = w.overflow[:max(0, depth-len(w.stack))]
}

// attempts is how often moment reads without the lock. Under the lock, a reader and the changes wait for
// each other.
const attempts = 4

// moment calls read with the version until no change comes meanwhile. The last attempt holds the lock. If
// the version changes, read may stop early: it is called again.
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
