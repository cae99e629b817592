package peer

// openPlain opens a slot map for one goroutine: the floor of all stores that refuse stale names.
// Users get pointers, valid until an insertion moves the slots.
func openPlain[R any](c Config[R]) Store {
	m := newSlotMap(c)
	return Store{
		Session: func() Session { return &session[uint64]{contestant: &plainSession[R]{values: &m, rest: c.Rest}} },
		All:     m.sum,
	}
}

type plainSession[R any] struct {
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
