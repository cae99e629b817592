package peer

import (
	"reflect"
	"sync"

	"coatcheck/bench/suite"
	"coatcheck/internal/pointers"
)

// These references name a value by its pointer. A stale pointer reads whatever is in its
// memory. Values that have pointers are cleared when they are given back.

// New allocates each value and never removes one: a pointer keeps its value.
func New[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameNew, Role: suite.Reference},
		Open: func(c Config[R]) (Store, error) {
			return store{session: func() Session { return &newSession[R]{rest: c.Rest} }}, nil
		},
	}
}

type newSession[R any] struct {
	named[*Value[R]]
	rest R
	last *Value[R] // of Pairs
}

func (s *newSession[R]) put(id uint64) *Value[R]         { return &Value[R]{id, s.rest} }
func (s *newSession[R]) look(v *Value[R]) (uint64, bool) { return v.ID, true }
func (s *newSession[R]) drop(v *Value[R]) bool           { return true }

// Pairs keeps the last name. Without it the compiler would put the value on the stack.
func (s *newSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) *Value[R] {
			s.last = s.put(id)
			return s.last
		},
		func(n *Value[R]) bool { return s.drop(n) })
}

// SyncPool is sync.Pool. A second Put of a value gives it to two owners.
func SyncPool[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameSyncPool, Role: suite.Reference},
		Open: func(c Config[R]) (Store, error) {
			values, clear := new(sync.Pool), pointers.In(reflect.TypeFor[R]())
			return store{session: func() Session { return &syncPoolSession[R]{values: values, clear: clear, rest: c.Rest} }}, nil
		},
	}
}

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

// Channel is a buffered channel as a freelist, the leaky buffer.
func Channel[R any]() Peer[R] {
	return Peer[R]{
		About: About{Name: NameChannel, Role: suite.Reference},
		Open: func(c Config[R]) (Store, error) {
			values, clear := make(chan *Value[R], c.Live+c.Sessions), pointers.In(reflect.TypeFor[R]())
			if !c.Grow {
				slab := make([]Value[R], cap(values))
				for i := range slab {
					values <- &slab[i]
				}
			}
			return store{session: func() Session { return &channelSession[R]{values: values, clear: clear, rest: c.Rest} }}, nil
		},
	}
}

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
