package peer

import (
	"sync"
	"sync/atomic"
)

// RWMutex is a slot map under a readers' and writer's mutex. Its users do what
// those of Mutex do; look-ups need not wait for each other, but each still writes to
// the mutex.
func RWMutex[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameRWMutex, What: standard("slot map under a sync.RWMutex"), Keys: true, Clears: true},
		Open: func(c Config[R]) (Store, error) {
			return &rwMutexStore[R]{rwMutexMap[Value[R]]{slots: newSlotMap(c)}, c.Rest}, nil
		},
	}
}

// rwMutexMap is a slotMap for any number of goroutines.
type rwMutexMap[T any] struct {
	mu    sync.RWMutex
	slots slotMap[T]
}

func (m *rwMutexMap[T]) Insert(v T) uint64 {
	m.mu.Lock()
	n := m.slots.insert(v)
	m.mu.Unlock()
	return n
}

func (m *rwMutexMap[T]) Get(n uint64) (v T, ok bool) {
	m.mu.RLock()
	if found := m.slots.get(n); found != nil {
		v, ok = *found, true
	}
	m.mu.RUnlock()
	return
}

func (m *rwMutexMap[T]) Remove(n uint64) bool {
	m.mu.Lock()
	ok := m.slots.remove(n)
	m.mu.Unlock()
	return ok
}

type rwMutexStore[R any] struct {
	values rwMutexMap[Value[R]]
	rest   R
}

func (s *rwMutexStore[R]) Session() Session {
	return &rwMutexSession[R]{values: &s.values, rest: s.rest}
}

func (s *rwMutexStore[R]) Close() {}

func (s *rwMutexStore[R]) Len() int {
	s.values.mu.RLock()
	defer s.values.mu.RUnlock()
	return s.values.slots.live
}

func (s *rwMutexStore[R]) All() (n int, sum uint64) {
	s.values.mu.RLock()
	defer s.values.mu.RUnlock()
	s.values.slots.all(func(v *Value[R]) {
		n++
		sum += v.ID
	})
	return
}

type rwMutexSession[R any] struct {
	words
	values *rwMutexMap[Value[R]]
	rest   R
}

func (s *rwMutexSession[R]) Put(ns Names, i int, id uint64) {
	of[uint64](ns)[i] = s.values.Insert(Value[R]{id, s.rest})
}

func (s *rwMutexSession[R]) Look(ns Names, i int) (uint64, bool) {
	v, ok := s.values.Get(of[uint64](ns)[i])
	return v.ID, ok
}

func (s *rwMutexSession[R]) Drop(ns Names, i int) bool { return s.values.Remove(of[uint64](ns)[i]) }

func (s *rwMutexSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) uint64 { return s.values.Insert(Value[R]{id, s.rest}) },
		func(n uint64) bool { return s.values.Remove(n) })
}

func (s *rwMutexSession[R]) Fill(ns Names, id uint64) {
	fill(of[uint64](ns), id, func(id uint64) uint64 { return s.values.Insert(Value[R]{id, s.rest}) })
}

func (s *rwMutexSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[uint64](ns),
		func(n uint64) (uint64, bool) {
			v, ok := s.values.Get(n)
			return v.ID, ok
		},
		func(n uint64) bool { return s.values.Remove(n) })
}

func (s *rwMutexSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[uint64](ns), picks, id,
		func(id uint64) uint64 { return s.values.Insert(Value[R]{id, s.rest}) },
		func(n uint64) bool { return s.values.Remove(n) })
}

func (s *rwMutexSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) {
		v, ok := s.values.Get(n)
		return v.ID, ok
	})
}

func (s *rwMutexSession[R]) Mix(shared []atomic.Uint64, ops []uint32, id uint64) (sum uint64, stale, failed int) {
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
