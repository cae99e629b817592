package peer

import "sync"

// openMutex opens a slot map under a mutex. Look-ups return copies, because nothing protects a
// value after the lock is released.
func openMutex[R any](c Config[R]) Store {
	m := &mutexMap[R]{slots: newSlotMap(c)}
	return Store{
		Session: func() Session { return &session[uint64]{contestant: &mutexSession[R]{values: m, rest: c.Rest}} },
		All: func() (int, uint64) {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.slots.sum()
		},
	}
}

// mutexMap is a slotMap under a mutex.
type mutexMap[R any] struct {
	mu    sync.Mutex
	slots slotMap[R]
}

func (m *mutexMap[R]) insert(v Value[R]) uint64 {
	m.mu.Lock()
	n := m.slots.insert(v)
	m.mu.Unlock()
	return n
}

func (m *mutexMap[R]) get(n uint64) (v Value[R], ok bool) {
	m.mu.Lock()
	if found := m.slots.get(n); found != nil {
		v, ok = *found, true
	}
	m.mu.Unlock()
	return
}

func (m *mutexMap[R]) remove(n uint64) bool {
	m.mu.Lock()
	ok := m.slots.remove(n)
	m.mu.Unlock()
	return ok
}

type mutexSession[R any] struct {
	values *mutexMap[R]
	rest   R
}

func (s *mutexSession[R]) do(t *task[uint64]) outcome {
	return words(t, func(do loop[uint64]) outcome {
		return do(
			func(id uint64) uint64 { return s.values.insert(Value[R]{id, s.rest}) },
			func(n uint64) (uint64, bool) {
				v, ok := s.values.get(n)
				return v.ID, ok
			},
			func(n uint64) bool { return s.values.remove(n) })
	})
}
