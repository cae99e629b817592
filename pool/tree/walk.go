package tree

import "coatcheck/pool"

// A walk goes through the children of a node, or all its descendants, while others
// change the forest.
//
// The naive walk follows the links, each of which is read atomically, and goes wrong
// all the same. It stands on a; a is moved; now a.next leads through another list, and
// out of that it climbs to another parent. If a is moved to the end of its own list
// each time the walk comes by, the walk never ends. A writer need not be hostile for
// that, only busy.
//
// Two things prevent it.
//
// A step is taken at one moment. It reads the links between two loads of the Forest's
// version, and counts only if both answer the same even number (a sequence lock, after
// Lamport). A step that changes have spoilt a few times is taken under the Forest's
// lock, where there are none. So every step is one that the tree allowed as it stood.
//
// A walk sees the past. Every node has the version at which it was linked or unlinked
// last. A walk knows the version at which it began, and passes over what was linked
// since. What is left of a list of siblings is a part of the list that stood when the
// walk began, in the same order, because whatever is put into a list is new. Hence:
//
//	K1  What a walk yields was there when it began. It went down to it from the top,
//	    and each node on the way was in its place then, and had been since the
//	    beginning.
//	K2  What it yields comes in the order in which it stood then, each node at most
//	    once: a step goes from an old node to an old node that stood behind it.
//	K3  It ends. By K2 there are at most as many steps as there were nodes, and each
//	    takes a bounded number of attempts, the last of which nobody can spoil.
//	    An attempt gives up when the version changes, and in a forest that stands
//	    still it goes forwards in a list whose members agree (W1, W2), or upwards the
//	    way that it came down.
//
// What remains is to find on when the node that was yielded last has gone from its
// place in between: the body of a loop may well do that to every node it gets. The walk
// then goes on behind the last of those it has yielded that are still in their places.
// See resume, retrace and outside.
//
// Nothing here says that a node lives. Nodes are removed without the Forest's knowledge;
// they are found out by looking their handles up, in each step.
type walk[T any] struct {
	f    *Forest[T]
	g    pool.Guard[T] // pinned for the length of the walk
	top  pool.Handle[T]
	deep bool // the walk enters the nodes that it yields

	began uint64 // stamps up to this are of what stood when the walk began
	seen  uint64 // the version at the last step

	// at was yielded last, or is top. Its links are good whatever became of it.
	at    pool.Handle[T]
	links *words[T]

	// next and parent are what its links were then.
	next, parent pool.Handle[T]

	// trail has what was yielded last, a ring. lost says that something has left it
	// that was in its place at that time.
	trail [trailed]pool.Handle[T]
	steps uint
	lost  bool

	// child is the child of top that was yielded last, and behind what followed it then:
	// where a walk goes on that has lost its trail.
	child, behind pool.Handle[T]
}

const (
	// trailed is how many of the nodes that it has yielded a walk remembers. With more,
	// it takes a larger cut to end a walk early; each takes 8 bytes, and every walk
	// begins by zeroing them.
	trailed = 16

	// attempts is how often a step is tried before it is taken under the lock, where it
	// holds up whoever changes the forest, and is held up by them.
	attempts = 4
)

// found is where a step leads.
type found[T any] struct {
	h            pool.Handle[T] // 0: to the end
	v            *T
	links        *words[T]
	next, parent pool.Handle[T]
}

// begin sets out from top and answers whether that is live.
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
	w.seen = w.began
	return true
}

// step goes on to the next node, and answers with nil at the end.
//
// This is the half of it that is taken nearly always, when nothing has changed since the
// step before: stepSlow in short, written out so that the compiler puts the look-up in
// its place, which makes a walk over what lies in the cache three times as fast.
func (w *walk[T]) step() (pool.Handle[T], *T) {
	at, links := w.at, w.links
	var to, prev, parent pool.Handle[T]
	if w.deep || at == w.top {
		to, parent = load[T](&links.first), at
	}
	for to == 0 {
		if at != w.top {
			to, prev, parent = load[T](&links.next), at, load[T](&links.parent)
		}
		if w.f.version.Load() != w.seen {
			return w.stepSlow()
		}
		if to != 0 {
			break
		}
		if at == w.top || parent == w.top {
			return 0, nil
		}
		at = parent
		if links = w.f.look(&w.g, at); !w.stays(links) {
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
			if w.steps >= trailed && !w.lost {
				w.leave(w.seen)
			}
			w.at, w.links, w.next, w.parent = to, links, next, parent
			w.trail[w.steps%trailed] = to
			w.steps++
			if parent == w.top {
				w.child, w.behind = to, next
			}
			return to, v
		}
	}
	return w.stepSlow()
}

// stepSlow is step at the end of a list, and among changes.
func (w *walk[T]) stepSlow() (pool.Handle[T], *T) {
	to, version, ok := w.attempt()
	for n := 1; !ok; n++ {
		if n == attempts {
			to, version = w.undisturbed()
			break
		}
		to, version, ok = w.attempt()
	}
	if to.h == 0 {
		return 0, nil
	}
	if w.steps >= trailed && !w.lost {
		w.leave(version)
	}
	w.at, w.links, w.next, w.parent, w.seen = to.h, to.links, to.next, to.parent, version
	w.trail[w.steps%trailed] = to.h
	w.steps++
	if to.parent == w.top {
		w.child, w.behind = to.h, to.next
	}
	return to.h, to.v
}

// attempt looks for the next node, and fails if links change meanwhile.
func (w *walk[T]) attempt() (to found[T], version uint64, ok bool) {
	if version = w.f.version.Load(); version%2 == 1 {
		return to, version, false
	}
	to, ok = w.look(version)
	return to, version, ok && w.f.version.Load() == version
}

// undisturbed looks for the next node while nobody changes anything.
func (w *walk[T]) undisturbed() (to found[T], version uint64) {
	w.f.mu.Lock()
	defer w.f.mu.Unlock() // also if the function that finds links panics
	version = w.f.version.Load()
	to, _ = w.look(version)
	return to, version
}

// leave notes what is about to leave the trail, if nothing has been lost before.
func (w *walk[T]) leave(version uint64) {
	// As long as nothing has changed everything is in its place.
	w.lost = version == w.began || w.stays(w.f.look(&w.g, w.trail[w.steps%trailed]))
}

// stays answers whether a node, nil if it is not live, is where it was when the walk
// began, as far as it can tell by itself: its ancestors may have gone with it.
func (w *walk[T]) stays(links *words[T]) bool {
	return links != nil && links.stamp.Load() <= w.began
}

// look looks for the next node at the given version. It fails only if that is over.
func (w *walk[T]) look(version uint64) (to found[T], ok bool) {
	if version == w.seen {
		// At's own links lead on, even if somebody has removed it behind the
		// forest's back: its neighbours still name it.
		return w.from(version, w.at, w.links, w.at == w.top || w.deep)
	}
	if w.at == w.top || w.stays(w.links) && w.f.look(&w.g, w.at) != nil {
		return w.from(version, w.at, w.links, w.at == w.top || w.deep)
	}
	return w.resume(version)
}

// from goes on from at: to its first child if it is to be entered, or else to its next
// sibling, or else to the next sibling of an ancestor.
func (w *walk[T]) from(version uint64, at pool.Handle[T], links *words[T], enter bool) (to found[T], ok bool) {
	for {
		if enter {
			to, ok = w.among(version, at, 0, load[T](&links.first))
		} else if at == w.top {
			return found[T]{}, true
		} else {
			to, ok = w.among(version, load[T](&links.parent), at, load[T](&links.next))
		}
		if !ok || to.h != 0 {
			return to, ok
		}
		if enter {
			enter = false
			continue
		}
		at = load[T](&links.parent)
		if at == w.top {
			return found[T]{}, true
		}
		if links = w.f.look(&w.g, at); !w.stays(links) {
			if w.f.version.Load() != version {
				return found[T]{}, false
			}
			return w.retrace(version)
		}
	}
}

// among looks for an old node in a list of siblings from h on, which is to stand behind
// prev. The list ends where a node is dead, or does not agree with the one before.
func (w *walk[T]) among(version uint64, parent, prev, h pool.Handle[T]) (to found[T], ok bool) {
	for h != 0 && h != w.top {
		v, links := w.f.find(&w.g, h)
		if links == nil || load[T](&links.parent) != parent || load[T](&links.prev) != prev {
			break
		}
		next := load[T](&links.next)
		if links.stamp.Load() <= w.began {
			return found[T]{h, v, links, next, parent}, true
		}
		if w.f.version.Load() != version {
			return to, false
		}
		prev, h = h, next
	}
	return to, true
}

// resume goes on when at has gone from its place: with what followed it when it was
// yielded, if that is where it was, the next sibling or the end of its parent's list.
func (w *walk[T]) resume(version uint64) (to found[T], ok bool) {
	if w.next != 0 {
		v, links := w.f.find(&w.g, w.next)
		if w.stays(links) && load[T](&links.parent) == w.parent && w.next != w.top {
			return found[T]{w.next, v, links, load[T](&links.next), w.parent}, true
		}
	} else if w.parent == w.top {
		return found[T]{}, true
	} else if links := w.f.look(&w.g, w.parent); w.stays(links) {
		return w.from(version, w.parent, links, false)
	}
	return w.retrace(version)
}

// retrace goes on when what followed has gone as well, or an ancestor: behind the last
// node of the trail that stands where it stood, with all above it. Whatever was yielded
// after that node is gone, so if one of its descendants is in its place, it was not
// yielded (K2). If none is left of all that were yielded, that is at the beginning; if
// none is left of the trail, but one that left the trail may be, it goes on outside of
// where it was.
//
// What stands may still be removed between this look and the next, which brings from
// back here, but once for each node of the trail at most.
func (w *walk[T]) retrace(version uint64) (to found[T], ok bool) {
	for i := range min(w.steps, trailed) {
		h := w.trail[(w.steps-1-i)%trailed]
		links := w.f.look(&w.g, h)
		in, ok := w.below(version, links)
		if !ok {
			return to, false
		}
		if in {
			return w.from(version, h, links, w.deep)
		}
	}
	if w.lost {
		return w.outside(version)
	}
	links := w.f.look(&w.g, w.top)
	if links == nil {
		return found[T]{}, true
	}
	return w.from(version, w.top, links, true)
}

// below answers whether a node stands where it stood with all its ancestors up to top.
func (w *walk[T]) below(version uint64, links *words[T]) (in, ok bool) {
	for w.stays(links) {
		up := load[T](&links.parent)
		if up == w.top {
			return true, true
		}
		if links = w.f.look(&w.g, up); w.f.version.Load() != version {
			return false, false
		}
	}
	return false, true
}

// outside goes on when the trail is lost: with the next child of top. What was yielded
// last lay below the child before, so all that follows it was not yielded (K2).
func (w *walk[T]) outside(version uint64) (to found[T], ok bool) {
	if links := w.f.look(&w.g, w.child); w.stays(links) {
		return w.from(version, w.child, links, false)
	}
	if v, links := w.f.find(&w.g, w.behind); w.stays(links) && load[T](&links.parent) == w.top && w.behind != w.top {
		return found[T]{w.behind, v, links, load[T](&links.next), w.top}, true
	}
	return found[T]{}, true
}
