package peer

import "coatcheck/bench/suite"

// Plain is a slot map for one goroutine: the floor under everything that tells a
// stale name from a live one. Its users get pointers, good until the next
// insertion moves the slots, and are told of a stale name by the generation.
func Plain[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NamePlain, What: "slot map without a lock", Role: suite.Reference, Alone: true, Keys: true},
		Open: func(c Config[R]) (Store, error) {
			values := newSlotMap(c)
			return store{
				session: func() Session { return &plainSession[R]{values: &values, rest: c.Rest} },
				len:     func() int { return values.live },
				all:     values.sum,
			}, nil
		},
	}
}

type plainSession[R any] struct {
	words
	values *slotMap[R]
	rest   R
}

func (s *plainSession[R]) put(id uint64) uint64         { return s.values.insert(Value[R]{id, s.rest}) }
func (s *plainSession[R]) look(n uint64) (uint64, bool) { return idOf(s.values.get(n)) }
func (s *plainSession[R]) drop(n uint64) bool           { return s.values.remove(n) }

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
			s := &sliceValues[R]{free: none, rest: c.Rest}
			if !c.Grow {
				s.values = make([]Value[R], 0, c.Live+c.Sessions)
			}
			return store{session: func() Session { return &sliceSession[R]{store: s} }}, nil
		},
	}
}

type sliceValues[R any] struct {
	values []Value[R]
	free   uint32
	rest   R
}

type sliceSession[R any] struct {
	named[uint32]
	store *sliceValues[R]
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
