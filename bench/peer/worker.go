package peer

import (
	"sync/atomic"

	"coatcheck/bench/suite"
	"coatcheck/pool"
)

// Worker is coatcheck's pool with a pool.Worker for each session, and the options
// that set changes. Its users are told of a stale name as the pool's are, and
// close the Worker when they are done, which is when a session is closed.
func Worker[R any](name string, set func(*pool.Options[Value[R]])) Peer[R] {
	return Peer[R]{
		About: About{Name: name, What: "coatcheck/pool through Workers", Role: suite.Ours, Keys: true, Clears: true},
		Open: func(c Config[R]) (Store, error) {
			p, err := newPool(c, set)
			if err != nil {
				return nil, err
			}
			return &workerStore[R]{poolStore[R]{p, c.Rest}}, nil
		},
	}
}

type workerStore[R any] struct{ poolStore[R] }

func (s *workerStore[R]) Session() Session {
	return &workerSession[R]{handles[R]{pool: s.pool, rest: s.rest}, s.pool.Worker()}
}

type workerSession[R any] struct {
	handles[R]
	worker *pool.Worker[Value[R]]
}

func (s *workerSession[R]) Close() { s.worker.Close() }

func (s *workerSession[R]) Put(ns Names, i int, id uint64) {
	h, err := s.worker.Insert(Value[R]{id, s.rest})
	if err != nil {
		h = s.wait(id, err)
	}
	of[uint64](ns)[i] = uint64(h)
}

func (s *workerSession[R]) Look(ns Names, i int) (uint64, bool) {
	v, ok := s.worker.Get(handle[R](of[uint64](ns)[i]))
	return v.ID, ok
}

func (s *workerSession[R]) Drop(ns Names, i int) bool {
	return s.worker.Remove(handle[R](of[uint64](ns)[i]))
}

func (s *workerSession[R]) Pairs(n int, id uint64) int {
	return pairs(n, id,
		func(id uint64) uint64 {
			h, err := s.worker.Insert(Value[R]{id, s.rest})
			if err != nil {
				h = s.wait(id, err)
			}
			return uint64(h)
		},
		func(n uint64) bool { return s.worker.Remove(handle[R](n)) })
}

func (s *workerSession[R]) Fill(ns Names, id uint64) {
	fill(of[uint64](ns), id, func(id uint64) uint64 {
		h, err := s.worker.Insert(Value[R]{id, s.rest})
		if err != nil {
			h = s.wait(id, err)
		}
		return uint64(h)
	})
}

func (s *workerSession[R]) Empty(ns Names) (uint64, int) {
	return empty(of[uint64](ns),
		func(n uint64) (uint64, bool) {
			v, ok := s.worker.Get(handle[R](n))
			return v.ID, ok
		},
		func(n uint64) bool { return s.worker.Remove(handle[R](n)) })
}

func (s *workerSession[R]) Replace(ns Names, picks []uint32, id uint64) int {
	return replace(of[uint64](ns), picks, id,
		func(id uint64) uint64 {
			h, err := s.worker.Insert(Value[R]{id, s.rest})
			if err != nil {
				h = s.wait(id, err)
			}
			return uint64(h)
		},
		func(n uint64) bool { return s.worker.Remove(handle[R](n)) })
}

func (s *workerSession[R]) Read(ns Names, picks []uint32) uint64 {
	return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) {
		v, ok := s.worker.Get(handle[R](n))
		return v.ID, ok
	})
}

func (s *workerSession[R]) Mix(shared []atomic.Uint64, ops []uint32, id uint64) (sum uint64, stale, failed int) {
	mix(shared, ops,
		func(place *atomic.Uint64) {
			v, ok := s.worker.Get(handle[R](place.Load()))
			sum += v.ID
			stale += missed(ok)
		},
		func(place *atomic.Uint64, i int) {
			h, err := s.worker.Insert(Value[R]{id + uint64(i), s.rest})
			if err != nil {
				h = s.wait(id+uint64(i), err)
			}
			n := place.Swap(uint64(h))
			failed += missed(s.worker.Remove(handle[R](n)))
		})
	return
}
