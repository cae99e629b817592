package peer

import (
	"errors"
	"runtime"
	"time"

	"coatcheck/pool"
)

type handle[R any] = pool.Handle[Value[R]]

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
