package peer

import (
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v4"
)

// Xsync is xsync's map. Its users find a stale name missing.
//
// It makes an entry of key and value for each insertion anyway, so that small
// values are faster by value. Large ones are copied by every verb: of 256 bytes a
// look-up is 2.6 times as fast, and a replacement 1.7 times, by pointer. At 64 bytes
// there is nothing between the two, but that one allocates more.
func Xsync[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameXsync, What: module("github.com/puzpuzpuz/xsync/v4"), Keys: true, Clears: true},
		Open: func(c Config[R]) (Store, error) {
			var presize []func(*xsync.MapConfig)
			if !c.Grow {
				presize = append(presize, xsync.WithPresize(c.Live+c.Sessions))
			}
			if large[R](xsyncBoxes) {
				return &xsyncBoxedStore[R]{xsync.NewMap[uint64, *Value[R]](presize...), c.Rest}, nil
			}
			return &xsyncStore[R]{xsync.NewMap[uint64, Value[R]](presize...), c.Rest}, nil
		},
	}
}

// xsyncBoxes is the size in bytes from which on it is given pointers.
const xsyncBoxes = 128

type xsyncStore[R any] struct {
	values *xsync.Map[uint64, Value[R]]
	rest   R
}

func (s *xsyncStore[R]) Session() Session {
	return &xsyncSession[R]{keys: newKeys(), values: s.values, rest: s.rest}
}

func (s *xsyncStore[R]) Len() int { return s.values.Size() }
func (s *xsyncStore[R]) Close()   {}

func (s *xsyncStore[R]) All() (n int, sum uint64) {
	for _, v := range s.values.All() {
		n++
		sum += v.ID
	}
	return
}

type xsyncSession[R any] struct {
	words
	keys
	values *xsync.Map[uint64, Value[R]]
	rest   R
}

func (s *xsyncSession[R]) Put(ns Names, i int, id uint64) {
	k := s.key()
	s.values.Store(k, Value[R]{id, s.rest})
	of[uint64](ns)[i] = k
}

func (s *xsyncSession[R]) Look(ns Names, i int) (uint64, bool) {
	v, ok := s.values.Load(of[uint64](ns)[i])
	return v.ID, ok
}

func (s *xsyncSession[R]) Drop(ns Names, i int) bool {
	_, ok := s.values.LoadAndDelete(of[uint64](ns)[i])
	return ok
}

func (s *xsyncSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) uint64 {
			k := s.key()
			s.values.Store(k, Value[R]{id, s.rest})
			return k
		},
		func(n uint64) bool {
			_, ok := s.values.LoadAndDelete(n)
			return ok
		})
}

func (s *xsyncSession[R]) Fill(ns Names, id uint64) {
	fill(of[uint64](ns), id, func(id uint64) uint64 {
		k := s.key()
		s.values.Store(k, Value[R]{id, s.rest})
		return k
	})
}

func (s *xsyncSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[uint64](ns),
		func(n uint64) (uint64, bool) {
			v, ok := s.values.Load(n)
			return v.ID, ok
		},
		func(n uint64) bool {
			_, ok := s.values.LoadAndDelete(n)
			return ok
		})
}

func (s *xsyncSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[uint64](ns), picks, id,
		func(id uint64) uint64 {
			k := s.key()
			s.values.Store(k, Value[R]{id, s.rest})
			return k
		},
		func(n uint64) bool {
			_, ok := s.values.LoadAndDelete(n)
			return ok
		})
}

func (s *xsyncSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) {
		v, ok := s.values.Load(n)
		return v.ID, ok
	})
}

func (s *xsyncSession[R]) Mix(shared []atomic.Uint64, ops []uint32, id uint64) (sum uint64, stale, failed int) {
	mix(shared, ops,
		func(place *atomic.Uint64) {
			v, ok := s.values.Load(place.Load())
			sum += v.ID
			stale += missed(ok)
		},
		func(place *atomic.Uint64, i int) {
			k := s.key()
			s.values.Store(k, Value[R]{id + uint64(i), s.rest})
			n := place.Swap(k)
			_, ok := s.values.LoadAndDelete(n)
			failed += missed(ok)
		})
	return
}
