package tree

import (
	"iter"

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
// A stretch of siblings is read at one moment: between two loads of the version that
// return the same even number (a sequence lock, after Lamport). A reading that changes
// have invalidated four times is repeated under the lock, which excludes changes. A
// stretch is short, so a loop that is left early has read little, and a reading seldom
// meets a change.
//
// A walk sees the past. Each node has the version at which it was last linked or
// unlinked. A walk knows the version at which it began. A node is old to it if it has
// kept its place since. A node put into a list is new, so the old nodes of a list are in
// the order that they had when the walk began. The initial order is this order, continued
// over all levels: each node before its children, or after them.
//
// A walk never goes back. On a stack it keeps all the siblings that it has read in each
// list on its path, and continues a list behind the last of them that is old still. It
// passes over those that are dead or new when it comes to them. Hence:
//
//	K1  What a walk yields is old, and each node on the path down to it was old when the
//	    walk came to it.
//	K2  It yields in the initial order, each node at most once. An old node stands in one
//	    list. A stretch begins behind all old nodes that were read in its list before.
//	K3  It ends. By K2 each stretch but a list's last has a node that no other has, and each
//	    takes a bounded number of readings, the last of which excludes changes. A reading
//	    stops when the version changes. While it does not, it goes forwards in a list.
//
// The tempting stretch begins behind the last node that was read, and is wrong if that
// node has been moved. To begin at the list's first node again is wrong if any node that
// was read is still there. Both are why a walk keeps what it has read.
//
// Three other walks were rejected: a list read whole made the first child of 1,000 cost 7.9 µs and
// 24 KB; one that reads a step at a time had to find its way when a node left under it; and budgets
// of steps.
//
// Links that were read from a file may break W1 and W2, and a list may lead back to one of
// its nodes. A reading ends there, since that node has another previous sibling.
//
// None of this says that a node is live. Nodes are removed without the Forest's
// knowledge; a walk finds that out when it looks up their handles.
type walk[T any] struct {
	top   pool.Handle[T]
	begun bool   // the first stretch has been read
	began uint64 // the version at which it was
}

// level is a list of siblings that a walk is in. The siblings that were read and may be old
// lie on a stack. A level's part of it ends where that of the next level begins.
type level[T any] struct {
	parent pool.Handle[T]
	start  int  // of its part of the stack
	next   int  // the sibling to come to, when the walk comes back
	over   bool // there are no more to read

	// The last sibling read, and its links. It may be dead. tail is nil before there is one.
	last pool.Handle[T]
	tail *words[T]
}

// order says which nodes a walk yields, and when.
type order uint8

const (
	childrenAlone order = iota
	parentsFirst
	parentsLast
)

func (f *Forest[T]) walk(top pool.Handle[T], how order) iter.Seq2[pool.Handle[T], *T] {
	return func(yield func(pool.Handle[T], *T) bool) {
		g := f.pin()
		defer g.Unpin() // also if the body panics
		w := walk[T]{top: top}
		var handles [32]pool.Handle[T]
		var lists [4]level[T]
		read, levels := handles[:0], append(lists[:0], level[T]{parent: top})
		at := 0 // the place in read of the node to come to
	walking:
		for {
			for i, h := range read[at:] {
				v, n := f.find(&g, h)
				if n == nil || n.stamp.Load() > w.began && !f.foreign(n) {
					continue // it is dead, or has left its place
				}
				if how == childrenAlone || n.first.Load() == 0 {
					if !yield(h, v) {
						return
					}
					continue
				}
				if how == parentsFirst && !yield(h, v) {
					return
				}
				l := &levels[len(levels)-1]
				if l.next = at + i + 1; l.over && l.next == len(read) && how == parentsFirst {
					// It is not needed any more, so a long chain makes no high stack.
					read, levels = read[:l.start], levels[:len(levels)-1]
				}
				at = len(read)
				levels = append(levels, level[T]{parent: h, start: at})
				read, at = f.more(&g, &w, &levels[len(levels)-1], read)
				continue walking
			}
			l := &levels[len(levels)-1]
			if !l.over {
				read, at = f.more(&g, &w, l, read)
				continue
			}
			h := l.parent
			read, levels = read[:l.start], levels[:len(levels)-1]
			if len(levels) == 0 {
				return
			}
			at = levels[len(levels)-1].next
			if how == parentsLast {
				if v, n := f.find(&g, h); n != nil && f.kept(n, w.began) && !yield(h, v) {
					return
				}
			}
		}
	}
}

// kept reports whether a node has kept its place since the walk that began at a version.
func (f *Forest[T]) kept(n *words[T], began uint64) bool {
	return n.stamp.Load() <= began || f.foreign(n)
}

// foreign reports whether the stamp of a node was copied here from another pool: only such
// a stamp is beyond the version.
func (f *Forest[T]) foreign(n *words[T]) bool {
	stamp := n.stamp.Load()
	return stamp > f.version.Load()
}

// more appends the next stretch of l, the last level, to read, and returns where it begins there.
// It reads the stretch at one moment. The list ends at a node that is dead, or does not agree with
// the one before. It does not contain the top.
func (f *Forest[T]) more(g *pool.Guard[T], w *walk[T], l *level[T], read []pool.Handle[T]) (_ []pool.Handle[T], from int) {
	var tail *words[T]
	var all []pool.Handle[T]
	f.moment(func(version uint64) {
		if !w.begun {
			w.began = version
		}
		was, prev, at := read, pool.Handle[T](0), pool.Handle[T](0)
		if l.tail != nil {
			was, prev, at = f.resume(g, w, l, read)
		}
		if prev == 0 {
			if n := f.look(g, l.parent); n != nil {
				at = load[T](&n.first)
			}
		}
		to, node, over := was, (*words[T])(nil), true
		top, began, parent, end := w.top, w.began, l.parent, len(was)+f.length(len(was)-l.start)
		for at != top {
			n := f.look(g, at)
			if n == nil || load[T](&n.parent) != parent || load[T](&n.prev) != prev || f.version.Load() != version {
				break
			}
			prev, at = at, load[T](&n.next)
			if n.stamp.Load() > began && !f.foreign(n) {
				continue
			}
			to, node = append(to, prev), n
			if len(to) == end && at != 0 {
				over = false
				break
			}
		}
		read, all, tail, l.over = was, to, node, over // stored once: the collector watches captured variables
	})
	w.begun = true
	if tail != nil {
		l.last, l.tail = all[len(all)-1], tail
	}
	return all, len(read)
}

// length returns how many siblings a stretch has where so many were read before: at first
// few, for loops that are left early, and then more, for those that are not.
func (f *Forest[T]) length(before int) int { return max(f.stretch, min(before, 8*f.stretch)) }

// resume returns where the next stretch of l begins: at the node at, behind prev, or with
// the first child if prev is 0. It drops
// the siblings read that are new or dead, from the last on. None of them will be old again.
//
// The last one may lead on even if it was removed behind the forest's back. The walk's
// guard keeps its links readable.
func (f *Forest[T]) resume(g *pool.Guard[T], w *walk[T], l *level[T], read []pool.Handle[T]) (_ []pool.Handle[T], prev, at pool.Handle[T]) {
	if l.tail != nil && f.kept(l.tail, w.began) {
		at = load[T](&l.tail.next)
		if n := f.child(g, l.parent, at); n != nil && load[T](&n.prev) == l.last {
			return read, l.last, at
		}
	}
	for len(read) > l.start {
		prev = read[len(read)-1]
		if n := f.look(g, prev); n != nil && f.kept(n, w.began) {
			return read, prev, load[T](&n.next)
		}
		read = read[:len(read)-1]
	}
	return read, 0, 0
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
