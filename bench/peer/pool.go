package peer

import "coatcheck/pool"

type handle[R any] = pool.Handle[Value[R]]

// opener returns what opens coatcheck's pool, whose sessions are those that open returns.
func opener[R any](open func(*pool.Pool[Value[R]], R) *session[uint64]) func(Config[R]) Store {
	return func(c Config[R]) Store {
		p := pool.Must[Value[R]](nil) // a Capacity would cost stamps, and bound what Workers keep
		return Store{
			Session: func() Session { return open(p, c.Rest) },
			All: func() (n int, sum uint64) {
				for _, v := range p.All() {
					n++
					sum += v.ID
				}
				return
			},
		}
	}
}

type poolSession[R any] struct {
	pool *pool.Pool[Value[R]]
	rest R
}

func newPoolSession[R any](p *pool.Pool[Value[R]], rest R) *session[uint64] {
	return &session[uint64]{contestant: &poolSession[R]{p, rest}}
}

// newGuardSession returns a session that reads under a guard.
func newGuardSession[R any](p *pool.Pool[Value[R]], rest R) *session[uint64] {
	s := newPoolSession(p, rest)
	s.read = readPinned(p)
	return s
}

func (s *poolSession[R]) do(t *task[uint64]) outcome {
	return words(t, func(do loop[uint64]) outcome {
		p := s.pool // or each turn of a loop would load it
		return do(
			func(id uint64) uint64 {
				h, err := p.Insert(Value[R]{id, s.rest})
				if err != nil {
					panic(err)
				}
				return uint64(h)
			},
			func(n uint64) (uint64, bool) {
				v, ok := p.Get(handle[R](n))
				return v.ID, ok
			},
			func(n uint64) bool { return p.Remove(handle[R](n)) })
	})
}

type workerSession[R any] struct {
	*pool.Worker[Value[R]]
	pool *pool.Pool[Value[R]] // for look-ups
	rest R
}

// newWorkerSession returns a session with a Worker of its own.
func newWorkerSession[R any](p *pool.Pool[Value[R]], rest R) *session[uint64] {
	w := p.Worker()
	return &session[uint64]{contestant: &workerSession[R]{w, p, rest}, close: w.Close}
}

func (s *workerSession[R]) do(t *task[uint64]) outcome {
	return words(t, func(do loop[uint64]) outcome {
		p := s.pool
		return do(
			func(id uint64) uint64 {
				h, err := s.Insert(Value[R]{id, s.rest})
				if err != nil {
					panic(err)
				}
				return uint64(h)
			},
			func(n uint64) (uint64, bool) {
				v, ok := p.Get(handle[R](n))
				return v.ID, ok
			},
			func(n uint64) bool { return s.Remove(handle[R](n)) })
	})
}

// readPinned returns a Read under a guard. If it were inlined, its look-up would stay a call.
//
//go:noinline
func readPinned[R any](p *pool.Pool[Value[R]]) reading {
	return func(ns Names, picks []uint32) uint64 {
		guard := p.Pin()
		defer guard.Unpin()
		return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) {
			v, _ := guard.Pointer(handle[R](n))
			return idOf(v)
		})
	}
}
