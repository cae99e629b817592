package peer

import (
	"coatcheck/bench/suite"
	"reflect"
)

// Channel is a buffered channel as a freelist, the leaky buffer. Names are pointers.
//
// Its users have to know by themselves that a pointer is still theirs, as those of
// sync.Pool do, and clear what they give back.
func Channel[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameChannel, What: standard("buffered channel as a freelist"), Role: suite.Reference, Clears: true},
		Open: func(c Config[R]) (Store, error) {
			s := &channelStore[R]{make(chan *Value[R], c.Live+c.Sessions), hasPointers(reflect.TypeFor[R]()), c.Rest}
			if !c.Grow {
				slab := make([]Value[R], cap(s.values))
				for i := range slab {
					s.values <- &slab[i]
				}
			}
			return s, nil
		},
	}
}

type channelStore[R any] struct {
	values chan *Value[R]
	clear  bool
	rest   R
}

func (s *channelStore[R]) Session() Session {
	return &channelSession[R]{values: s.values, clear: s.clear, rest: s.rest}
}

func (s *channelStore[R]) Len() int { return -1 }
func (s *channelStore[R]) Close()   {}

type channelSession[R any] struct {
	named[*Value[R]]
	values chan *Value[R]
	clear  bool
	rest   R
}

func (s *channelSession[R]) put(id uint64) *Value[R] {
	var v *Value[R]
	select {
	case v = <-s.values:
	default:
		v = new(Value[R])
	}
	*v = Value[R]{id, s.rest}
	return v
}

func (s *channelSession[R]) look(v *Value[R]) (uint64, bool) { return v.ID, true }

func (s *channelSession[R]) drop(v *Value[R]) bool {
	if s.clear {
		*v = Value[R]{}
	}
	select {
	case s.values <- v:
	default:
	}
	return true
}

func (s *channelSession[R]) Put(ns Names, i int, id uint64)      { of[*Value[R]](ns)[i] = s.put(id) }
func (s *channelSession[R]) Look(ns Names, i int) (uint64, bool) { return s.look(of[*Value[R]](ns)[i]) }
func (s *channelSession[R]) Drop(ns Names, i int) bool           { return s.drop(of[*Value[R]](ns)[i]) }

func (s *channelSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) *Value[R] { return s.put(id) },
		func(n *Value[R]) bool { return s.drop(n) })
}

func (s *channelSession[R]) Fill(ns Names, id uint64) {
	fill(of[*Value[R]](ns), id, func(id uint64) *Value[R] { return s.put(id) })
}

func (s *channelSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[*Value[R]](ns),
		func(n *Value[R]) (uint64, bool) { return s.look(n) },
		func(n *Value[R]) bool { return s.drop(n) })
}

func (s *channelSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[*Value[R]](ns), picks, id,
		func(id uint64) *Value[R] { return s.put(id) },
		func(n *Value[R]) bool { return s.drop(n) })
}

func (s *channelSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[*Value[R]](ns), picks, func(n *Value[R]) (uint64, bool) { return s.look(n) })
}
