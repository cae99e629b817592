package peer

import "sync"

// Mutex is a slot map under a mutex. Look-ups return copies, because nothing protects a
// value after the lock is released.
func Mutex[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameMutex, Keys: true},
		Open: func(c Config[R]) Store {
			m := &MutexMap[R]{slots: newSlotMap(c)}
			return Store{
				Session: func() Session { return &session[uint64]{contestant: &mutexSession[R]{values: m, rest: c.Rest}} },
				All: func() (int, uint64) {
					m.mu.Lock()
					defer m.mu.Unlock()
					return m.slots.sum()
				},
			}
		},
	}
}

// MutexMap is a slotMap under a mutex.
type MutexMap[R any] struct {
	mu    sync.Mutex
	slots slotMap[R]
}

// NewMutexMap returns a map with room for live values.
func NewMutexMap[R any](live int) *MutexMap[R] {
	return &MutexMap[R]{slots: newSlotMap(Config[R]{Live: live})}
}

// Insert stores v and returns its name.
func (m *MutexMap[R]) Insert(v Value[R]) uint64 {
	m.mu.Lock()
	n := m.slots.insert(v)
	m.mu.Unlock()
	return n
}

// InsertBelow is Insert if fewer than limit values are live.
func (m *MutexMap[R]) InsertBelow(limit int, v Value[R]) (n uint64, ok bool) {
	m.mu.Lock()
	if ok = m.slots.live < limit; ok {
		n = m.slots.insert(v)
	}
	m.mu.Unlock()
	return n, ok
}

// Get returns a copy of the value that n names.
func (m *MutexMap[R]) Get(n uint64) (v Value[R], ok bool) {
	m.mu.Lock()
	if found := m.slots.get(n); found != nil {
		v, ok = *found, true
	}
	m.mu.Unlock()
	return
}

// Remove removes the value that n names and reports whether there was one.
func (m *MutexMap[R]) Remove(n uint64) bool {
	m.mu.Lock()
	ok := m.slots.remove(n)
	m.mu.Unlock()
	return ok
}

type mutexSession[R any] struct {
	unclosed
	values *MutexMap[R]
	rest   R
}

func (s *mutexSession[R]) do(t *task[uint64]) outcome {
	return words(t, func(do loop[uint64]) outcome {
		return do(
			func(id uint64) uint64 { return s.values.Insert(Value[R]{id, s.rest}) },
			func(n uint64) (uint64, bool) {
				v, ok := s.values.Get(n)
				return v.ID, ok
			},
			func(n uint64) bool { return s.values.Remove(n) })
	})
}
