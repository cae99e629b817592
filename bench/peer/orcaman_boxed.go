package peer

import (
	"sync/atomic"

	cmap "github.com/orcaman/concurrent-map/v2"
)

// orcamanBoxedStore holds the values by pointer.
type orcamanBoxedStore[R any] struct {
	values cmap.ConcurrentMap[uint64, *Value[R]]
	rest   R
}

func (s *orcamanBoxedStore[R]) Session() Session {
	return &orcamanBoxedSession[R]{keys: newKeys(), values: s.values, rest: s.rest}
}

func (s *orcamanBoxedStore[R]) Len() int { return s.values.Count() }
func (s *orcamanBoxedStore[R]) Close()   {}

func (s *orcamanBoxedStore[R]) All() (n int, sum uint64) {
	s.values.IterCb(func(_ uint64, v *Value[R]) {
		n++
		sum += v.ID
	})
	return
}

type orcamanBoxedSession[R any] struct {
	words
	keys
	values cmap.ConcurrentMap[uint64, *Value[R]]
	rest   R
}

func (s *orcamanBoxedSession[R]) Put(ns Names, i int, id uint64) {
	k := s.key()
	s.values.Set(k, &Value[R]{id, s.rest})
	of[uint64](ns)[i] = k
}

func (s *orcamanBoxedSession[R]) Look(ns Names, i int) (uint64, bool) {
	if v, ok := s.values.Get(of[uint64](ns)[i]); ok {
		return v.ID, true
	}
	return 0, false
}

func (s *orcamanBoxedSession[R]) Drop(ns Names, i int) bool {
	_, ok := s.values.Pop(of[uint64](ns)[i])
	return ok
}

func (s *orcamanBoxedSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) uint64 {
			k := s.key()
			s.values.Set(k, &Value[R]{id, s.rest})
			return k
		},
		func(n uint64) bool {
			_, ok := s.values.Pop(n)
			return ok
		})
}

func (s *orcamanBoxedSession[R]) Fill(ns Names, id uint64) {
	fill(of[uint64](ns), id, func(id uint64) uint64 {
		k := s.key()
		s.values.Set(k, &Value[R]{id, s.rest})
		return k
	})
}

func (s *orcamanBoxedSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[uint64](ns),
		func(n uint64) (uint64, bool) {
			if v, ok := s.values.Get(n); ok {
				return v.ID, true
			}
			return 0, false
		},
		func(n uint64) bool {
			_, ok := s.values.Pop(n)
			return ok
		})
}

func (s *orcamanBoxedSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[uint64](ns), picks, id,
		func(id uint64) uint64 {
			k := s.key()
			s.values.Set(k, &Value[R]{id, s.rest})
			return k
		},
		func(n uint64) bool {
			_, ok := s.values.Pop(n)
			return ok
		})
}

func (s *orcamanBoxedSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) {
		if v, ok := s.values.Get(n); ok {
			return v.ID, true
		}
		return 0, false
	})
}

func (s *orcamanBoxedSession[R]) Mix(shared []atomic.Uint64, ops []uint32, id uint64) (sum uint64, stale, failed int) {
	mix(shared, ops,
		func(place *atomic.Uint64) {
			if v, ok := s.values.Get(place.Load()); ok {
				sum += v.ID
			} else {
				stale++
			}
		},
		func(place *atomic.Uint64, i int) {
			k := s.key()
			s.values.Set(k, &Value[R]{id + uint64(i), s.rest})
			n := place.Swap(k)
			_, ok := s.values.Pop(n)
			failed += missed(ok)
		})
	return
}
