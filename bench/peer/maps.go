package peer

import (
	"sync"

	"github.com/puzpuzpuz/xsync/v4"
)

// The maps name a value by the next number, which is never used again, so a stale name is
// missing.

// openMap opens a map under a mutex, which is what most programs have.
func openMap[R any](c Config[R]) Store {
	m := &lockedMap[R]{values: map[uint64]Value[R]{}}
	if !c.Grow {
		m.values = make(map[uint64]Value[R], c.Live+c.Sessions)
	}
	return Store{
		Session: func() Session {
			return &session[uint64]{contestant: &mapSession[R]{keys: newKeys(), values: m, rest: c.Rest}}
		},
		All: func() (n int, sum uint64) {
			m.mu.Lock()
			defer m.mu.Unlock()
			for _, v := range m.values {
				n++
				sum += v.ID
			}
			return
		},
	}
}

// lockedMap is a map under a mutex.
type lockedMap[R any] struct {
	mu     sync.Mutex
	values map[uint64]Value[R]
}

func (m *lockedMap[R]) insert(k uint64, v Value[R]) {
	m.mu.Lock()
	m.values[k] = v
	m.mu.Unlock()
}

func (m *lockedMap[R]) get(k uint64) (v Value[R], ok bool) {
	m.mu.Lock()
	v, ok = m.values[k]
	m.mu.Unlock()
	return
}

func (m *lockedMap[R]) remove(k uint64) (ok bool) {
	m.mu.Lock()
	if _, ok = m.values[k]; ok {
		delete(m.values, k)
	}
	m.mu.Unlock()
	return
}

type mapSession[R any] struct {
	keys
	values *lockedMap[R]
	rest   R
}

func (s *mapSession[R]) do(t *task[uint64]) outcome {
	return words(t, func(do loop[uint64]) outcome {
		return do(
			func(id uint64) uint64 {
				k := s.next()
				s.values.insert(k, Value[R]{id, s.rest})
				return k
			},
			func(n uint64) (uint64, bool) {
				v, ok := s.values.get(n)
				return v.ID, ok
			},
			func(n uint64) bool { return s.values.remove(n) })
	})
}

// openSyncMap opens a sync.Map. It boxes values, so they are pointers.
func openSyncMap[R any](c Config[R]) Store {
	m := new(sync.Map)
	return Store{
		Session: func() Session {
			return &session[uint64]{contestant: &syncMapSession[R]{keys: newKeys(), values: m, rest: c.Rest}}
		},
		All: func() (n int, sum uint64) {
			m.Range(func(_, v any) bool {
				n++
				sum += v.(*Value[R]).ID
				return true
			})
			return
		},
	}
}

type syncMapSession[R any] struct {
	keys
	values *sync.Map
	rest   R
}

func (s *syncMapSession[R]) do(t *task[uint64]) outcome {
	return words(t, func(do loop[uint64]) outcome {
		return do(
			func(id uint64) uint64 {
				k := s.next()
				s.values.Store(k, &Value[R]{id, s.rest})
				return k
			},
			func(n uint64) (uint64, bool) {
				if v, ok := s.values.Load(n); ok {
					return v.(*Value[R]).ID, true
				}
				return 0, false
			},
			func(n uint64) bool {
				_, ok := s.values.LoadAndDelete(n)
				return ok
			})
	})
}

// openXsync opens xsync's map. It allocates an entry for each insertion, so small values are
// faster in place. Large ones, which every operation copies, would be faster by pointer.
func openXsync[R any](c Config[R]) Store {
	var presize []func(*xsync.MapConfig)
	if !c.Grow {
		presize = append(presize, xsync.WithPresize(c.Live+c.Sessions))
	}
	m := xsync.NewMap[uint64, Value[R]](presize...)
	return Store{
		Session: func() Session {
			return &session[uint64]{contestant: &xsyncSession[R]{keys: newKeys(), values: m, rest: c.Rest}}
		},
		All: func() (n int, sum uint64) {
			for _, v := range m.All() {
				n++
				sum += v.ID
			}
			return
		},
	}
}

type xsyncSession[R any] struct {
	keys
	values *xsync.Map[uint64, Value[R]]
	rest   R
}

func (s *xsyncSession[R]) do(t *task[uint64]) outcome {
	return words(t, func(do loop[uint64]) outcome {
		return do(
			func(id uint64) uint64 {
				k := s.next()
				s.values.Store(k, Value[R]{id, s.rest})
				return k
			},
			func(n uint64) (uint64, bool) {
				v, ok := s.values.Load(n)
				return v.ID, ok
			},
			func(n uint64) bool {
				_, ok := s.values.LoadAndDelete(n)
				return ok
			})
	})
}
