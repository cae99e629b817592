package dense

import (
	"slices"

	"coatcheck/pool"
	"coatcheck/pool/internal/moves"
)

// SortFunc sorts Values by cmp, as [slices.SortStableFunc] does. Handles stay valid, and killed
// values stay killed. Values created in this phase are not in Values yet. Refresh keeps the
// order, unless Options.Unordered is set, and adds new values behind.
//
// Like Refresh, SortFunc must have the Store to itself. What Values, Handles and Pointer have
// returned becomes invalid. cmp may read the Store. If cmp panics, the order stays as it was.
//
// SortFunc calls cmp O(n log n) times, or about n times if the values are in order already. Each
// value that changes its place moves once. Meanwhile it takes 4 bytes a value.
func (s *Store[T]) SortFunc(cmp func(a, b *T) int) {
	s.phase.begin("SortFunc")
	defer s.phase.end()
	d := s.room.Load()
	values, handles := d.values[:s.alive], d.handles[:s.alive]
	order := make([]uint32, len(values)) // order[i] is the position of the value that goes to i
	for i := range order {
		order[i] = uint32(i)
	}
	s.phase.let(func() {
		slices.SortFunc(order, func(a, b uint32) int {
			if c := cmp(&values[a], &values[b]); c != 0 {
				return c
			}
			return int(a) - int(b)
		})
	})
	killed := s.unmark(d, 0, len(order))
	d.permute(values, handles, order, s.moved())
	d.kill(killed)
	s.tell()
}

// permute moves the value at order[i] to position i, for each i, with its handle. No value has a mark. It
// overwrites order, and notes each step in moved unless that is nil.
func (d *room[T]) permute(values []T, handles []pool.Handle[T], order []uint32, moved *movedValues[T]) {
	var value T
	var handle pool.Handle[T]
	moves.Cycles(order, func(src, dst int) {
		h := handle
		if src < len(handles) {
			h = handles[src]
		}
		if moved != nil {
			moved.move(h, src, dst, len(handles)+1)
		}
		if dst == len(handles) {
			value, handle = values[src], h
			return
		}
		if src == len(handles) {
			values[dst] = value
		} else {
			values[dst] = values[src]
		}
		handles[dst] = h
		setPosition(d.slots, h.Index(), dst)
	})
}
