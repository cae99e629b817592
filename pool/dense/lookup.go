package dense

import "coatcheck/pool"

// Pointer returns a pointer to the value that h names, and false if h is stale, zero, forged or
// another store's. It finds a created value at once, and a killed one until Refresh. The pointer
// is valid until the next Refresh, Clear, Grow, SortFunc or Trim.
//
// Any number of goroutines may call Pointer at once. It writes nothing. It costs two loads more than
// a look-up in a slice with generations.
func (s *Store[T]) Pointer(h pool.Handle[T]) (v *T, ok bool) {
	w := s.phase.enter("Pointer")
	d := s.room.Load()
	if i := uint(h.Index()); i < uint(len(d.slots)) {
		if sl := &d.slots[i]; sl.names(h.Generation()) {
			if position := uint(sl.position); position < uint(len(d.values)) {
				v, ok = &d.values[position], true
			} else {
				v, ok = d.pointer(h)
			}
		}
	} else {
		v, ok = d.pointer(h)
	}
	s.phase.leave("Pointer", w)
	return v, ok
}

// Get returns a copy of the value that h names, and false if there is none, as [Store.Pointer]
// does. A goroutine that writes the value meanwhile must synchronize with Get.
func (s *Store[T]) Get(h pool.Handle[T]) (v T, ok bool) {
	ok = s.get(h, &v)
	return v, ok
}

// get copies the value to *dst. Get is inlined and passes the address of its result, so the value is
// copied only once.
func (s *Store[T]) get(h pool.Handle[T], dst *T) (ok bool) {
	w := s.phase.enter("Get")
	d := s.room.Load()
	var v *T
	if i := uint(h.Index()); i < uint(len(d.slots)) { // Pointer, spelled out
		if sl := &d.slots[i]; sl.names(h.Generation()) {
			if position := uint(sl.position); position < uint(len(d.values)) {
				v, ok = &d.values[position], true
			} else {
				v, ok = d.pointer(h)
			}
		}
	} else {
		v, ok = d.pointer(h)
	}
	if ok {
		*dst = *v
	}
	s.phase.leave("Get", w)
	return ok
}

// pointer finds values and slots in chunks too.
func (d *room[T]) pointer(h pool.Handle[T]) (*T, bool) {
	c, offset := d.look(h)
	if c == nil {
		return nil, false
	}
	return &c.values[offset], true
}

// look returns the part that has the value of h, and the offset in it, or nil if h names none.
func (d *room[T]) look(h pool.Handle[T]) (*part[T], int) {
	sl := d.slot(h.Index())
	if sl == nil || !sl.names(h.Generation()) {
		return nil, 0
	}
	return d.find(sl.position)
}

// Alive reports whether Pointer finds the value. It still does between a Kill and the next Refresh.
// [Store.State] tells alive and dead values apart.
func (s *Store[T]) Alive(h pool.Handle[T]) bool {
	w := s.phase.enter("Alive")
	d := s.room.Load()
	var alive bool
	if i := uint(h.Index()); i < uint(len(d.slots)) {
		alive = d.slots[i].names(h.Generation()) // then there is a value, wherever it is
	} else {
		alive = d.alive(h)
	}
	s.phase.leave("Alive", w)
	return alive
}

// alive finds slots in chunks too.
func (d *room[T]) alive(h pool.Handle[T]) bool {
	sl := d.slot(h.Index())
	return sl != nil && sl.names(h.Generation())
}

// State returns the state of the value: Alive, Dead if it was killed in this phase, or Unused if
// h names nothing. Another goroutine may kill the value right afterwards.
func (s *Store[T]) State(h pool.Handle[T]) (st State) {
	w := s.phase.enter("State")
	d := s.room.Load()
	if i := uint(h.Index()); i < uint(len(d.slots)) {
		if sl := &d.slots[i]; sl.names(h.Generation()) {
			if position := uint(sl.position); position/64 < uint(len(d.dead.words)) && position < uint(len(d.values)) {
				st = Alive
				if d.dead.words[position/64].Load()>>(position%64)&1 != 0 {
					st = Dead
				}
			} else {
				st = d.state(h)
			}
		}
	} else {
		st = d.state(h)
	}
	s.phase.leave("State", w)
	return st
}

// state finds slots and values in chunks too.
func (d *room[T]) state(h pool.Handle[T]) State {
	switch c, offset := d.look(h); {
	case c == nil:
		return Unused
	case c.dead.contains(offset):
		return Dead
	}
	return Alive
}

// Kill marks the value that h names as dead, and reports whether this call did so. It returns
// true to exactly one caller, and false if h names nothing. The value and its handle stay valid
// until Refresh, which destroys them.
//
// Any number of goroutines may kill at once. Kill costs one locked instruction, and one more for
// the first value that dies among 64 neighbours.
func (s *Store[T]) Kill(h pool.Handle[T]) (killed bool) {
	w := s.phase.enterChange("Kill")
	d := s.room.Load()
	if i := uint(h.Index()); i < uint(len(d.slots)) {
		if sl := &d.slots[i]; sl.names(h.Generation()) {
			if position := uint(sl.position); position < uint(len(d.values)) {
				killed = d.dead.add(int(position))
			} else {
				killed = d.killOne(h)
			}
		}
	} else {
		killed = d.killOne(h)
	}
	s.phase.leave("Kill", w)
	return killed
}

// killOne marks the value of h, also in chunks, and reports whether it had no mark.
func (d *room[T]) killOne(h pool.Handle[T]) bool {
	c, offset := d.look(h)
	return c != nil && c.dead.add(offset)
}

// DeleteFunc kills each of Values for which del returns true, and returns how many it killed. Like
// Kill it only marks them: they leave at the next Refresh. del does not see values that are dead
// already, nor those created in this phase.
//
// Any number of goroutines may call DeleteFunc at once. It visits all of Values, without a look-up
// for each. del may call the methods that a phase allows. If del panics, what it has chosen stays
// killed.
func (s *Store[T]) DeleteFunc(del func(h pool.Handle[T], v *T) bool) (killed int) {
	w := s.phase.enterChange("DeleteFunc")
	d, n := s.room.Load(), s.alive
	s.phase.leave("DeleteFunc", w)
	values, handles := d.values[:n], d.handles[:n]
	for i := range values {
		if d.dead.contains(i) {
			continue
		}
		chosen := del(handles[i], &values[i])
		s.phase.leave("DeleteFunc", w)
		if chosen && d.dead.add(i) {
			killed++
		}
	}
	return killed
}
