package peer

import (
	"sync/atomic"

	"coatcheck/bench/suite"
)

// Plain is a slot map for one goroutine: the floor under everything that tells a
// stale name from a live one. Its users get pointers, good until the next
// insertion moves the slots, and are told of a stale name by the generation.
func Plain[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NamePlain, What: "slot map without a lock", Role: suite.Reference, Alone: true, Keys: true, Clears: true},
		Open: func(c Config[R]) (Store, error) {
			return &plainStore[R]{newSlotMap(c), c.Rest}, nil
		},
	}
}

type plainStore[R any] struct {
	values slotMap[Value[R]]
	rest   R
}

func (s *plainStore[R]) Session() Session { return &plainSession[R]{values: &s.values, rest: s.rest} }
func (s *plainStore[R]) Len() int         { return s.values.live }
func (s *plainStore[R]) Close()           {}

func (s *plainStore[R]) All() (n int, sum uint64) {
	s.values.all(func(v *Value[R]) {
		n++
		sum += v.ID
	})
	return
}

type plainSession[R any] struct {
	words
	values *slotMap[Value[R]]
	rest   R
}

func (s *plainSession[R]) Put(ns Names, i int, id uint64) {
	of[uint64](ns)[i] = s.values.insert(Value[R]{id, s.rest})
}

func (s *plainSession[R]) Look(ns Names, i int) (uint64, bool) {
	return idOf(s.values.get(of[uint64](ns)[i]))
}

func (s *plainSession[R]) Drop(ns Names, i int) bool { return s.values.remove(of[uint64](ns)[i]) }

func (s *plainSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) uint64 { return s.values.insert(Value[R]{id, s.rest}) },
		func(n uint64) bool { return s.values.remove(n) })
}

func (s *plainSession[R]) Fill(ns Names, id uint64) {
	fill(of[uint64](ns), id, func(id uint64) uint64 { return s.values.insert(Value[R]{id, s.rest}) })
}

func (s *plainSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[uint64](ns),
		func(n uint64) (uint64, bool) { return idOf(s.values.get(n)) },
		func(n uint64) bool { return s.values.remove(n) })
}

func (s *plainSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[uint64](ns), picks, id,
		func(id uint64) uint64 { return s.values.insert(Value[R]{id, s.rest}) },
		func(n uint64) bool { return s.values.remove(n) })
}

func (s *plainSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) { return idOf(s.values.get(n)) })
}

func (s *plainSession[R]) Mix(shared []atomic.Uint64, ops []uint32, id uint64) (sum uint64, stale, failed int) {
	mix(shared, ops,
		func(place *atomic.Uint64) {
			got, ok := idOf(s.values.get(place.Load()))
			sum += got
			stale += missed(ok)
		},
		func(place *atomic.Uint64, i int) {
			n := place.Swap(s.values.insert(Value[R]{id + uint64(i), s.rest}))
			failed += missed(s.values.remove(n))
		})
	return
}
