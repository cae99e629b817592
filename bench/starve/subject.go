package main

import (
	"coatcheck/bench/peer"
	"coatcheck/pool"
)

type store[R any] interface {
	Insert(v *peer.Value[R]) (name uint64, err error)
	Look(name uint64) (id uint64, ok bool)
	Remove(name uint64) bool
	Guards(n int) guards // of one goroutine; nil if the store has none
}

type guards interface {
	Pin(i int)
	Unpin(i int)
	Look(i int, name uint64) (id uint64, ok bool)
}

// baseline is the subject of the ratios.
const baseline = "mutex"

// stores returns the subjects of a run.
func stores[R any](capacity int) (names []string, all []store[R]) {
	for _, reuse := range []pool.Reuse{pool.LIFO, pool.FIFO} {
		p := pool.Must(&pool.Options[peer.Value[R]]{Capacity: capacity, Preallocate: true, Reuse: reuse, Origin: 1})
		all = append(all, pooled[R]{p})
	}
	return []string{"pool", "fifo", baseline}, append(all, locked[R]{peer.NewMutexMap[R](capacity), capacity})
}

type pooled[R any] struct{ p *pool.Pool[peer.Value[R]] }

func (s pooled[R]) Insert(v *peer.Value[R]) (uint64, error) {
	h, err := s.p.Insert(*v)
	return uint64(h), err
}

func (s pooled[R]) Look(name uint64) (uint64, bool) {
	v, ok := s.p.Get(pool.Handle[peer.Value[R]](name))
	return v.ID, ok
}

func (s pooled[R]) Remove(name uint64) bool { return s.p.Remove(pool.Handle[peer.Value[R]](name)) }

func (s pooled[R]) Guards(n int) guards {
	return &pins[R]{s.p, make([]pool.Guard[peer.Value[R]], n)}
}

type pins[R any] struct {
	p   *pool.Pool[peer.Value[R]]
	all []pool.Guard[peer.Value[R]]
}

func (g *pins[R]) Pin(i int)   { g.all[i] = g.p.Pin() }
func (g *pins[R]) Unpin(i int) { g.all[i].Unpin() }

func (g *pins[R]) Look(i int, name uint64) (uint64, bool) {
	v, ok := g.all[i].Get(pool.Handle[peer.Value[R]](name))
	if !ok {
		return 0, false
	}
	return v.ID, true
}

type locked[R any] struct {
	m        *peer.MutexMap[R]
	capacity int
}

func (s locked[R]) Insert(v *peer.Value[R]) (uint64, error) {
	name, ok := s.m.InsertBelow(s.capacity, *v)
	if !ok {
		return 0, pool.ErrFull
	}
	return name, nil
}

func (s locked[R]) Look(name uint64) (uint64, bool) {
	v, ok := s.m.Get(name)
	return v.ID, ok
}

func (s locked[R]) Remove(name uint64) bool { return s.m.Remove(name) }
func (s locked[R]) Guards(int) guards       { return nil }

// spoilt is a store with wrapped insertions.
type spoilt[R any] struct {
	store[R]
	spoil spoiler
}

func (s spoilt[R]) Insert(v *peer.Value[R]) (uint64, error) {
	return s.spoil(func() (uint64, error) { return s.store.Insert(v) })
}
