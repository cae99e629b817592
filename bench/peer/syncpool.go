package peer

import (
	"coatcheck/bench/suite"
	"reflect"
	"sync"
)

// SyncPool is the standard library's recycler of allocations. Names are pointers.
//
// Its users have to know by themselves that a pointer is still theirs: a stale one
// reads whatever its memory has become, and a second Put gives it to two owners.
// They clear what they give back, lest it keep alive what it points to.
func SyncPool[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameSyncPool, What: standard("sync.Pool"), Role: suite.Reference, Clears: true},
		Open: func(c Config[R]) (Store, error) {
			return &syncPoolStore[R]{clear: hasPointers(reflect.TypeFor[R]()), rest: c.Rest}, nil
		},
	}
}

type syncPoolStore[R any] struct {
	values sync.Pool
	clear  bool
	rest   R
}

func (s *syncPoolStore[R]) Session() Session {
	return &syncPoolSession[R]{values: &s.values, clear: s.clear, rest: s.rest}
}

func (s *syncPoolStore[R]) Len() int { return -1 }
func (s *syncPoolStore[R]) Close()   {}

type syncPoolSession[R any] struct {
	named[*Value[R]]
	values *sync.Pool
	clear  bool
	rest   R
}

func (s *syncPoolSession[R]) put(id uint64) *Value[R] {
	v, ok := s.values.Get().(*Value[R])
	if !ok {
		v = new(Value[R])
	}
	*v = Value[R]{id, s.rest}
	return v
}

func (s *syncPoolSession[R]) look(v *Value[R]) (uint64, bool) { return v.ID, true }

func (s *syncPoolSession[R]) drop(v *Value[R]) bool {
	if s.clear {
		*v = Value[R]{}
	}
	s.values.Put(v)
	return true
}

func (s *syncPoolSession[R]) Put(ns Names, i int, id uint64) { of[*Value[R]](ns)[i] = s.put(id) }

func (s *syncPoolSession[R]) Look(ns Names, i int) (uint64, bool) {
	return s.look(of[*Value[R]](ns)[i])
}

func (s *syncPoolSession[R]) Drop(ns Names, i int) bool { return s.drop(of[*Value[R]](ns)[i]) }

func (s *syncPoolSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) *Value[R] { return s.put(id) },
		func(n *Value[R]) bool { return s.drop(n) })
}

func (s *syncPoolSession[R]) Fill(ns Names, id uint64) {
	fill(of[*Value[R]](ns), id, func(id uint64) *Value[R] { return s.put(id) })
}

func (s *syncPoolSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[*Value[R]](ns),
		func(n *Value[R]) (uint64, bool) { return s.look(n) },
		func(n *Value[R]) bool { return s.drop(n) })
}

func (s *syncPoolSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[*Value[R]](ns), picks, id,
		func(id uint64) *Value[R] { return s.put(id) },
		func(n *Value[R]) bool { return s.drop(n) })
}

func (s *syncPoolSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[*Value[R]](ns), picks, func(n *Value[R]) (uint64, bool) { return s.look(n) })
}
