package peer

import (
	"reflect"
	"sync"

	"coatcheck/internal/pointers"
)

// These references name a value by its pointer. A stale pointer reads whatever is in its
// memory. Values that have pointers are cleared when they are given back.

// openNew opens no store: each value is allocated and never removed. A pointer keeps its value.
func openNew[R any](c Config[R]) Store {
	return Store{Session: func() Session { return &session[*Value[R]]{contestant: &newSession[R]{rest: c.Rest}} }}
}

type newSession[R any] struct {
	rest R
	last *Value[R] // without it the compiler would put the values of pairs on the stack
}

func (s *newSession[R]) do(t *task[*Value[R]]) outcome {
	return others(t, func(do loop[*Value[R]]) outcome {
		return do(
			func(id uint64) *Value[R] {
				s.last = &Value[R]{id, s.rest}
				return s.last
			},
			func(v *Value[R]) (uint64, bool) { return v.ID, true },
			func(v *Value[R]) bool { return true })
	})
}

// openSyncPool opens a sync.Pool. A second Put of a value gives it to two owners.
func openSyncPool[R any](c Config[R]) Store {
	values, clear := new(sync.Pool), pointers.In(reflect.TypeFor[R]())
	return Store{Session: func() Session {
		return &session[*Value[R]]{contestant: &syncPoolSession[R]{values: values, clear: clear, rest: c.Rest}}
	}}
}

type syncPoolSession[R any] struct {
	values *sync.Pool
	clear  bool
	rest   R
}

func (s *syncPoolSession[R]) do(t *task[*Value[R]]) outcome {
	return others(t, func(do loop[*Value[R]]) outcome {
		return do(
			func(id uint64) *Value[R] {
				v, ok := s.values.Get().(*Value[R])
				if !ok {
					v = new(Value[R])
				}
				*v = Value[R]{id, s.rest}
				return v
			},
			func(v *Value[R]) (uint64, bool) { return v.ID, true },
			func(v *Value[R]) bool {
				if s.clear {
					*v = Value[R]{}
				}
				s.values.Put(v)
				return true
			})
	})
}
