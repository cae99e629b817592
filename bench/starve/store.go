package main

import (
	"coatcheck/bench/peer"
	"coatcheck/pool"
)

// store is what a subject's goroutines use.
type store[R any] struct {
	name   string
	insert func(v *peer.Value[R]) (name uint64, err error)
	look   func(name uint64) (id uint64, ok bool)
	remove func(name uint64) bool
	pin    func() pool.Guard[peer.Value[R]] // nil if it has no guards
}

// baseline is the subject of the ratios.
const baseline = "mutex"

// stores returns the subjects of a run.
func stores[R any](capacity int) []*store[R] {
	m := peer.NewMutexMap[R](capacity)
	return []*store[R]{pooled[R]("pool", capacity, pool.LIFO), pooled[R]("fifo", capacity, pool.FIFO), {
		name: baseline,
		insert: func(v *peer.Value[R]) (uint64, error) {
			name, ok := m.InsertBelow(capacity, *v)
			if !ok {
				return 0, pool.ErrFull
			}
			return name, nil
		},
		look: func(name uint64) (uint64, bool) {
			v, ok := m.Get(name)
			return v.ID, ok
		},
		remove: m.Remove,
	}}
}

func pooled[R any](name string, capacity int, reuse pool.Reuse) *store[R] {
	p := pool.Must(&pool.Options[peer.Value[R]]{Capacity: capacity, Preallocate: true, Reuse: reuse, Origin: 1})
	return &store[R]{
		name: name,
		insert: func(v *peer.Value[R]) (uint64, error) {
			h, err := p.Insert(*v)
			return uint64(h), err
		},
		look: func(name uint64) (uint64, bool) {
			v, ok := p.Get(pool.Handle[peer.Value[R]](name))
			return v.ID, ok
		},
		remove: func(name uint64) bool { return p.Remove(pool.Handle[peer.Value[R]](name)) },
		pin:    p.Pin,
	}
}
