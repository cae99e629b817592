package peer

import "coatcheck/bench/suite"

// Slice is a slice of values whose names are their indexes: what a look-up and a
// replacement cost that check nothing. A vacant place links to the next one
// through its identity.
//
// Its users have to know by themselves that a name is live. A stale one reads a
// link or another's value, and a second removal gives a place out twice.
func Slice[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameSlice, What: "slice of values, by index", Role: suite.Reference, Alone: true},
		Open: func(c Config[R]) (Store, error) {
			s := &sliceStore[R]{free: none, rest: c.Rest}
			if !c.Grow {
				s.values = make([]Value[R], 0, c.Live+c.Sessions)
			}
			return s, nil
		},
	}
}

type sliceStore[R any] struct {
	values []Value[R]
	free   uint32
	rest   R
}

func (s *sliceStore[R]) Session() Session { return &sliceSession[R]{store: s} }
func (s *sliceStore[R]) Len() int         { return -1 }
func (s *sliceStore[R]) Close()           {}

type sliceSession[R any] struct {
	named[uint32]
	store *sliceStore[R]
}

func (s *sliceSession[R]) put(id uint64) uint32 {
	i := s.store.free
	if i == none {
		s.store.values = append(s.store.values, Value[R]{id, s.store.rest})
		return uint32(len(s.store.values) - 1)
	}
	v := &s.store.values[i]
	s.store.free = uint32(v.ID)
	*v = Value[R]{id, s.store.rest}
	return i
}

func (s *sliceSession[R]) look(n uint32) (uint64, bool) { return s.store.values[n].ID, true }

func (s *sliceSession[R]) drop(n uint32) bool {
	s.store.values[n].ID = uint64(s.store.free)
	s.store.free = n
	return true
}

func (s *sliceSession[R]) Put(ns Names, i int, id uint64)      { of[uint32](ns)[i] = s.put(id) }
func (s *sliceSession[R]) Look(ns Names, i int) (uint64, bool) { return s.look(of[uint32](ns)[i]) }
func (s *sliceSession[R]) Drop(ns Names, i int) bool           { return s.drop(of[uint32](ns)[i]) }

func (s *sliceSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) uint32 { return s.put(id) },
		func(n uint32) bool { return s.drop(n) })
}

func (s *sliceSession[R]) Fill(ns Names, id uint64) {
	fill(of[uint32](ns), id, func(id uint64) uint32 { return s.put(id) })
}

func (s *sliceSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[uint32](ns),
		func(n uint32) (uint64, bool) { return s.look(n) },
		func(n uint32) bool { return s.drop(n) })
}

func (s *sliceSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[uint32](ns), picks, id,
		func(id uint64) uint32 { return s.put(id) },
		func(n uint32) bool { return s.drop(n) })
}

func (s *sliceSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[uint32](ns), picks, func(n uint32) (uint64, bool) { return s.look(n) })
}
