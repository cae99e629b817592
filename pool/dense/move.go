package dense

import "coatcheck/pool"

// None is the position of a value that is not in Values, for functions registered by OnMove.
const None = -1

// OnMove registers f, for a program that keeps an array beside Values. It returns a function that
// takes f back.
//
// When Refresh, Clear or SortFunc has changed the position of values, it calls f for each: with to
// = None if the value has gone, and from = None if it has joined. f moves the array's element at
// from to index to, or puts a new one there, and appends if to is the length. Each call may
// overwrite what is at to. SortFunc uses position Len for a while. Afterwards the elements from
// Len on are left over. Of values that were created and killed in one phase, f hears nothing.
//
// f may read the Store as [Options].OnDestroy may. If it panics, the rest of the calls are left
// out: the array is of no use, but the Store is whole. A store begins with an array of Len
// elements, one from [ReadFrom] too.
//
// Like Refresh, OnMove and what it returns must have the Store to themselves. While a function is
// registered, Refresh and SortFunc take 16 bytes for each value that they tell of.
func (s *Store[T]) OnMove(f func(h pool.Handle[T], from, to int)) (stop func()) {
	if f == nil {
		panic("dense: OnMove of a nil function")
	}
	s.phase.begin("OnMove")
	defer s.phase.end()
	remove := s.moves.Add(f)
	return func() {
		s.phase.begin("the function that OnMove returned")
		defer s.phase.end()
		remove()
	}
}

// movedValues notes, in order, what the OnMove functions will hear. They hear it when all values have
// moved, so a function that looks a value up finds it where it was told.
//
// The naive Store tells them before it moves anything. Then a function that looks a value up finds it
// elsewhere, and the Store has to work out all positions twice.
type movedValues[T any] []movedValue[T]

type movedValue[T any] struct {
	h        pool.Handle[T]
	src, dst uint32 // positions, or noPosition for None
}

// noPosition stands for None. Every position is less.
const noPosition = 1<<32 - 1

// moved returns the notes for a call that moves values, or nil if there are no OnMove functions.
func (s *Store[T]) moved() *movedValues[T] {
	if !s.moves.Any() {
		return nil
	}
	return &s.notes
}

// tell calls the OnMove functions for each note, and empties the notes.
func (s *Store[T]) tell() {
	if len(s.notes) == 0 {
		return
	}
	defer func() { s.notes = s.notes[:0] }() // also if a function panics
	position := func(p uint32) int {
		if p == noPosition {
			return None
		}
		return int(p)
	}
	s.phase.let(func() {
		for _, v := range s.notes {
			s.moves.Tell(v.h, position(v.src), position(v.dst))
		}
	})
}

// move notes that the value of h moves from position src to dst. If src is not below joined, the value is
// new in Values.
func (ms *movedValues[T]) move(h pool.Handle[T], src, dst, joined int) {
	old := uint32(src)
	if src >= joined {
		old = noPosition
	}
	*ms = append(*ms, movedValue[T]{h, old, uint32(dst)})
}

// moveAll notes that the values at positions from first to end move to dst and the positions behind it.
func (ms *movedValues[T]) moveAll(handles []pool.Handle[T], first, end, dst, joined int) {
	shift := first - dst
	if shift == 0 {
		first = joined // older values stay
	}
	for i := first; i < end; i++ {
		ms.move(handles[i], i, i-shift, joined)
	}
}

// joinAll notes that the values at position joined and behind are new in Values.
func (ms *movedValues[T]) joinAll(handles []pool.Handle[T], joined int) {
	if ms != nil {
		ms.moveAll(handles, joined, len(handles), joined, joined)
	}
}

// leaveAll notes that the values hs, at position first and behind, go. It omits those that never joined.
func (ms *movedValues[T]) leaveAll(hs []pool.Handle[T], first, joined int) {
	for i, h := range hs[:max(0, min(len(hs), joined-first))] {
		*ms = append(*ms, movedValue[T]{h, uint32(first + i), noPosition})
	}
}
