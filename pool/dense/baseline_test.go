package dense_test

import (
	"slices"
	"sync"
)

// The baselines of the benchmarks are what a good engineer writes in an afternoon.

// name is a baseline's handle: index and generation.
type name struct{ index, generation uint32 }

// entry is what a name leads to.
type entry struct{ generation, at uint32 }

// plainStore is a dense store for one goroutine: values side by side with their names and
// a flag for the dead, and a slot map from names to positions.
type plainStore[T any] struct {
	values  []T
	names   []name
	dead    []bool
	entries []entry
	free    []uint32
}

func (s *plainStore[T]) Create(v T) name {
	var n name
	if k := len(s.free); k > 0 {
		n.index = s.free[k-1]
		s.free = s.free[:k-1]
	} else {
		n.index = uint32(len(s.entries))
		s.entries = append(s.entries, entry{})
	}
	e := &s.entries[n.index]
	e.generation++
	e.at = uint32(len(s.values))
	n.generation = e.generation
	s.values = append(s.values, v)
	s.names = append(s.names, n)
	s.dead = append(s.dead, false)
	return n
}

func (s *plainStore[T]) Get(n name) (*T, bool) {
	if int(n.index) >= len(s.entries) {
		return nil, false
	}
	e := s.entries[n.index]
	if e.generation != n.generation {
		return nil, false
	}
	return &s.values[e.at], true
}

func (s *plainStore[T]) Kill(n name) bool {
	if int(n.index) >= len(s.entries) {
		return false
	}
	e := s.entries[n.index]
	if e.generation != n.generation || s.dead[e.at] {
		return false
	}
	s.dead[e.at] = true
	return true
}

func (s *plainStore[T]) leave(n name) {
	s.entries[n.index].generation++
	s.free = append(s.free, n.index)
}

func (s *plainStore[T]) truncate(n int) {
	clear(s.values[n:])
	s.values, s.names = s.values[:n], s.names[:n]
	s.dead = s.dead[:n]
}

// compact removes the dead in one pass and keeps the order.
func (s *plainStore[T]) compact() {
	to := 0
	for from := range s.values {
		if s.dead[from] {
			s.leave(s.names[from])
			continue
		}
		if to != from {
			s.values[to], s.names[to] = s.values[from], s.names[from]
			s.entries[s.names[to].index].at = uint32(to)
		}
		to++
	}
	clear(s.dead)
	s.truncate(to)
}

// swapOut removes the dead in one pass, replacing each by the last value.
func (s *plainStore[T]) swapOut() {
	n := len(s.values)
	for i := 0; i < n; {
		if !s.dead[i] {
			i++
			continue
		}
		s.leave(s.names[i])
		n--
		if i < n {
			s.values[i], s.names[i], s.dead[i] = s.values[n], s.names[n], s.dead[n]
			s.entries[s.names[i].index].at = uint32(i)
		}
	}
	clear(s.dead)
	s.truncate(n)
}

// sortedStore keeps value, name and state together. It sorts the array by state, the
// living first, and cuts off the dead.
type sortedStore[T any] struct {
	atoms   []atom[T]
	entries []entry
	free    []uint32
}

type atom[T any] struct {
	value T
	name  name
	dead  bool
}

func (s *sortedStore[T]) refresh() {
	slices.SortStableFunc(s.atoms, func(a, b atom[T]) int {
		switch {
		case a.dead == b.dead:
			return 0
		case b.dead:
			return -1
		}
		return 1
	})
	n, _ := slices.BinarySearchFunc(s.atoms, true, func(a atom[T], dead bool) int {
		if a.dead {
			return 0
		}
		return -1
	})
	for i := range s.atoms {
		a := &s.atoms[i]
		if i < n {
			s.entries[a.name.index].at = uint32(i)
		} else {
			s.entries[a.name.index].generation++
			s.free = append(s.free, a.name.index)
		}
	}
	clear(s.atoms[n:])
	s.atoms = s.atoms[:n]
}

// mutexStore is a plainStore under a mutex.
type mutexStore[T any] struct {
	mu sync.Mutex
	plainStore[T]
}

func (s *mutexStore[T]) Create(v T) name {
	s.mu.Lock()
	n := s.plainStore.Create(v)
	s.mu.Unlock()
	return n
}

func (s *mutexStore[T]) Kill(n name) bool {
	s.mu.Lock()
	ok := s.plainStore.Kill(n)
	s.mu.Unlock()
	return ok
}

// rwMutexStore is a plainStore under a sync.RWMutex.
type rwMutexStore[T any] struct {
	mu sync.RWMutex
	plainStore[T]
}

func (s *rwMutexStore[T]) Get(n name) (v *T, ok bool) {
	s.mu.RLock()
	v, ok = s.plainStore.Get(n)
	s.mu.RUnlock()
	return v, ok
}
