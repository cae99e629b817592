package peer

import (
	"sync/atomic"

	"github.com/alphadose/haxmap"
)

// Haxmap is haxmap's lock-free map. Its users find a stale name missing, but must
// not look at what they get with it: that may be the value of old.
//
// It is given its values by value, of which it allocates a copy, and no size in
// advance: an insertion goes down its index to the nearest element, and in an index
// of many places with few elements that is a long way, some 15 µs for 10,000 places.
//
// It is for one goroutine here, although its documents say otherwise: an insertion
// that meets the removal of the element before it is lost, and a value can be
// removed twice (its issue 32). TestHaxmapLoses shows it.
func Haxmap[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameHaxmap, What: module("github.com/alphadose/haxmap"), Keys: true, Clears: true, Loses: "insertions that meet a removal"},
		Open: func(c Config[R]) (Store, error) {
			return &haxmapStore[R]{haxmap.New[uint64, Value[R]](), c.Rest}, nil
		},
	}
}

type haxmapStore[R any] struct {
	values *haxmap.Map[uint64, Value[R]]
	rest   R
}

func (s *haxmapStore[R]) Session() Session {
	return &haxmapSession[R]{keys: newKeys(), values: s.values, rest: s.rest}
}

func (s *haxmapStore[R]) Len() int { return int(s.values.Len()) }
func (s *haxmapStore[R]) Close()   {}

func (s *haxmapStore[R]) All() (n int, sum uint64) {
	s.values.ForEach(func(_ uint64, v Value[R]) bool {
		n++
		sum += v.ID
		return true
	})
	return
}

type haxmapSession[R any] struct {
	words
	keys
	values *haxmap.Map[uint64, Value[R]]
	rest   R
}

func (s *haxmapSession[R]) Put(ns Names, i int, id uint64) {
	k := s.key()
	s.values.Set(k, Value[R]{id, s.rest})
	of[uint64](ns)[i] = k
}

func (s *haxmapSession[R]) Look(ns Names, i int) (uint64, bool) {
	if v, ok := s.values.Get(of[uint64](ns)[i]); ok {
		return v.ID, true
	}
	return 0, false
}

func (s *haxmapSession[R]) Drop(ns Names, i int) bool {
	_, ok := s.values.GetAndDel(of[uint64](ns)[i])
	return ok
}

func (s *haxmapSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) uint64 {
			k := s.key()
			s.values.Set(k, Value[R]{id, s.rest})
			return k
		},
		func(n uint64) bool {
			_, ok := s.values.GetAndDel(n)
			return ok
		})
}

func (s *haxmapSession[R]) Fill(ns Names, id uint64) {
	fill(of[uint64](ns), id, func(id uint64) uint64 {
		k := s.key()
		s.values.Set(k, Value[R]{id, s.rest})
		return k
	})
}

func (s *haxmapSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[uint64](ns),
		func(n uint64) (uint64, bool) {
			if v, ok := s.values.Get(n); ok {
				return v.ID, true
			}
			return 0, false
		},
		func(n uint64) bool {
			_, ok := s.values.GetAndDel(n)
			return ok
		})
}

func (s *haxmapSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[uint64](ns), picks, id,
		func(id uint64) uint64 {
			k := s.key()
			s.values.Set(k, Value[R]{id, s.rest})
			return k
		},
		func(n uint64) bool {
			_, ok := s.values.GetAndDel(n)
			return ok
		})
}

func (s *haxmapSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) {
		if v, ok := s.values.Get(n); ok {
			return v.ID, true
		}
		return 0, false
	})
}

func (s *haxmapSession[R]) Mix(shared []atomic.Uint64, ops []uint32, id uint64) (sum uint64, stale, failed int) {
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
			s.values.Set(k, Value[R]{id + uint64(i), s.rest})
			n := place.Swap(k)
			_, ok := s.values.GetAndDel(n)
			failed += missed(ok)
		})
	return
}
