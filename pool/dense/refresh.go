package dense

import "coatcheck/pool"

// Refresh ends a phase and begins the next. It calls OnDestroy for each killed value and removes
// these values. The others close up, in order unless Options.Unordered, and those created in the
// phase follow. It returns how many were created and destroyed; a value that was both counts in
// both.
//
// Refresh must have the Store to itself, except that OnDestroy and functions of OnMove may read
// it. A call that overlaps it panics, and the contents are then of no use. Slices and pointers
// that the store returned before become invalid, which nothing can detect.
//
// Refresh costs O(dead + created + moved), and a load for each 4,096 values. It allocates when
// the array grows, and for slots that wait to be reused. If OnDestroy panics or exits, Refresh does
// the rest, but dead values that OnDestroy has not seen stay for the next Refresh.
func (s *Store[T]) Refresh() (created, destroyed int) {
	s.phase.begin("Refresh")
	defer s.phase.end()
	return s.refresh()
}

// Clear kills every value and refreshes, and returns how many values it destroyed. OnDestroy sees
// all values, all handles are refused, and Len is 0. Like Refresh, Clear must have the Store to itself, and panics have the same effect.
// It keeps the memory for new values; [Store.Trim] gives it back.
func (s *Store[T]) Clear() int {
	s.phase.begin("Clear")
	defer s.phase.end()
	n := s.taken()
	for first, c := range s.room.Load().parts(n) {
		for i := range min(n-first, len(c.values)) {
			c.dead.add(i)
		}
	}
	_, destroyed := s.refresh()
	return destroyed
}

// refresh destroys the killed values, closes up the others and lets the created ones join. The caller has
// the Store to itself.
func (s *Store[T]) refresh() (created, destroyed int) {
	n := s.taken()
	seen := 0 // OnDestroy has seen the dead at positions below it
	defer func() { created, destroyed = s.finish(n, seen) }()
	if s.options.OnDestroy != nil {
		s.phase.let(func() {
			for first, c := range s.room.Load().parts(n) {
				for i := range c.dead.offsets {
					if first+i >= n {
						break // see closer.marked
					}
					if s.isUnborn(c.handles[i]) {
						continue
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

// finish does what refresh has to do after the calls of OnDestroy, also if one of them panicked: OnDestroy
// has seen the marks at positions below seen.
func (s *Store[T]) finish(n, seen int) (created, destroyed int) {
	d := s.absorbChunks()
	var unseen []pool.Handle[T]
	if seen < n { // OnDestroy panicked or exited
		unseen = s.unmark(d, seen, n)
	}
	created, destroyed = s.closeUp(d, n)
	if unborn := int(s.unborn.Load()); unborn > 0 {
		created, destroyed = created-unborn, destroyed-unborn
		s.unborn.Store(0)
	}
	d.kill(unseen)
	s.tell()
	return
}

// isUnborn reports whether h, the handle of a claimed position, was never published because init panicked
// or exited. The caller has the Store to itself.
func (s *Store[T]) isUnborn(h pool.Handle[T]) bool {
	if s.unborn.Load() == 0 {
		return false
	}
	sl := s.room.Load().slot(h.Index())
	return sl != nil && !sl.names(h.Generation())
}

// absorbChunks moves what lies in chunks to larger arrays. It returns the room, whose arrays have every
// position and every slot then.
func (s *Store[T]) absorbChunks() *room[T] {
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

// grown returns the length to which an array of n elements grows. absorbChunks takes more if this phase
// needed more: the next phase may be like it, and should not need chunks again.
func (s *Store[T]) grown(n int) int {
	if n >= 4096 {
		return n + n/2
	}
	return max(2*n, 1<<s.chunkBits)
}

// resize makes arrays for n values and m slots if they are shorter, and returns the room. Larger arrays
// also get what lies in chunks.
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

// unmark removes the marks from position first on, up to n, and returns the handles of these values.
// Unborn positions keep their marks.
func (s *Store[T]) unmark(d *room[T], first, n int) (hs []pool.Handle[T]) {
	for i := range d.dead.offsets {
		if i >= first && i < n && !s.isUnborn(d.handles[i]) {
			hs = append(hs, d.handles[i])
			d.dead.remove(i)
		}
	}
	return hs
}

// kill marks the values of hs.
func (d *room[T]) kill(hs []pool.Handle[T]) {
	for _, h := range hs {
		d.killOne(h)
	}
}
