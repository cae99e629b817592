package dense

import "coatcheck/pool"

// Trim gives memory back, and returns how many bytes: spare room, the scratch of Refresh,
// and the slots with indexes above those of all values, with the places of their values.
// No handle comes back to life. After [Store.Clear] that is everything.
//
// What lives keeps its index. So after a peak a Store becomes as small as the youngest
// index that lives lets it, and not as Len would.
//
// A slot that was given up goes on, when it is needed again, above the generation that any
// of them had: it loses some of its 2^31 lives. Once a slot has used up its own, Trim gives
// spare room back alone.
//
// It costs a copy of what stays. It moves the values, so it must have the Store to itself,
// as Refresh must, and ends what Values and Get have returned. Handles stay good; who was
// created or killed stays so.
func (s *Store[T]) Trim() int64 {
	s.phase.begin("Trim")
	defer s.phase.end()
	d := s.room.Load()
	n, has := s.used(), d.bytes(s.used())+int64(cap(s.leaving))*8
	s.leaving = nil
	if s.exhausted > 0 { // their indexes are known to nobody
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
			case int(h.Index()) < n: // known by now: the values' positions come first
				waiting = append(waiting, h)
			default:
				s.first = max(s.first, h.Generation())
			}
		}
	}
	// Every index below n is a value's or waits, so the positions below n are as many.
	s.fresh = n
	d = d.resized(n, n)
	copy(d.handles[taken:], waiting)
	s.room.Store(d)
	return max(has-d.bytes(n), 0) // marks of one array may be more than those of chunks
}

// bytes returns how much memory the array and the chunks for n positions take.
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
