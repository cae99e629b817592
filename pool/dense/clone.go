package dense

import (
	"fmt"
	"slices"

	"coatcheck/pool"
	"coatcheck/pool/internal/snapshot"
)

// Clone returns a new Store with the same values in the same order, under the same handles, with
// options as for [New]. It promises what [ReadFrom] of a snapshot promises, without encoding anything, so T may
// be any type. Origin must be 0 or the original's; other options may differ. nil opts mean the
// defaults, not the original's options.
//
// Clone calls copy once for each value, in the order of Values: src points to it, and dst to a zero T. If
// copy is nil, it stands for *dst = *src; then slices, maps and pointers in values lead to what both stores
// share. copy may read the Store. If copy panics, the panic continues, and the Store is as it was.
//
// With Origin 0, both stores may go on, and neither accepts a handle that the other issues from then on, except
// by chance if a slot was used 65,536 times or more. With Origin set, both issue and accept equal
// handles, for games that roll back. The clone also has the jumps that slots of a copy have yet to make.
//
// Call Clone between two phases. If anything was created or killed since the last Refresh, it returns
// an error. Like Refresh, it must have the Store to itself. OnMove functions do not come along. The error wraps
// pool.ErrFull if values exceed Capacity. Clone makes some ten allocations, however many values there are; the clone
// has no spare room.
func (s *Store[T]) Clone(opts *Options[T], copy func(dst, src *T)) (*Store[T], error) {
	c, err := build(opts, firstChunkBits(sizeOf[T]()), pool.MaxCapacity)
	if err != nil {
		return nil, err
	}
	s.phase.begin("Clone")
	defer s.phase.end()
	if err := s.cloneTo(c, copy); err != nil {
		return nil, snapshot.Named(fmt.Errorf("dense: %w", err), nameOf[T]())
	}
	return c, nil
}

// cloneTo makes c, which is new, a clone of s.
func (s *Store[T]) cloneTo(c *Store[T], copyValue func(dst, src *T)) error {
	d := s.room.Load()
	switch o := c.options.Origin; {
	case s.taken() > s.alive || !d.dead.empty():
		return fmt.Errorf("Clone: values were created or killed since the last Refresh; call it first")
	case o != 0 && s.origin%2 == 0:
		return fmt.Errorf("Options.Origin is %d; the original drew the generations at which it began", o)
	case o != 0 && o|1 != s.origin:
		return fmt.Errorf("Options.Origin is %d; the original's generations begin at %d", o, s.origin)
	case s.alive > c.capacity:
		return fmt.Errorf("Clone: %w: Options.Capacity is %d: there are %d values", pool.ErrFull, c.options.Capacity, s.alive)
	}
	l := loader[T]{store: c, room: makeRoom[T](s.alive, make([]slot, s.used), &c.sizes)}
	d.copySlots(l.room.slots)
	copy(l.room.handles, d.handles)
	if copyValue == nil {
		copy(l.room.values, d.values)
	} else {
		s.phase.let(func() {
			for i := range l.room.values {
				copyValue(&l.room.values[i], &d.values[i])
			}
		})
	}
	l.waiting = slices.Clone((*s.waiting.Load())[:s.waits])
	slices.Reverse(l.waiting)
	c.origin, c.origins, c.fresh, c.mirrors = s.origin, s.origins, s.fresh, s.mirrors
	if c.options.Origin == 0 {
		l.beginLine()
	} else {
		c.slotLimit, c.line = s.slotLimit, s.line.clone()
	}
	l.finish()
	return nil
}

// copySlots fills dst with slots: those of the array, and then those of the chunks.
func (d *room[T]) copySlots(dst []slot) {
	n := copy(dst, d.slots)
	for k := 0; n < len(dst); k++ {
		c := d.slotChunks.list[k].Load()
		if c == nil {
			break // only after a call overlapped a Refresh
		}
		n += copy(dst[n:], *c)
	}
}

// clone returns a copy of l, which may be nil.
func (l *line) clone() *line {
	if l == nil {
		return nil
	}
	c := &line{limit: l.limit, live: makeMarks(64 * len(l.live.words))}
	for i := range l.live.offsets {
		c.keep(uint32(i))
	}
	return c
}
