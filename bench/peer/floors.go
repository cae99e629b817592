package peer

import "coatcheck/bench/suite"

// Plain is a slot map for one goroutine: the floor of all stores that refuse stale names.
// Users get pointers, valid until an insertion moves the slots.
func Plain[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NamePlain, Role: suite.Reference, Alone: true, Keys: true},
		Open: func(c Config[R]) Store {
			m := newSlotMap(c)
			return Store{
				Session: func() Session { return &session[uint64]{contestant: &plainSession[R]{values: &m, rest: c.Rest}} },
				All:     m.sum,
			}
		},
	}
}

type plainSession[R any] struct {
	unclosed
	values *slotMap[R]
	rest   R
}

func (s *plainSession[R]) do(t *task[uint64]) outcome {
	return words(t, func(do loop[uint64]) outcome {
		return do(
			func(id uint64) uint64 { return s.values.insert(Value[R]{id, s.rest}) },
			func(n uint64) (uint64, bool) { return idOf(s.values.get(n)) },
			func(n uint64) bool { return s.values.remove(n) })
	})
}

// Slice is a slice of values whose names are their indexes: the cost without any check. A
// vacant place links to the next one through its identity. A stale name reads a link or
// another value, and a place that is removed twice is reused twice at once.
func Slice[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameSlice, Role: suite.Reference, Alone: true},
		Open: func(c Config[R]) Store {
			s := &slice[R]{free: none, rest: c.Rest}
			if !c.Grow {
				s.values = make([]Value[R], 0, c.Live+c.Sessions)
			}
			return Store{Session: func() Session { return &session[uint32]{contestant: s} }}
		},
	}
}

type slice[R any] struct {
	unclosed
	values []Value[R]
	free   uint32
	rest   R
}

func (s *slice[R]) do(t *task[uint32]) outcome {
	return others(t, func(do loop[uint32]) outcome {
		return do(
			func(id uint64) uint32 {
				i := s.free
				if i == none {
					s.values = append(s.values, Value[R]{id, s.rest})
					return uint32(len(s.values) - 1)
				}
				v := &s.values[i]
				s.free = uint32(v.ID)
				*v = Value[R]{id, s.rest}
				return i
			},
			func(n uint32) (uint64, bool) { return s.values[n].ID, true },
			func(n uint32) bool {
				s.values[n].ID = uint64(s.free)
				s.free = n
				return true
			})
	})
}
