package peer

import (
	"sync"
	"sync/atomic"
)

// SyncMap is the standard library's map of any to any. Keys are words that count;
// the values are pointers, which costs what boxing them costs, and reads without a
// copy. Its users find a stale name missing.
func SyncMap[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameSyncMap, What: standard("sync.Map"), Keys: true, Clears: true},
		Open: func(c Config[R]) (Store, error) {
			return &syncMapStore[R]{rest: c.Rest}, nil
		},
	}
}

type syncMapStore[R any] struct {
	values sync.Map
	rest   R
}

func (s *syncMapStore[R]) Session() Session {
	return &syncMapSession[R]{keys: newKeys(), values: &s.values, rest: s.rest}
}

func (s *syncMapStore[R]) Len() int {
	n, _ := s.All()
	return n
}

func (s *syncMapStore[R]) Close() {}

func (s *syncMapStore[R]) All() (n int, sum uint64) {
	s.values.Range(func(_, v any) bool {
		n++
		sum += v.(*Value[R]).ID
		return true
	})
	return
}

type syncMapSession[R any] struct {
	words
	keys
	values *sync.Map
	rest   R
}

func (s *syncMapSession[R]) Put(ns Names, i int, id uint64) {
	k := s.key()
	s.values.Store(k, &Value[R]{id, s.rest})
	of[uint64](ns)[i] = k
}

func (s *syncMapSession[R]) Look(ns Names, i int) (uint64, bool) {
	if v, ok := s.values.Load(of[uint64](ns)[i]); ok {
		return v.(*Value[R]).ID, true
	}
	return 0, false
}

func (s *syncMapSession[R]) Drop(ns Names, i int) bool {
	_, ok := s.values.LoadAndDelete(of[uint64](ns)[i])
	return ok
}

func (s *syncMapSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) uint64 {
			k := s.key()
			s.values.Store(k, &Value[R]{id, s.rest})
			return k
		},
		func(n uint64) bool {
			_, ok := s.values.LoadAndDelete(n)
			return ok
		})
}

func (s *syncMapSession[R]) Fill(ns Names, id uint64) {
	fill(of[uint64](ns), id, func(id uint64) uint64 {
		k := s.key()
		s.values.Store(k, &Value[R]{id, s.rest})
		return k
	})
}

func (s *syncMapSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[uint64](ns),
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
}

func (s *syncMapSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[uint64](ns), picks, id,
		func(id uint64) uint64 {
			k := s.key()
			s.values.Store(k, &Value[R]{id, s.rest})
			return k
		},
		func(n uint64) bool {
			_, ok := s.values.LoadAndDelete(n)
			return ok
		})
}

func (s *syncMapSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) {
		if v, ok := s.values.Load(n); ok {
			return v.(*Value[R]).ID, true
		}
		return 0, false
	})
}

func (s *syncMapSession[R]) Mix(shared []atomic.Uint64, ops []uint32, id uint64) (sum uint64, stale, failed int) {
	mix(shared, ops,
		func(place *atomic.Uint64) {
			if v, ok := s.values.Load(place.Load()); ok {
				sum += v.(*Value[R]).ID
			} else {
				stale++
			}
		},
		func(place *atomic.Uint64, i int) {
			k := s.key()
			s.values.Store(k, &Value[R]{id + uint64(i), s.rest})
			n := place.Swap(k)
			_, ok := s.values.LoadAndDelete(n)
			failed += missed(ok)
		})
	return
}
