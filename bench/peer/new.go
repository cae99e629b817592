package peer

import "coatcheck/bench/suite"

// New allocates each value and leaves the rest to the garbage collector. Names are
// pointers.
//
// Its users have nothing to remove and nothing that could tell them that a value
// has been: who still has the pointer still has the value, and keeps it.
func New[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameNew, What: standard("new, and the garbage collector"), Role: suite.Reference, Clears: true},
		Open: func(c Config[R]) (Store, error) {
			return &newStore[R]{rest: c.Rest}, nil
		},
	}
}

type newStore[R any] struct{ rest R }

func (s *newStore[R]) Session() Session { return &newSession[R]{rest: s.rest} }
func (s *newStore[R]) Len() int         { return -1 }
func (s *newStore[R]) Close()           {}

type newSession[R any] struct {
	named[*Value[R]]
	rest R
	last *Value[R] // of Pairs
}

func (s *newSession[R]) put(id uint64) *Value[R] {
	return &Value[R]{id, s.rest}
}

func (s *newSession[R]) look(v *Value[R]) (uint64, bool) { return v.ID, true }

func (s *newSession[R]) drop(v *Value[R]) bool { return true }

func (s *newSession[R]) Put(ns Names, i int, id uint64)      { of[*Value[R]](ns)[i] = s.put(id) }
func (s *newSession[R]) Look(ns Names, i int) (uint64, bool) { return s.look(of[*Value[R]](ns)[i]) }
func (s *newSession[R]) Drop(ns Names, i int) bool           { return s.drop(of[*Value[R]](ns)[i]) }

func (s *newSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) *Value[R] {
			// A name that goes nowhere would let the compiler leave the allocation out.
			s.last = s.put(id)
			return s.last
		},
		func(n *Value[R]) bool { return s.drop(n) })
}

func (s *newSession[R]) Fill(ns Names, id uint64) {
	fill(of[*Value[R]](ns), id, func(id uint64) *Value[R] { return s.put(id) })
}

func (s *newSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[*Value[R]](ns),
		func(n *Value[R]) (uint64, bool) { return s.look(n) },
		func(n *Value[R]) bool { return s.drop(n) })
}

func (s *newSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[*Value[R]](ns), picks, id,
		func(id uint64) *Value[R] { return s.put(id) },
		func(n *Value[R]) bool { return s.drop(n) })
}

func (s *newSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[*Value[R]](ns), picks, func(n *Value[R]) (uint64, bool) { return s.look(n) })
}
