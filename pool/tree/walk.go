package tree

import "coatcheck/pool"

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
// A step is taken at one moment. It reads the links between two loads of the Forest's
// version, and counts only if both return the same even number (a sequence lock, after
// Lamport). A step that changes have invalidated four times is taken under the Forest's
// lock, which excludes changes.
//
// A walk sees the past. Each node has the version at which it was last linked or
// unlinked. A walk knows the version at which it began. A node is old to it if it has
// kept its place since. A node put into a list is new, so the old nodes of a list are in
// the order that they had when the walk began. The initial order is this order, continued
// over all levels: parents before children.
//
// A walk only goes forwards. It keeps the path down from its top: for each level the node
// that it yielded there last, and the sibling that followed it then. From a node that has
// lost its place the walk continues with that sibling, or else behind the parent. That
// place is never before a node it has yielded, so no change can send it back, not even a
// Repair that shows what a dead sibling has hidden. Hence:
//
//	K1  What a walk yields is old. Each node on the path down to it was old when the walk
//	    entered it.
//	K2  Each step leads from a node to one behind it in the initial order: to a child, to
//	    an old sibling behind the node or behind one of its ancestors.
//	K3  It ends. By K2 there are at most as many steps as there were nodes, and each
//	    takes a bounded number of attempts, the last of which excludes changes.
//	    An attempt stops when the version changes. While it does not, the attempt goes
//	    forwards in a list whose members agree (W1, W2), or up the path that it
//	    came down.
//
// Links that were read from a file may break W1 and W2, and a list may lead back to one of
// its nodes. A walk that came along the list ends there, since that node has another
// previous sibling. A walk that came to the node past a lost one does not. So from then on
// each of its steps is a slow one, which ends it if it meets a tortoise.
//
// None of this says that a node is live. Nodes are removed without the Forest's
// knowledge; each step finds that out when it looks up their handles.
type walk[T any] struct {
	f    *Forest[T]
	g    pool.Guard[T] // pinned for the length of the walk
	top  pool.Handle[T]
	deep bool // to all descendants, not to the children alone
	slow bool // every step is a slow one: the walk has come past a lost node
	ring tortoise[T]

	began uint64 // a node is old if its stamp is not greater
	seen  uint64 // the version at the last step

	// at was yielded last, or is top. Its links stay readable, whatever became of it. It
	// stood level levels below top, and below parent.
	at, parent pool.Handle[T]
	links      *words[T]
	level      int

	// path is the path down from top to at: the node at each level from 1. Its last place
	// is at's if at stands as deep or deeper.
	path [levels]place[T]
}

// place is a walk's position in a list of siblings.
type place[T any] struct {
	at   pool.Handle[T]
	next pool.Handle[T] // the sibling that followed at when the walk yielded it
}

const (
	// levels is how many places a walk keeps. With more, a walk that loses a node far
	// below its top omits less. Each takes 16 bytes, and every walk begins by zeroing
	// them.
	levels = 16

	// attempts is how often a step is tried before it is taken under the lock, where it
	// delays writers and they delay it.
	attempts = 4
)

// found is where a step leads.
type found[T any] struct {
	h            pool.Handle[T] // 0: to the end
	v            *T
	links        *words[T]
	next, parent pool.Handle[T]
	level        int
}

// begin starts at top and reports whether top is live.
func (w *walk[T]) begin() bool {
	w.at, w.links = w.top, w.f.look(&w.g, w.top)
	if w.links == nil {
		return false
	}
	if w.began = w.f.version.Load(); w.began%2 == 1 {
		w.f.mu.Lock()
		w.began = w.f.version.Load()
		w.f.mu.Unlock()
	}
	w.seen, w.ring = w.began, newTortoise(w.top)
	return true
}

// step moves to the next node, and returns nil at the end.
//
// This is the fast half, which runs when nothing has changed since the step before. It
// repeats part of stepSlow so that the compiler inlines the look-up, which makes a walk
// over nodes in the cache three times as fast.
func (w *walk[T]) step() (pool.Handle[T], *T) {
	if w.slow {
		return w.stepSlow()
	}
	at, links, level := w.at, w.links, w.level+1
	var to, prev, parent pool.Handle[T]
	if w.deep || level == 1 {
		to, parent = load[T](&links.first), at
	}
	for to == 0 {
		if level--; level > 0 {
			to, prev, parent = load[T](&links.next), at, load[T](&links.parent)
		}
		if w.f.version.Load() != w.seen {
			return w.stepSlow()
		}
		if to != 0 {
			break
		}
		if level <= 1 {
			return 0, nil
		}
		at = parent
		if links = w.f.look(&w.g, at); !w.old(links) {
			return w.stepSlow()
		}
	}
	if v, ok := w.g.Get(to); ok && to != w.top {
		l := w.f.links(v)
		if l == nil {
			panic(noLinks)
		}
		links := &l.Words
		next := load[T](&links.next)
		if load[T](&links.prev) == prev && load[T](&links.parent) == parent && links.stamp.Load() <= w.began &&
			w.f.version.Load() == w.seen {
			w.at, w.parent, w.links, w.level = to, parent, links, level
			w.path[min(uint(level), levels-1)] = place[T]{to, next}
			return to, v
		}
	}
	return w.stepSlow()
}

// stepSlow is step at the end of a list, beside changes, and past a lost node.
func (w *walk[T]) stepSlow() (pool.Handle[T], *T) {
	to, version, ok := w.attempt()
	for n := 1; !ok; n++ {
		if n == attempts {
			to, version = w.undisturbed()
			break
		}
		to, version, ok = w.attempt()
	}
	if to.h == 0 || w.slow && w.ring.meets(to.h) {
		return 0, nil
	}
	w.at, w.parent, w.links, w.level, w.seen = to.h, to.parent, to.links, to.level, version
	w.path[min(to.level, levels-1)] = place[T]{to.h, to.next}
	return to.h, to.v
}

// attempt searches for the next node, and fails if links change meanwhile.
func (w *walk[T]) attempt() (to found[T], version uint64, ok bool) {
	if version = w.f.version.Load(); version%2 == 1 {
		return to, version, false
	}
	to, ok = w.look(version)
	return to, version, ok && w.f.version.Load() == version
}

// undisturbed searches for the next node under the lock, which excludes changes.
func (w *walk[T]) undisturbed() (to found[T], version uint64) {
	w.f.mu.Lock()
	defer w.f.mu.Unlock() // also if the function that finds links panics
	version = w.f.version.Load()
	to, _ = w.look(version)
	return to, version
}

// old reports whether a node has kept its place since the walk began; links is nil if it
// is not live. Its ancestors may have lost theirs.
func (w *walk[T]) old(links *words[T]) bool {
	return links != nil && links.stamp.Load() <= w.began
}

// look searches for the next node at the given version. It fails only if the version has
// changed.
//
// It climbs from at to top. An old node on the path leads to its next sibling, at to its
// first child before that. A node that has lost its place leads to the sibling that
// followed it, if that one has kept its own place: since the last step if the node is at,
// which a loop's body often removes, and since the walk began if it is an ancestor. Below
// the levels of path the parent of such an ancestor is not known.
func (w *walk[T]) look(version uint64) (to found[T], ok bool) {
	h, level, kept := w.at, w.level, w.seen
	if level == 0 {
		return w.among(version, 1, h, 0, load[T](&w.links.first))
	}
	for ; level > 0; level, kept = level-1, w.began {
		ok = true
		p := &w.path[min(level, levels-1)]
		if links := w.f.look(&w.g, h); w.old(links) {
			if w.deep && h == w.at {
				to, ok = w.among(version, level+1, h, 0, load[T](&links.first))
			}
			parent := load[T](&links.parent)
			if ok && to.h == 0 {
				to, ok = w.among(version, level, parent, h, load[T](&links.next))
			}
			h = parent
		} else {
			if next := w.f.look(&w.g, p.next); p.at == h && next != nil && next.stamp.Load() <= kept {
				w.slow = true
				to, ok = w.among(version, level, load[T](&next.parent), load[T](&next.prev), p.next)
			}
			if h == w.at {
				h = w.parent
			} else {
				level = min(level, levels-1)
				h = w.path[level-1].at
			}
		}
		if !ok || to.h != 0 {
			break
		}
	}
	return to, ok
}

// among searches for an old node in a list of siblings from h on, whose previous sibling
// must be prev. The list ends at a node that is dead, or does not agree with the one
// before.
func (w *walk[T]) among(version uint64, level int, parent, prev, h pool.Handle[T]) (to found[T], ok bool) {
	for first := h; h != 0 && h != w.top; {
		v, links := w.f.find(&w.g, h)
		if links == nil || load[T](&links.parent) != parent || load[T](&links.prev) != prev {
			break
		}
		next := load[T](&links.next)
		if links.stamp.Load() <= w.began {
			return found[T]{h, v, links, next, parent, level}, true
		}
		if w.f.version.Load() != version {
			return to, false
		}
		if prev, h = h, next; h == first {
			break
		}
	}
	return to, true
}
