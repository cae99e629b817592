package peer

import (
	"coatcheck/bench/suite"
	"coatcheck/pool"
)

type handle[R any] = pool.Handle[Value[R]]

// Pool is coatcheck's pool through its own methods. set, which may be nil, changes its
// options.
func Pool[R any](name string, set func(*pool.Options[Value[R]])) Peer[R] {
	return poolPeer(name, set, func(h handles[R]) Session { return &poolSession[R]{h} })
}

// Worker is coatcheck's pool with a pool.Worker for each session.
func Worker[R any](name string) Peer[R] {
	return poolPeer(name, nil, func(h handles[R]) Session {
		return &workerSession[R]{h, h.pool.Worker()}
	})
}

func poolPeer[R any](name string, set func(*pool.Options[Value[R]]), session func(handles[R]) Session) Peer[R] {
	return Peer[R]{
		About: About{Name: name, Role: suite.Ours, Keys: true},
		Open: func(c Config[R]) (Store, error) {
			var opts pool.Options[Value[R]]
			if !c.Grow {
				// Slots that guards and Workers hold back come on top of the live ones.
				opts.Capacity = c.Live + 128*c.Sessions + 4096
				opts.Preallocate = true
			}
			if set != nil {
				set(&opts)
			}
			p, err := pool.New(&opts)
			if err != nil {
				return nil, err
			}
			return store{
				session: func() Session { return session(handles[R]{pool: p, rest: c.Rest}) },
				len:     p.Len,
				trim:    func() { p.Trim() },
				all: func() (n int, sum uint64) {
					for _, v := range p.All() {
						n++
						sum += v.ID
					}
					return
				},
			}, nil
		},
	}
}

type poolSession[R any] struct{ handles[R] }

func (s *poolSession[R]) put(id uint64) uint64 {
	h, err := s.pool.Insert(Value[R]{id, s.rest})
	if err != nil {
		panic(err)
	}
	return uint64(h)
}

func (s *poolSession[R]) look(n uint64) (uint64, bool) {
	v, ok := s.pool.Get(handle[R](n))
	return v.ID, ok
}

func (s *poolSession[R]) drop(n uint64) bool { return s.pool.Remove(handle[R](n)) }

func (s *poolSession[R]) ReadOwned(ns Names, picks []uint32) uint64 {
	return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) {
		v, ok := pool.Ptr[Value[R]]{Pool: s.pool, Handle: handle[R](n)}.Get()
		return v.ID, ok
	})
}

type workerSession[R any] struct {
	handles[R]
	worker *pool.Worker[Value[R]]
}

func (s *workerSession[R]) Close() { s.worker.Close() }

func (s *workerSession[R]) put(id uint64) uint64 {
	h, err := s.worker.Insert(Value[R]{id, s.rest})
	if err != nil {
		panic(err)
	}
	return uint64(h)
}

func (s *workerSession[R]) look(n uint64) (uint64, bool) {
	v, ok := s.worker.Get(handle[R](n))
	return v.ID, ok
}

func (s *workerSession[R]) drop(n uint64) bool { return s.worker.Remove(handle[R](n)) }

// handles is the common part of both sessions: names, and look-ups under a guard.
type handles[R any] struct {
	words
	pool *pool.Pool[Value[R]]
	rest R
}

func (s *handles[R]) ReadPinned(ns Names, picks []uint32) uint64 {
	guard := s.pool.Pin()
	defer guard.Unpin()
	return read(of[uint64](ns), picks, func(n uint64) (uint64, bool) {
		v, _ := guard.Get(handle[R](n))
		return idOf(v)
	})
}

// batch is the number of look-ups of a GetBatch: enough that their cache misses overlap,
// few enough that the values are still in the first-level cache when they are read.
const batch = 64

func (s *handles[R]) ReadBatch(ns Names, picks []uint32) (sum uint64) {
	names := of[uint64](ns)
	guard := s.pool.Pin()
	defer guard.Unpin()
	var (
		hs    [batch]handle[R]
		found [batch]*Value[R]
	)
	for len(picks) > 0 {
		n := min(len(picks), batch)
		for i, pick := range picks[:n] {
			hs[i] = handle[R](names[pick])
		}
		for _, v := range guard.GetBatch(hs[:n], found[:0]) {
			if v != nil {
				sum += v.ID
			}
		}
		picks = picks[n:]
	}
	return
}
