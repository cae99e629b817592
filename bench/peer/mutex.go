package peer

import (
	"sync"
	"sync/atomic"
)

// Mutex is a slot map under a mutex. Its users look values up by copy, because
// nothing protects the value once the lock is open again, and are told of a stale
// name by the generation.
func Mutex[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameMutex, What: standard("slot map under a sync.Mutex"), Keys: true, Clears: true},
		Open: func(c Config[R]) (Store, error) {
			return &mutexStore[R]{MutexMap[R]{slots: newSlotMap(c)}, c.Rest}, nil
		},
	}
}

// MutexMap is a slotMap for any number of goroutines.
type MutexMap[R any] struct {
	mu    sync.Mutex
	slots slotMap[Value[R]]
}

// NewMutexMap returns a map with room for that many values.
func NewMutexMap[R any](live int) *MutexMap[R] {
	return &MutexMap[R]{slots: newSlotMap(Config[R]{Live: live})}
}

// Insert puts v into the map, and returns the name that it has there.
func (m *MutexMap[R]) Insert(v Value[R]) uint64 {
	m.mu.Lock()
	n := m.slots.insert(v)
	m.mu.Unlock()
	return n
}

// InsertBelow is Insert, unless there are limit values.
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

// Remove removes the value that n names, and reports whether there was one.
func (m *MutexMap[R]) Remove(n uint64) bool {
	m.mu.Lock()
	ok := m.slots.remove(n)
	m.mu.Unlock()
	return ok
}

type mutexStore[R any] struct {
	values MutexMap[R]
	rest   R
}

func (s *mutexStore[R]) Session() Session { return &mutexSession[R]{values: &s.values, rest: s.rest} }
func (s *mutexStore[R]) Close()           {}

func (s *mutexStore[R]) Len() int {
	s.values.mu.Lock()
	defer s.values.mu.Unlock()
	return s.values.slots.live
}

func (s *mutexStore[R]) All() (n int, sum uint64) {
	s.values.mu.Lock()
	defer s.values.mu.Unlock()
	s.values.slots.all(func(v *Value[R]) {
		n++
		sum += v.ID
	})
	return
}

type mutexSession[R any] struct {
	words
	values *MutexMap[R]
	rest   R
}

func (s *mutexSession[R]) Put(ns Names, i int, id uint64) {
	of[uint64](ns)[i] = s.values.Insert(Value[R]{id, s.rest})
}

func (s *mutexSession[R]) Look(ns Names, i int) (uint64, bool) {
	v, ok := s.values.Get(of[uint64](ns)[i])
	return v.ID, ok
}

func (s *mutexSession[R]) Drop(ns Names, i int) bool { return s.values.Remove(of[uint64](ns)[i]) }

func (s *mutexSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) uint64 { return s.values.Insert(Value[R]{id, s.rest}) },
		func(n uint64) bool { return s.values.Remove(n) })
}

func (s *mutexSession[R]) Fill(ns Names, id uint64) {
	fill(of[uint64](ns), id, func(id uint64) uint64 { return s.values.Insert(Value[R]{id, s.rest}) })
}

func (s *mutexSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[uint64](ns),
		func(n uint64) (uint64, bool) {
			v, ok := s.values.Get(n)
			return v.ID, ok
		},
		func(n uint64) bool { return s.values.Remove(n) })
}

func (s *mutexSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[uint64](ns), picks, id,
		func(id uint64) uint64 { return s.values.Insert(Value[R]{id, s.rest}) },
		func(n uint64) bool { return s.values.Remove(n) })
}

func (s *mutexSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) {
		v, ok := s.values.Get(n)
		return v.ID, ok
	})
}

func (s *mutexSession[R]) Mix(shared []atomic.Uint64, ops []uint32, id uint64) (sum uint64, stale, failed int) {
	mix(shared, ops,
		func(place *atomic.Uint64) {
			v, ok := s.values.Get(place.Load())
			sum += v.ID
			stale += missed(ok)
		},
		func(place *atomic.Uint64, i int) {
			n := place.Swap(s.values.Insert(Value[R]{id + uint64(i), s.rest}))
			failed += missed(s.values.Remove(n))
		})
	return
}
