package pool_test

import "sync"

// The baselines of the benchmarks: what a good engineer writes in an afternoon.

// entry is a slot of the baselines' slot maps: odd generations are live.
type entry[T any] struct {
	generation uint32
	value      T
}

// key names an entry: index and generation.
type key struct{ index, generation uint32 }

// plainMap is a slot map for one goroutine: a slice of entries and a stack of
// free indexes.
type plainMap[T any] struct {
	entries []entry[T]
	free    []uint32
}

func (m *plainMap[T]) Insert(v T) key {
	if n := len(m.free); n > 0 {
		i := m.free[n-1]
		m.free = m.free[:n-1]
		e := &m.entries[i]
		e.generation++
		e.value = v
		return key{i, e.generation}
	}
	m.entries = append(m.entries, entry[T]{1, v})
	return key{uint32(len(m.entries) - 1), 1}
}

func (m *plainMap[T]) Remove(k key) bool {
	if int(k.index) >= len(m.entries) || m.entries[k.index].generation != k.generation {
		return false
	}
	e := &m.entries[k.index]
	e.generation++
	var zero T
	e.value = zero
	m.free = append(m.free, k.index)
	return true
}

func (m *plainMap[T]) Get(k key) (*T, bool) {
	if int(k.index) >= len(m.entries) {
		return nil, false
	}
	e := &m.entries[k.index]
	if e.generation != k.generation {
		return nil, false
	}
	return &e.value, true
}

func (m *plainMap[T]) Contains(k key) bool {
	return int(k.index) < len(m.entries) && m.entries[k.index].generation == k.generation
}

// mutexMap is a plainMap under a mutex.
type mutexMap[T any] struct {
	mu sync.Mutex
	plainMap[T]
}

func (m *mutexMap[T]) Insert(v T) key {
	m.mu.Lock()
	k := m.plainMap.Insert(v)
	m.mu.Unlock()
	return k
}

func (m *mutexMap[T]) Remove(k key) bool {
	m.mu.Lock()
	ok := m.plainMap.Remove(k)
	m.mu.Unlock()
	return ok
}

// rwMutexMap is a plainMap under a readers' and writer's mutex.
type rwMutexMap[T any] struct {
	mu sync.RWMutex
	plainMap[T]
}

func (m *rwMutexMap[T]) Get(k key) (v T, ok bool) {
	m.mu.RLock()
	if p, found := m.plainMap.Get(k); found {
		v, ok = *p, true
	}
	m.mu.RUnlock()
	return v, ok
}
