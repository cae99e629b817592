package peer

import (
	"sync/atomic"

	"coatcheck/bench/suite"
	"coatcheck/pool"
)

// Pool is coatcheck's pool through its own methods, any number of goroutines, with
// the options that set changes.
//
// Its users are told of a stale name by every verb. The second result is what they
// look at.
func Pool[R any](name string, set func(*pool.Options[Value[R]])) Peer[R] {
	return Peer[R]{
		About: About{Name: name, What: "coatcheck/pool", Role: suite.Ours, Keys: true, Clears: true},
		Open: func(c Config[R]) (Store, error) {
			p, err := newPool(c, set)
			if err != nil {
				return nil, err
			}
			return &poolStore[R]{p, c.Rest}, nil
		},
	}
}

// newPool makes the pool for c, with the options that set changes.
func newPool[R any](c Config[R], set func(*pool.Options[Value[R]])) (*pool.Pool[Value[R]], error) {
	var opts pool.Options[Value[R]]
	if !c.Grow {
		// What guards and workers hold back comes on top of what is live.
		opts.Capacity = c.Live + 128*c.Sessions + 4096
		opts.Preallocate = true
	}
	if set != nil {
		set(&opts)
	}
	return pool.New(&opts)
}

type poolStore[R any] struct {
	pool *pool.Pool[Value[R]]
	rest R
}

func (s *poolStore[R]) Session() Session {
	return &poolSession[R]{handles[R]{pool: s.pool, rest: s.rest}}
}

func (s *poolStore[R]) Len() int { return s.pool.Len() }
func (s *poolStore[R]) Close()   {}

func (s *poolStore[R]) All() (n int, sum uint64) {
	for _, v := range s.pool.All() {
		n++
		sum += v.ID
	}
	return
}

type poolSession[R any] struct{ handles[R] }

func (s *poolSession[R]) ReadOwned(ns Names, picks []uint32) uint64 {
	return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) {
		v, ok := pool.Ptr[Value[R]]{Pool: s.pool, Handle: handle[R](n)}.Get()
		return v.ID, ok
	})
}

func (s *poolSession[R]) Put(ns Names, i int, id uint64) {
	h, err := s.pool.Insert(Value[R]{id, s.rest})
	if err != nil {
		h = s.wait(id, err)
	}
	of[uint64](ns)[i] = uint64(h)
}

func (s *poolSession[R]) Look(ns Names, i int) (uint64, bool) {
	v, ok := s.pool.Get(handle[R](of[uint64](ns)[i]))
	return v.ID, ok
}

func (s *poolSession[R]) Drop(ns Names, i int) bool {
	return s.pool.Remove(handle[R](of[uint64](ns)[i]))
}

func (s *poolSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) uint64 {
			h, err := s.pool.Insert(Value[R]{id, s.rest})
			if err != nil {
				h = s.wait(id, err)
			}
			return uint64(h)
		},
		func(n uint64) bool { return s.pool.Remove(handle[R](n)) })
}

func (s *poolSession[R]) Fill(ns Names, id uint64) {
	fill(of[uint64](ns), id, func(id uint64) uint64 {
		h, err := s.pool.Insert(Value[R]{id, s.rest})
		if err != nil {
			h = s.wait(id, err)
		}
		return uint64(h)
	})
}

func (s *poolSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[uint64](ns),
		func(n uint64) (uint64, bool) {
			v, ok := s.pool.Get(handle[R](n))
			return v.ID, ok
		},
		func(n uint64) bool { return s.pool.Remove(handle[R](n)) })
}

func (s *poolSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[uint64](ns), picks, id,
		func(id uint64) uint64 {
			h, err := s.pool.Insert(Value[R]{id, s.rest})
			if err != nil {
				h = s.wait(id, err)
			}
			return uint64(h)
		},
		func(n uint64) bool { return s.pool.Remove(handle[R](n)) })
}

func (s *poolSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) {
		v, ok := s.pool.Get(handle[R](n))
		return v.ID, ok
	})
}

func (s *poolSession[R]) Mix(shared []atomic.Uint64, ops []uint32, id uint64) (sum uint64, stale, failed int) {
	mix(shared, ops,
		func(place *atomic.Uint64) {
			v, ok := s.pool.Get(handle[R](place.Load()))
			sum += v.ID
			stale += missed(ok)
		},
		func(place *atomic.Uint64, i int) {
			h, err := s.pool.Insert(Value[R]{id + uint64(i), s.rest})
			if err != nil {
				h = s.wait(id+uint64(i), err)
			}
			n := place.Swap(uint64(h))
			failed += missed(s.pool.Remove(handle[R](n)))
		})
	return
}
