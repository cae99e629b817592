package tree

import (
	"coatcheck/internal/atom"
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
// None of this says that a node is live. Nodes are removed without the Forest's
// knowledge; a walk finds that out when it looks up their handles.
type walk[T any] struct {
	f       *Forest[T]
	pool    *pool.Pool[T] // of f
	version *atom.Uint64  // of f

	top   pool.Handle[T]
	began uint64 // the version at which the first step was read
	begun bool

	// The siblings that were yielded and may be old, of all lists on the path: a stack. A list's part
	// of it ends where that of the next level begins.
	depth int
	some  [32]pool.Handle[T]
	more  []pool.Handle[T] // from the 33rd on
}

// list is a list of siblings that a walk is in.
type list[T any] struct {
	parent pool.Handle[T]
	start  int // of its part of the stack

	// last is the sibling that was yielded last, or 0, and next the one behind it at the version seen.
	// If next is 0, there are no more old ones.
	last, next pool.Handle[T]
	seen       uint64

	// tail has the links of last. It may be dead; in a phase its slot may even have another value.
	tail *words[T]

	// passed has the new nodes that were passed over and may have kept their places: a stack.
	passed []passed[T]
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

// begin begins the walk below top.
func (w *walk[T]) begin(f *Forest[T], top pool.Handle[T], l *list[T]) {
	w.f, w.pool, w.version, w.top = f, f.pool, &f.version, top
	w.enter(l, top)
}

// enter begins with the children of a node.
func (w *walk[T]) enter(l *list[T], parent pool.Handle[T]) {
	l.parent, l.start = parent, w.depth
	version := w.version.Load()
	if v, live := w.pool.Pointer(parent); live {
		l.next, l.seen = load[T](&w.f.links(v).first), w.quiet(version)
		if l.seen == never || w.version.Load() != version {
			l.next, l.seen = unknown, never
		} else if !w.begun {
			w.began, w.begun = version, true
		}
	}
}

// quiet returns the version as that at which a list was seen, for step. It is never if step cannot go
// by it: during a change, and if the links lie elsewhere than in the value.
func (w *walk[T]) quiet(version uint64) uint64 {
	if version%2 != 0 || w.f.offset == notInside {
		return never
	}
	return version
}

// step returns the next sibling of a list that is old and live, with its value, and its links. They
// are nil at the end. h and next are what was l.next and what it is now, which a loop keeps in a
// register.
func (w *walk[T]) step(l *list[T], h pool.Handle[T]) (_ pool.Handle[T], _ *T, next pool.Handle[T]) {
	if h == 0 {
		return 0, nil, 0
	}
	if version := w.version.Load(); version == l.seen && h != w.top {
		if v, _ := w.pool.Pointer(h); v != nil {
			// If the version is the same at the end, all that is loaded here is of one moment.
			n := w.f.inside(v)
			if next = load[T](&n.next); load[T](&n.parent) == l.parent {
				if load[T](&n.prev) == l.last {
					if n.stamp.Load() <= w.began {
						if w.version.Load() == version {
							l.last, l.tail = h, n
							if d := uint(w.depth); d < uint(len(w.some)) { // push, inlined
								w.some[d] = h
								w.depth++
								return h, v, next
							}
							w.push(h)
							return h, v, next
						}
					}
				}
			}
		}
	}
	return w.stepSlow(l)
}

// stepSlow is step after the version has changed, past new nodes, and at the end of a list.
func (w *walk[T]) stepSlow(l *list[T]) (h pool.Handle[T], v *T, next pool.Handle[T]) {
	var n *words[T]
	var seen uint64
	var over []passed[T]
	w.f.moment(func(version uint64) {
		h, v, n, seen = 0, nil, nil, version
		if !w.begun {
			w.began = version
		}
		var prev pool.Handle[T]
		prev, next = w.resume(l)
		over = l.passed
		for next != w.top {
			value, ok := w.pool.Pointer(next)
			if !ok {
				return
			}
			links := w.f.links(value)
			if load[T](&links.parent) != l.parent || load[T](&links.prev) != prev || w.version.Load() != version {
				return
			}
			at := next
			next = load[T](&links.next)
			if w.kept(links) {
				h, v, n = at, value, links
				return
			}
			over = append(over, passed[T]{at, links.stamp.Load(), w.depth})
			prev = at
		}
	})
	w.begun, l.passed = true, over
	if n == nil {
		return 0, nil, 0
	}
	w.push(h)
	l.last, l.tail, l.seen = h, n, w.quiet(seen)
	return h, v, next
}

// resume returns where a list goes on: at the node next, behind prev, or with the first child if
// prev is 0. It drops what was yielded or passed over and has left its place since, from the end on.
//
// The last one may lead on even if it was removed behind the forest's back: its links stay
// readable. In a phase they may be those of another value by now, which its neighbour does not name.
func (w *walk[T]) resume(l *list[T]) (prev, next pool.Handle[T]) {
	if l.tail != nil && w.kept(l.tail) {
		next = load[T](&l.tail.next)
		if n := w.f.child(l.parent, next); n != nil && load[T](&n.prev) == l.last {
			return l.last, next
		}
	}
	for {
		if k := len(l.passed) - 1; k >= 0 && l.passed[k].depth == w.depth {
			if n := w.f.look(l.passed[k].h); n != nil && n.stamp.Load() == l.passed[k].stamp {
				return l.passed[k].h, load[T](&n.next)
			}
			l.passed = l.passed[:k]
			continue
		}
		if w.depth == l.start {
			break
		}
		prev = w.pop()
		if n := w.f.look(prev); n != nil && w.kept(n) {
			w.push(prev)
			return prev, load[T](&n.next)
		}
	}
	if n := w.f.look(l.parent); n != nil {
		next = load[T](&n.first)
	}
	return 0, next
}

// kept reports whether a node has kept its place since the walk began. Only a stamp that was copied
// here from another pool is beyond the version.
func (w *walk[T]) kept(n *words[T]) bool {
	stamp := n.stamp.Load()
	return stamp <= w.began || stamp > w.version.Load()
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

func (w *walk[T]) pop() pool.Handle[T] {
	if w.depth--; w.depth < len(w.some) {
		return w.some[w.depth]
	}
	k := w.depth - len(w.some)
	h := w.more[k]
	w.more = w.more[:k]
	return h
}

// cut drops what lies above a depth.
func (w *walk[T]) cut(depth int) {
	w.depth = depth
	w.more = w.more[:max(0, depth-len(w.some))]
}

// below walks over all descendants, parents before their children or after them.
func (w *walk[T]) below(f *Forest[T], top pool.Handle[T], parentsFirst bool, yield func(pool.Handle[T], *T) bool) {
	var room [4]list[T]
	lists := room[:1]
	w.begin(f, top, &lists[0])
	for {
		l := &lists[len(lists)-1]
		h, v, next := w.step(l, l.next)
		l.next = next
		switch {
		case v == nil:
			w.cut(l.start)
			h = l.parent
			if lists = lists[:len(lists)-1]; len(lists) == 0 {
				return
			}
			if parentsFirst {
				continue
			}
			if v, ok := f.pool.Pointer(h); ok && w.kept(f.links(v)) && !yield(h, v) {
				return
			}
		case l.tail.first.Load() == 0:
			if !yield(h, v) {
				return
			}
		default:
			if parentsFirst && !yield(h, v) {
				return
			}
			if next == 0 && parentsFirst {
				// It is not needed any more, so a long chain makes no high stack.
				w.cut(l.start)
				lists = lists[:len(lists)-1]
			}
			lists = append(lists, list[T]{})
			w.enter(&lists[len(lists)-1], h)
		}
	}
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
