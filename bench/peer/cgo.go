package peer

import (
	"runtime/cgo"
	"sync/atomic"
)

// Cgo is the standard library's table of handles for C: a sync.Map, and a counter.
// It is one for the whole process, whose stores are therefore not apart.
//
// A stale handle panics, in Value as in Delete. To those who use it that is a bug:
// nearly all leave the panic alone, and so does everything here where names are
// live. Where a stale name is in order, because another session may have removed
// its value, one has to recover, and so does Mix. There is no way to ask first.
func Cgo[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameCgo, What: standard("runtime/cgo.Handle"), Keys: true, Clears: true},
		Open:  func(c Config[R]) (Store, error) { return &cgoStore[R]{c.Rest}, nil },
	}
}

type cgoStore[R any] struct{ rest R }

func (s *cgoStore[R]) Session() Session { return &cgoSession[R]{rest: s.rest} }
func (s *cgoStore[R]) Len() int         { return -1 }
func (s *cgoStore[R]) Close()           {}

type cgoSession[R any] struct {
	words
	rest R
}

// lookStale looks up a name that may be stale.
func (s *cgoSession[R]) lookStale(n uint64) (id uint64, ok bool) {
	defer func() {
		if recover() != nil {
			id, ok = 0, false
		}
	}()
	return cgo.Handle(n).Value().(*Value[R]).ID, true
}

// dropStale removes by a name that may be stale.
func (s *cgoSession[R]) dropStale(n uint64) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	cgo.Handle(n).Delete()
	return true
}

func (s *cgoSession[R]) Put(ns Names, i int, id uint64) {
	of[uint64](ns)[i] = uint64(cgo.NewHandle(&Value[R]{id, s.rest}))
}

func (s *cgoSession[R]) Look(ns Names, i int) (uint64, bool) {
	return cgo.Handle(of[uint64](ns)[i]).Value().(*Value[R]).ID, true
}

func (s *cgoSession[R]) Drop(ns Names, i int) bool {
	cgo.Handle(of[uint64](ns)[i]).Delete()
	return true
}

func (s *cgoSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) uint64 { return uint64(cgo.NewHandle(&Value[R]{id, s.rest})) },
		func(n uint64) bool {
			cgo.Handle(n).Delete()
			return true
		})
}

func (s *cgoSession[R]) Fill(ns Names, id uint64) {
	fill(of[uint64](ns), id, func(id uint64) uint64 { return uint64(cgo.NewHandle(&Value[R]{id, s.rest})) })
}

func (s *cgoSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[uint64](ns),
		func(n uint64) (uint64, bool) { return cgo.Handle(n).Value().(*Value[R]).ID, true },
		func(n uint64) bool {
			cgo.Handle(n).Delete()
			return true
		})
}

func (s *cgoSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[uint64](ns), picks, id,
		func(id uint64) uint64 { return uint64(cgo.NewHandle(&Value[R]{id, s.rest})) },
		func(n uint64) bool {
			cgo.Handle(n).Delete()
			return true
		})
}

func (s *cgoSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) { return cgo.Handle(n).Value().(*Value[R]).ID, true })
}

func (s *cgoSession[R]) Mix(shared []atomic.Uint64, ops []uint32, id uint64) (sum uint64, stale, failed int) {
	mix(shared, ops,
		func(place *atomic.Uint64) {
			got, ok := s.lookStale(place.Load())
			sum += got
			stale += missed(ok)
		},
		func(place *atomic.Uint64, i int) {
			n := place.Swap(uint64(cgo.NewHandle(&Value[R]{id + uint64(i), s.rest})))
			failed += missed(s.dropStale(n))
		})
	return
}
