package dense

import "coatcheck/pool"

// Refresh ends a phase and begins the next. The values that were killed are shown to
// OnDestroy and leave, and their handles are refused from then on, for ever; the others
// close up, in order unless Options.Unordered; those that were created and not killed
// follow them. It returns how many were created and how many destroyed since the last
// Refresh, those that were both counted in both: Len changes by the difference.
//
// One goroutine calls it, and nobody else may call anything meanwhile. A call that
// overlaps it, or is made by OnDestroy, is noticed for certain and panics; so does a
// second Refresh at the same time. Such a program is wrong, and its store's contents are
// of no use afterwards: a value may be lost, another one dead, or one that Create was
// writing half written, which is what a data race on a T is, and no safer. The store's own
// bookkeeping stays within its memory. What Get and Values returned before ends here, and
// nobody can notice if it is used: it may show other values, or none.
//
// It costs O(dead + created + moved). Without dead values that is nothing, but for what was
// created beyond the array's spare room, which makes a larger array. With dead ones,
// values are moved from the first gap on, whole runs at a time, and each has its position
// changed behind its handle; under Unordered, as many move as there are gaps. Dead values
// are found in order, without sorting. It allocates when the array grows, to twice the
// size, or half as much again from 4,096 on; and scratch, 8 bytes for each value of the
// phase in which most have died, kept from then on. Where a slot's generations are used up
// it costs a look at the handles that wait.
//
// If OnDestroy panics, the values that it has seen leave, the one at which it panicked
// included, and everything else closes up and joins as always; those that it has not seen
// are still there in Values, dead, and it will see them in the next Refresh. The panic goes
// on up. So does runtime.Goexit.
func (s *Store[T]) Refresh() (created, destroyed int) {
	s.phase.begin("Refresh")
	defer s.phase.end()
	return s.refresh()
}

// Clear kills every value and refreshes: OnDestroy sees them all, all handles are refused, and
// Len is 0. It must have the Store to itself, as Refresh must, and treats panics alike.
// Memory stays for the next values; a [Store.Trim] after it gives back all.
func (s *Store[T]) Clear() {
	s.phase.begin("Clear")
	defer s.phase.end()
	n := s.taken()
	for first, c := range s.room.Load().parts(n) {
		c.dead.fill(min(n-first, len(c.values)))
	}
	s.refresh()
}

// refresh does what Refresh does, in a Store that the caller has for itself.
func (s *Store[T]) refresh() (created, destroyed int) {
	d, n := s.settle()
	seen := 0 // positions below it have been shown to OnDestroy, if they are dead
	defer func() {
		var unseen []pool.Handle[T]
		if seen < n { // OnDestroy has not returned
			unseen = d.spare(seen, n)
		}
		created, destroyed = s.closeUp(d, n)
		for _, h := range unseen {
			if c, at := d.look(h); c != nil {
				c.dead.add(at)
			}
		}
	}()
	if s.options.OnDestroy != nil {
		for i := range d.dead.all {
			if i >= n {
				break // see closer
			}
			seen = i + 1
			s.options.OnDestroy(d.handles[i], &d.values[i])
		}
	}
	seen = n
	return
}

// settle moves what lies in chunks to a larger array. It returns the room, which then
// has everything in its array, and how many positions there are.
func (s *Store[T]) settle() (*room[T], int) {
	d, n, used := s.room.Load(), s.taken(), s.used()
	has := len(d.values)
	if used <= has {
		return d, n
	}
	// The array will have room for what this phase had at its peak, at least: the next
	// one may be like it, and must not go to chunks again.
	more := has
	if has >= 4096 {
		more = has / 2
	}
	d = d.resized(min(max(used, has+more, s.least), d.most), used)
	s.room.Store(d)
	return d, n
}

// spare takes the marks off the dead at positions from first to n, and returns their
// handles.
func (d *room[T]) spare(first, n int) (hs []pool.Handle[T]) {
	for i := range d.dead.all {
		if i >= first && i < n {
			hs = append(hs, d.handles[i])
			d.dead.remove(i)
		}
	}
	return hs
}
