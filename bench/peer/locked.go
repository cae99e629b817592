package peer

import "sync"

// Mutex is a slot map under a mutex. Look-ups return copies, because nothing protects a
// value after the lock is released.
func Mutex[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameMutex, Keys: true},
		Open: func(c Config[R]) (Store, error) {
			m := &MutexMap[R]{slots: newSlotMap(c)}
			return lockedStore(&m.mu, &m.slots, func() Session { return &mutexSession[R]{values: m, rest: c.Rest} }), nil
		},
	}
}

// RWMutex is a slot map under a readers-writer mutex. Look-ups need not wait for each
// other, but each still writes to the mutex.
func RWMutex[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameRWMutex, Keys: true},
		Open: func(c Config[R]) (Store, error) {
			m := &rwMutexMap[R]{slots: newSlotMap(c)}
			return lockedStore(&m.mu, &m.slots, func() Session { return &rwMutexSession[R]{values: m, rest: c.Rest} }), nil
		},
	}
}

func lockedStore[R any](mu sync.Locker, slots *slotMap[R], session func() Session) Store {
	return store{
		session: session,
		len: func() int {
			mu.Lock()
			defer mu.Unlock()
			return slots.live
		},
		all: func() (int, uint64) {
			mu.Lock()
			defer mu.Unlock()
			return slots.sum()
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
	words
	values *MutexMap[R]
	rest   R
}

func (s *mutexSession[R]) put(id uint64) uint64 { return s.values.Insert(Value[R]{id, s.rest}) }

func (s *mutexSession[R]) look(n uint64) (uint64, bool) {
	v, ok := s.values.Get(n)
	return v.ID, ok
}

func (s *mutexSession[R]) drop(n uint64) bool { return s.values.Remove(n) }

// rwMutexMap is MutexMap with another lock.
type rwMutexMap[R any] struct {
	mu    sync.RWMutex
	slots slotMap[R]
}

func (m *rwMutexMap[R]) Insert(v Value[R]) uint64 {
	m.mu.Lock()
	n := m.slots.insert(v)
	m.mu.Unlock()
	return n
}

func (m *rwMutexMap[R]) Get(n uint64) (v Value[R], ok bool) {
	m.mu.RLock()
	if found := m.slots.get(n); found != nil {
		v, ok = *found, true
	}
	m.mu.RUnlock()
	return
}

func (m *rwMutexMap[R]) Remove(n uint64) bool {
	m.mu.Lock()
	ok := m.slots.remove(n)
	m.mu.Unlock()
	return ok
}

type rwMutexSession[R any] struct {
	words
	values *rwMutexMap[R]
	rest   R
}

func (s *rwMutexSession[R]) put(id uint64) uint64 { return s.values.Insert(Value[R]{id, s.rest}) }

func (s *rwMutexSession[R]) look(n uint64) (uint64, bool) {
	v, ok := s.values.Get(n)
	return v.ID, ok
}

func (s *rwMutexSession[R]) drop(n uint64) bool { return s.values.Remove(n) }
