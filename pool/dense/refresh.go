package dense

import "coatcheck/pool"

// Refresh ends a phase and begins the next. It calls OnDestroy for each killed value,
// then removes these values; their handles are refused from then on. The other values
// close up, in order unless Options.Unordered, and those created in the phase follow
// them. It returns how many were created and how many destroyed since the last Refresh. A
// value that was both counts in both, so Len changes by the difference.
//
// No other call may run meanwhile, except that OnDestroy and OnMove may read the store. A call
// that overlaps Refresh panics, and so does a second Refresh at the same time; only one that
// reads, and lies within a call of OnDestroy or OnMove, does not. Such a program is wrong, and its
// store's contents are of no use afterwards: a value may be lost, dead, or half written, as
// after any data race on a T. The store's own bookkeeping stays within its memory.
//
// Slices and pointers that the store returned before are invalid from here on, which
// nothing can detect: they may show other values, or none.
//
// It costs O(dead + created + moved), and a load for each 4,096 values. Without dead ones
// that is all, unless values were created beyond the array's spare room, which makes a
// larger array. With dead ones, whole runs of values move down from the first gap on, and
// the position of each changes in its slot. Under Unordered, as many values move as there
// are gaps. Dead values are found in order, without sorting.
//
// It allocates when the array grows, to twice its size, or by half from 4,096 values on, and when
// more slots wait to be reused than ever before, 4 bytes each.
//
// If OnDestroy panics, the values up to the one at which it panicked leave, and
// everything else closes up and joins as always. The dead values that OnDestroy has not
// seen stay in Values, dead, and it sees them in the next Refresh. The panic continues to
// the caller. The same holds for runtime.Goexit. If OnMove panics or exits, all is done as always,
// but OnMove is not called again.
func (s *Store[T]) Refresh() (created, destroyed int) {
	s.phase.begin("Refresh")
	defer s.phase.end()
	return s.refresh()
}

// Clear kills every value and refreshes: OnDestroy sees them all, all handles are
// refused, and Len is 0. Like Refresh it must have the Store to itself, and panics have
// the same effect. It keeps the memory for the next values; [Store.Trim] gives it back.
func (s *Store[T]) Clear() {
	s.phase.begin("Clear")
	defer s.phase.end()
	n := s.taken()
	for first, c := range s.room.Load().parts(n) {
		for i := range min(n-first, len(c.values)) {
			c.dead.add(i)
		}
	}
	s.refresh()
}

// refresh is Refresh for a caller that has the Store to itself.
func (s *Store[T]) refresh() (created, destroyed int) {
	n := s.taken()
	seen := 0 // OnDestroy has seen the dead at positions below it
	defer func() { created, destroyed = s.finish(n, seen) }()
	if s.options.OnDestroy != nil {
		s.phase.let(func() {
			for first, c := range s.room.Load().parts(n) {
				for i := range c.dead.all {
					if first+i >= n {
						break // see closer.marked
					}
					seen = first + i + 1
					s.options.OnDestroy(c.handles[i], &c.values[i])
				}
			}
		})
	}
	seen = n
	return
}

// finish is the part of refresh after OnDestroy.
func (s *Store[T]) finish(n, seen int) (created, destroyed int) {
	d := s.settle()
	var unseen []pool.Handle[T]
	if seen < n { // OnDestroy panicked or exited
		unseen = d.spare(seen, n)
	}
	defer func() { // also if OnMove panics or exits
		created, destroyed = s.closeUp(d, n)
		d.kill(unseen)
	}()
	if s.options.OnMove != nil {
		s.phase.let(func() { s.tell(d, n) })
	}
	return
}

// settle moves what lies in chunks to larger arrays, and returns the room, whose arrays
// then have every position and every slot.
func (s *Store[T]) settle() *room[T] {
	d := s.room.Load()
	_, fresh := s.claimed()
	n, m := s.taken(), s.used+fresh
	if n > len(d.values) {
		n = min(max(n, s.grown(len(d.values))), s.capacity)
	}
	if m > len(d.slots) {
		// As many as the values need, unless a snapshot had more.
		m = max(m, min(s.grown(len(d.slots)), int(s.limit)+s.exhausted))
	}
	return s.resize(n, m)
}

// grown returns the length of an array that grows from n. It gets room for at least the
// peak of this phase: the next may be like it, and should not need chunks again.
func (s *Store[T]) grown(n int) int {
	if n >= 4096 {
		return n + n/2
	}
	return max(2*n, 1<<s.least)
}

// resize makes room for n values and m slots if there is less, and returns the room. If it
// makes any, both arrays also get what lies in chunks.
func (s *Store[T]) resize(n, m int) *room[T] {
	d := s.room.Load()
	if n > len(d.values) || m > len(d.slots) {
		_, fresh := s.claimed()
		taken, used := s.taken(), s.used+fresh
		d = d.resized(max(n, len(d.values), taken), max(m, len(d.slots), used), taken, used, &s.sizes)
		s.room.Store(d)
	}
	return d
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

// kill marks the values of hs.
func (d *room[T]) kill(hs []pool.Handle[T]) {
	for _, h := range hs {
		if c, at := d.look(h); c != nil {
			c.dead.add(at)
		}
	}
}
