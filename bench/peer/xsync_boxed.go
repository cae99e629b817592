package peer

import (
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v4"
)

// xsyncBoxedStore holds the values by pointer.
type xsyncBoxedStore[R any] struct {
	values *xsync.Map[uint64, *Value[R]]
	rest   R
}

func (s *xsyncBoxedStore[R]) Session() Session {
	return &xsyncBoxedSession[R]{keys: newKeys(), values: s.values, rest: s.rest}
}

func (s *xsyncBoxedStore[R]) Len() int { return s.values.Size() }
func (s *xsyncBoxedStore[R]) Close()   {}

func (s *xsyncBoxedStore[R]) All() (n int, sum uint64) {
	for _, v := range s.values.All() {
		n++
		sum += v.ID
	}
	return
}

type xsyncBoxedSession[R any] struct {
	words
	keys
	values *xsync.Map[uint64, *Value[R]]
	rest   R
}

func (s *xsyncBoxedSession[R]) Put(ns Names, i int, id uint64) {
	k := s.key()
	s.values.Store(k, &Value[R]{id, s.rest})
	of[uint64](ns)[i] = k
}

func (s *xsyncBoxedSession[R]) Look(ns Names, i int) (uint64, bool) {
	if v, ok := s.values.Load(of[uint64](ns)[i]); ok {
		return v.ID, true
	}
	return 0, false
}

func (s *xsyncBoxedSession[R]) Drop(ns Names, i int) bool {
	_, ok := s.values.LoadAndDelete(of[uint64](ns)[i])
	return ok
}

func (s *xsyncBoxedSession[R]) Pairs(n int, id uint64) int {
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

func (s *xsyncBoxedSession[R]) Fill(ns Names, id uint64) {
	fill(of[uint64](ns), id, func(id uint64) uint64 {
		k := s.key()
		s.values.Store(k, &Value[R]{id, s.rest})
		return k
	})
}

func (s *xsyncBoxedSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[uint64](ns),
		func(n uint64) (uint64, bool) {
			if v, ok := s.values.Load(n); ok {
				return v.ID, true
			}
			return 0, false
		},
		func(n uint64) bool {
			_, ok := s.values.LoadAndDelete(n)
			return ok
		})
}

func (s *xsyncBoxedSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
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

func (s *xsyncBoxedSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) {
		if v, ok := s.values.Load(n); ok {
			return v.ID, true
		}
		return 0, false
	})
}

func (s *xsyncBoxedSession[R]) Mix(shared []atomic.Uint64, ops []uint32, id uint64) (sum uint64, stale, failed int) {
	mix(shared, ops,
		func(place *atomic.Uint64) {
			if v, ok := s.values.Load(place.Load()); ok {
				sum += v.ID
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
