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
	from := make([]uint32, len(values)) // from[i] is the position of the value that goes to i
	for i := range from {
		from[i] = uint32(i)
	}
	s.phase.let(func() {
		slices.SortFunc(from, func(a, b uint32) int {
			if c := cmp(&values[a], &values[b]); c != 0 {
				return c
			}
			return int(a) - int(b)
		})
	})
	killed := s.spare(d, 0, len(from))
	d.permute(values, handles, from, s.moved())
	d.kill(killed)
	s.tell()
}

// permute moves the value at from[i] to position i, for each i, with its handle. None has a mark. It
// overwrites from, and notes the steps in moved, if it is not nil.
func (d *room[T]) permute(values []T, handles []pool.Handle[T], from []uint32, moved *movedValues[T]) {
	var value T
	var handle pool.Handle[T]
	moves.Cycles(from, func(from, to int) {
		h := handle
		if from < len(handles) {
			h = handles[from]
		}
		if moved != nil {
			moved.move(h, from, to, len(handles)+1)
		}
		if to == len(handles) {
			value, handle = values[from], h
			return
		}
		if from == len(handles) {
			values[to] = value
		} else {
			values[to] = values[from]
		}
		handles[to] = h
		place(d.slots, h.Index(), to)
	})
}
