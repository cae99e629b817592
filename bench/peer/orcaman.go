package peer

import (
	"sync/atomic"

	cmap "github.com/orcaman/concurrent-map/v2"
)

// Orcaman is orcaman's map: built-in maps, each under a lock of its own. Its users
// find a stale name missing.
//
// A built-in map holds a small value in place, without an allocation, and copies it
// by every verb. At 16 bytes that is a little faster than by pointer; at 64, a
// look-up is 1.8 times as fast by pointer, and a replacement 1.4 times.
func Orcaman[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameOrcaman, What: module("github.com/orcaman/concurrent-map/v2"), Keys: true, Clears: true},
		Open: func(c Config[R]) (Store, error) {
			if large[R](orcamanBoxes) {
				m := cmap.NewWithCustomShardingFunction[uint64, *Value[R]](orcamanShard)
				return &orcamanBoxedStore[R]{m, c.Rest}, nil
			}
			m := cmap.NewWithCustomShardingFunction[uint64, Value[R]](orcamanShard)
			return &orcamanStore[R]{m, c.Rest}, nil
		},
	}
}

// orcamanShard deals keys that count out to the locks in turn, which is both the
// cheapest and the most even way.
func orcamanShard(k uint64) uint32 { return uint32(k) }

// orcamanBoxes is the size in bytes from which on it is given pointers.
const orcamanBoxes = 64

type orcamanStore[R any] struct {
	values cmap.ConcurrentMap[uint64, Value[R]]
	rest   R
}

func (s *orcamanStore[R]) Session() Session {
	return &orcamanSession[R]{keys: newKeys(), values: s.values, rest: s.rest}
}

func (s *orcamanStore[R]) Len() int { return s.values.Count() }
func (s *orcamanStore[R]) Close()   {}

func (s *orcamanStore[R]) All() (n int, sum uint64) {
	s.values.IterCb(func(_ uint64, v Value[R]) {
		n++
		sum += v.ID
	})
	return
}

type orcamanSession[R any] struct {
	words
	keys
	values cmap.ConcurrentMap[uint64, Value[R]]
	rest   R
}

func (s *orcamanSession[R]) Put(ns Names, i int, id uint64) {
	k := s.key()
	s.values.Set(k, Value[R]{id, s.rest})
	of[uint64](ns)[i] = k
}

func (s *orcamanSession[R]) Look(ns Names, i int) (uint64, bool) {
	v, ok := s.values.Get(of[uint64](ns)[i])
	return v.ID, ok
}

func (s *orcamanSession[R]) Drop(ns Names, i int) bool {
	_, ok := s.values.Pop(of[uint64](ns)[i])
	return ok
}

func (s *orcamanSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) uint64 {
			k := s.key()
			s.values.Set(k, Value[R]{id, s.rest})
			return k
		},
		func(n uint64) bool {
			_, ok := s.values.Pop(n)
			return ok
		})
}

func (s *orcamanSession[R]) Fill(ns Names, id uint64) {
	fill(of[uint64](ns), id, func(id uint64) uint64 {
		k := s.key()
		s.values.Set(k, Value[R]{id, s.rest})
		return k
	})
}

func (s *orcamanSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[uint64](ns),
		func(n uint64) (uint64, bool) {
			v, ok := s.values.Get(n)
			return v.ID, ok
		},
		func(n uint64) bool {
			_, ok := s.values.Pop(n)
			return ok
		})
}

func (s *orcamanSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[uint64](ns), picks, id,
		func(id uint64) uint64 {
			k := s.key()
			s.values.Set(k, Value[R]{id, s.rest})
			return k
		},
		func(n uint64) bool {
			_, ok := s.values.Pop(n)
			return ok
		})
}

func (s *orcamanSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) {
		v, ok := s.values.Get(n)
		return v.ID, ok
	})
}

func (s *orcamanSession[R]) Mix(shared []atomic.Uint64, ops []uint32, id uint64) (sum uint64, stale, failed int) {
	mix(shared, ops,
		func(place *atomic.Uint64) {
			v, ok := s.values.Get(place.Load())
			sum += v.ID
			stale += missed(ok)
		},
		func(place *atomic.Uint64, i int) {
			k := s.key()
			s.values.Set(k, Value[R]{id + uint64(i), s.rest})
			n := place.Swap(k)
			_, ok := s.values.Pop(n)
			failed += missed(ok)
		})
	return
}
