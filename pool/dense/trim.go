package dense

import "coatcheck/pool"

// Trim gives memory back, and returns how many bytes. It frees spare room, the scratch of
// Refresh, and the slots above the highest index in use, with room for as many values. No
// handle becomes valid again. After [Store.Clear] it frees everything.
//
// Values keep their indexes. So after a peak a Store shrinks to the highest index that is
// still live, which may be far above Len.
//
// A slot that was given up starts, when it is needed again, above every generation that
// any of them had: it loses some of its 2^31 lives. Once any slot is exhausted, Trim
// frees spare room alone.
//
// It costs a copy of what stays. It moves the values, so like Refresh it must have the
// Store to itself, and what Values and Get have returned becomes invalid. Handles stay
// valid; created and killed values stay so.
func (s *Store[T]) Trim() int64 {
	s.phase.begin("Trim")
	defer s.phase.end()
	d := s.room.Load()
	n, has := s.used(), d.bytes(s.used())+int64(cap(s.leaving))*8
	s.leaving = nil
	if s.exhausted > 0 { // their indexes are not known
		s.room.Store(d.resized(n, n))
		return max(has-s.room.Load().bytes(n), 0)
	}
	taken := s.taken()
	n = 0
	var waiting []pool.Handle[T]
	for first, c := range d.parts(s.used()) {
		for i, h := range c.handles {
			switch p := first + i; {
			case p < taken:
				n = max(n, int(h.Index())+1)
			case p >= s.fresh:
			case int(h.Index()) < n: // n is final by now: the values come first
				waiting = append(waiting, h)
			default:
				s.first = max(s.first, h.Generation())
			}
		}
	}
	// Each index below n belongs to a value or waits, so there are n positions.
	s.fresh = n
	d = d.resized(n, n)
	copy(d.handles[taken:], waiting)
	s.room.Store(d)
	return max(has-d.bytes(n), 0) // one array may need more marks than its chunks did
}

// bytes returns the size of the array and the chunks for n positions.
func (d *room[T]) bytes(n int) (sum int64) {
	for _, c := range d.parts(n) {
		words := 0
		for _, level := range c.dead.levels {
			words += len(level)
		}
		sum += int64(len(c.values))*int64(sizeOf[T]()+16) + int64(words)*8
	}
	return sum
}
