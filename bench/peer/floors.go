package peer

import "coatcheck/bench/suite"

// Plain is a slot map for one goroutine: the floor of all stores that refuse stale names.
// Users get pointers, valid until an insertion moves the slots.
func Plain[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NamePlain, Role: suite.Reference, Alone: true, Keys: true},
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

// Slice is a slice of values whose names are their indexes: the cost without any check. A
// vacant place links to the next one through its identity. A stale name reads a link or
// another value, and a place that is removed twice is reused twice at once.
func Slice[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameSlice, Role: suite.Reference, Alone: true},
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
