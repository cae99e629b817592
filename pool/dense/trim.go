package dense

import (
	"slices"

	"coatcheck/pool/internal/handle"
)

// Trim gives memory back to the Go heap, and returns the number of bytes. It frees spare room for
// values, and the slots above the highest index in use. After [Store.Clear] it frees everything.
// No handle becomes valid again.
//
// Values keep their indexes. So after a peak, each index up to the highest in use still takes 8
// bytes, and 4 more if it names no value. A slot that Trim frees loses some of its lives when it
// is needed again. Trim never frees an exhausted slot, nor any slot of a Store in which CreateAt has
// created values: it would forget which handles there have passed.
//
// Trim copies what stays, and needs memory for the copy. Like Refresh, it must have the Store to
// itself, and what Values, Handles and Pointer have returned becomes invalid. Handles stay valid, and
// created and killed values stay so.
func (s *Store[T]) Trim() int64 {
	s.phase.begin("Trim")
	defer s.phase.end()
	d := s.room.Load()
	taken := s.taken()
	_, fresh := s.claimed()
	used := s.used + fresh
	size := d.bytes(taken, used) + 4*int64(len(*s.waiting.Load())) + int64(sizeOf[movedValue[T]]())*int64(cap(s.notes))
	s.notes = nil

	top := s.top(d, taken, used)
	waiting := slices.DeleteFunc((*s.waiting.Load())[:s.waits], func(index uint32) bool {
		if int(index) < top {
			return false
		}
		s.fresh = max(s.fresh, s.origins.Stage(index, d.slots[index].generation.Load())+1)
		return true
	})
	waiting = slices.Clip(slices.Clone(waiting))
	s.used -= s.waits - len(waiting) // to top, unless new slots were claimed: then all others are taken
	s.waits, s.ranked = len(waiting), 0
	s.waiting.Store(&waiting)
	if taken < len(d.values) || top < len(d.slots) || taken+used > len(d.values)+len(d.slots) {
		d = d.resized(taken, top, taken, top, &s.sizes)
		s.room.Store(d)
	}
	return size - d.bytes(0, 0) - 4*int64(len(waiting)) // the arrays have all of it
}

// top returns how many slots Trim keeps: up to the highest index of a slot that has a value or is
// exhausted, or that is so worn that new slots could not begin after it. If CreateAt has created values, it
// keeps all.
func (s *Store[T]) top(d *room[T], taken, used int) (top int) {
	if s.mirrors {
		return used
	}
	for first, c := range d.parts(taken) {
		for _, h := range c.handles[:min(len(c.handles), taken-first)] {
			top = max(top, int(h.Index())+1)
		}
	}
	for _, index := range (*s.waiting.Load())[:s.waits] {
		if s.origins.Stage(index, d.slots[index].generation.Load()) >= s.origins.LastStage() {
			top = max(top, int(index)+1)
		}
	}
	if s.exhausted == 0 {
		return top
	}
	for index := used - 1; index >= top; index-- {
		if sl := d.slot(uint32(index)); sl != nil && sl.generation.Load() == handle.Last+1 { // nil: a call overlapped a Refresh
			return index + 1
		}
	}
	return top
}

// bytes returns how many bytes the arrays and chunks take that have n positions and m slots.
func (d *room[T]) bytes(n, m int) (sum int64) {
	for _, c := range d.parts(n) {
		sum += int64(len(c.values))*int64(sizeOf[T]()+8) + 8*int64(len(c.dead.words)+len(c.dead.summary))
	}
	slots := len(d.slots)
	for k := 0; slots < m; k++ {
		c := d.slotChunks.list[k].Load()
		if c == nil {
			break // only after a call overlapped a Refresh
		}
		slots += len(*c)
	}
	return sum + 8*int64(slots)
}
