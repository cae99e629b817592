package peer

import (
	"coatcheck/bench/suite"
	"coatcheck/pool"
)

type handle[R any] = pool.Handle[Value[R]]

// Pool is coatcheck's pool. open opens a session of it. If read is not nil, it makes the
// Read of each session.
func Pool[R any](name string, open func(*pool.Pool[Value[R]], R) contestant[uint64], read func(*pool.Pool[Value[R]]) reading) Peer[R] {
	return Peer[R]{
		About: About{Name: name, Role: suite.Ours, Keys: true, Reads: read != nil, Writes: read == nil && name != NamePool},
		Open: func(c Config[R]) Store {
			opts := pool.Options[Value[R]]{}
			if !c.Grow {
				// Slots that guards and Workers hold back come on top of the live ones.
				opts.Capacity = c.Live + 128*c.Sessions + 4096
				opts.Preallocate = true
			}
			p := pool.Must(&opts)
			return Store{
				Session: func() Session {
					s := &session[uint64]{contestant: open(p, c.Rest)}
					if read != nil {
						s.read = read(p)
					}
					return s
				},
				All: func() (n int, sum uint64) {
					for _, v := range p.All() {
						n++
						sum += v.ID
					}
					return
				},
			}
		},
	}
}

type poolSession[R any] struct {
	unclosed
	pool *pool.Pool[Value[R]]
	rest R
}

func newPoolSession[R any](p *pool.Pool[Value[R]], rest R) contestant[uint64] {
	return &poolSession[R]{pool: p, rest: rest}
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
func newWorkerSession[R any](p *pool.Pool[Value[R]], rest R) contestant[uint64] {
	return &workerSession[R]{p.Worker(), p, rest}
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
			v, _ := guard.Get(handle[R](n))
			return idOf(v)
		})
	}
}
