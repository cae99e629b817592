package peer

import (
	"errors"
	"runtime"
	"time"

	"coatcheck/bench/suite"
	"coatcheck/pool"
)

type handle[R any] = pool.Handle[Value[R]]

// Pool is coatcheck's pool through its own methods, any number of goroutines, with
// the options that set changes.
//
// Its users are told of a stale name by every verb. The second result is what they
// look at.
func Pool[R any](name string, set func(*pool.Options[Value[R]])) Peer[R] {
	return poolPeer(name, "coatcheck/pool", set, func(h handles[R]) Session { return &poolSession[R]{h} })
}

// Worker is coatcheck's pool with a pool.Worker for each session, and the options
// that set changes. Its users are told of a stale name as the pool's are, and
// close the Worker when they are done, which is when a session is closed.
func Worker[R any](name string, set func(*pool.Options[Value[R]])) Peer[R] {
	return poolPeer(name, "coatcheck/pool through Workers", set, func(h handles[R]) Session {
		return &workerSession[R]{h, h.pool.Worker()}
	})
}

func poolPeer[R any](name, what string, set func(*pool.Options[Value[R]]), session func(handles[R]) Session) Peer[R] {
	return Peer[R]{
		About: About{Name: name, What: what, Role: suite.Ours, Keys: true},
		Open: func(c Config[R]) (Store, error) {
			var opts pool.Options[Value[R]]
			if !c.Grow {
				// What guards and workers hold back comes on top of what is live.
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
		h = s.wait(id, err)
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
		h = s.wait(id, err)
	}
	return uint64(h)
}

func (s *workerSession[R]) look(n uint64) (uint64, bool) {
	v, ok := s.worker.Get(handle[R](n))
	return v.ID, ok
}

func (s *workerSession[R]) drop(n uint64) bool { return s.worker.Remove(handle[R](n)) }

// handles is what sessions of a pool share, whatever they insert and remove
// through: their names, and looking up under a guard.
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

// patience is how long a session waits for guards of others.
const patience = 10 * time.Second

// wait inserts a value after all, when err says that the pool has no room only
// because somebody else is pinned, who may have been put to sleep there. Those who
// bound a pool have to do so. A pool that is full for another reason, or stays so,
// is the end of the run.
func (s *handles[R]) wait(id uint64, err error) (h handle[R]) {
	for start := time.Now(); err != nil; h, err = s.pool.Insert(Value[R]{id, s.rest}) {
		if !errors.Is(err, pool.ErrStalled) || time.Since(start) > patience {
			panic(err)
		}
		runtime.Gosched()
	}
	return h
}

// batch is how many look-ups ReadBatch makes at once: enough that their cache
// misses overlap, few enough that what they find is still in the first cache.
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
