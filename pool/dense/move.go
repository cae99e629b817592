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

// movedValues notes what OnMove functions will be told, in order. They are told when all is done,
// so they find each value where it is.
//
// The naive Store tells before it moves: then a function that looks a value up finds it elsewhere,
// and the positions have to be found twice.
type movedValues[T any] []movedValue[T]

type movedValue[T any] struct {
	h        pool.Handle[T]
	from, to uint32 // noPosition for None; every position is less
}

const noPosition = 1<<32 - 1

// moved returns where to note what moves, or nil if nobody has to be told.
func (s *Store[T]) moved() *movedValues[T] {
	if !s.moves.Any() {
		return nil
	}
	return &s.notes
}

// tell tells what is noted, and forgets it.
func (s *Store[T]) tell() {
	if len(s.notes) == 0 {
		return
	}
	defer func() { s.notes = s.notes[:0] }() // also if a function panics
	position := func(at uint32) int {
		if at == noPosition {
			return None
		}
		return int(at)
	}
	s.phase.let(func() {
		for _, v := range s.notes {
			s.moves.Tell(v.h, position(v.from), position(v.to))
		}
	})
}

// move notes that h, which was at from, is at to. Values from joined on are new.
func (ms *movedValues[T]) move(h pool.Handle[T], from, to, joined int) {
	was := uint32(from)
	if from >= joined {
		was = noPosition
	}
	*ms = append(*ms, movedValue[T]{h, was, uint32(to)})
}

// moveAll notes that the values from first to end are from to on.
func (ms *movedValues[T]) moveAll(handles []pool.Handle[T], first, end, to, joined int) {
	by := first - to
	if by == 0 {
		first = joined // the others, which come first, stay
	}
	for i := first; i < end; i++ {
		ms.move(handles[i], i, i-by, joined)
	}
}

// joinAll notes that the values from joined on are new.
func (ms *movedValues[T]) joinAll(handles []pool.Handle[T], joined int) {
	if ms != nil {
		ms.moveAll(handles, joined, len(handles), joined, joined)
	}
}

// leaveAll notes that the values hs, at first and behind, have gone, except for new ones.
func (ms *movedValues[T]) leaveAll(hs []pool.Handle[T], first, joined int) {
	for i, h := range hs[:max(0, min(len(hs), joined-first))] {
		*ms = append(*ms, movedValue[T]{h, uint32(first + i), noPosition})
	}
}
