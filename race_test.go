package coatcheck_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/pool"
)

// last is a pool's last generation.
const last = 1<<32 - 3

// TestTakeInLastLifeKeepsTheValue takes values whose slots have no life after
// this one, enough of them that slots are reclaimed on the way. It catches a
// Take that reads the value after the slot was retired.
func TestTakeInLastLifeKeepsTheValue(t *testing.T) {
	const n = 300
	takers := map[string]func(p *pool.Pool[uint64]) func(pool.Handle[uint64]) (uint64, bool){
		"pool":   func(p *pool.Pool[uint64]) func(pool.Handle[uint64]) (uint64, bool) { return p.Take },
		"worker": func(p *pool.Pool[uint64]) func(pool.Handle[uint64]) (uint64, bool) { return p.Worker().Take },
	}
	for name, taker := range takers {
		t.Run(name, func(t *testing.T) {
			p := pool.Must(&pool.Options[uint64]{Origin: last, Shards: 1})
			take := taker(p)
			var hs []pool.Handle[uint64]
			for i := range uint64(n) {
				h, err := p.Insert(i + 1)
				require.NoError(t, err)
				hs = append(hs, h)
			}
			for i, h := range hs {
				v, ok := take(h)
				require.True(t, ok, "%v", h)
				require.EqualValues(t, i+1, v, "value of %v", h)
			}
		})
	}
}

// TestFirstInsertsFindRoom inserts one value on each of several goroutines into
// a new pool that has room for many more. None may be told that it is full.
func TestFirstInsertsFindRoom(t *testing.T) {
	const goroutines = 4
	for _, reuse := range []pool.Reuse{pool.LIFO, pool.FIFO} {
		t.Run(reuse.String(), func(t *testing.T) {
			for round, end := 0, time.Now().Add(300*time.Millisecond); round < 100 || time.Now().Before(end); round++ {
				p := pool.Must(&pool.Options[uint64]{Capacity: 64, Shards: 1, Reuse: reuse})
				var failed atomic.Error
				var wg sync.WaitGroup
				start := make(chan struct{})
				for range goroutines {
					wg.Add(1)
					go func() {
						defer wg.Done()
						<-start
						if _, err := p.Insert(1); err != nil {
							failed.Store(err)
						}
					}()
				}
				close(start)
				wg.Wait()
				require.NoError(t, failed.Load(), "round %d: %d of 64 are live", round, p.Len())
			}
		})
	}
}

// TestNoStallWithoutAGuard stalls slots that have a life left behind slots that
// have none. When the guard is gone, the next insertion must succeed.
func TestNoStallWithoutAGuard(t *testing.T) {
	p := pool.Must(&pool.Options[uint64]{Capacity: 8, Shards: 1, Origin: last - 2})
	var hs []pool.Handle[uint64]
	fill := func() {
		for {
			h, err := p.Insert(1)
			if err != nil {
				return
			}
			hs = append(hs, h)
		}
	}
	fill()
	for _, h := range hs[:4] {
		require.True(t, p.Remove(h))
	}
	require.NoError(t, p.Synchronize(context.Background()))
	hs = hs[4:]
	fill()
	require.Len(t, hs, 8, "four in their last life behind four that have another")
	g := p.Pin()
	for _, h := range hs[4:] {
		require.True(t, p.Remove(h))
	}
	_, err := p.Insert(1)
	require.ErrorIs(t, err, pool.ErrFull)
	for _, h := range hs[:4] {
		require.True(t, p.Remove(h))
	}
	_, err = p.Insert(1)
	require.ErrorIs(t, err, pool.ErrStalled)
	g.Unpin()
	_, err = p.Insert(1)
	require.NoError(t, err, "no guard is pinned")
}

// TestReserveStandsInForTheSpent: a FIFO pool misses an exhausted slot in its
// reserve first, so that an insertion which waits for that is stalled, not full.
func TestReserveStandsInForTheSpent(t *testing.T) {
	p := pool.Must(&pool.Options[uint64]{Capacity: 1, Shards: 1, Reuse: pool.FIFO, MinFree: 2, Origin: last})
	h, err := p.Insert(1)
	require.NoError(t, err)
	g := p.Pin()
	require.True(t, p.Remove(h))
	_, err = p.Insert(1)
	require.ErrorIs(t, err, pool.ErrStalled, "nothing is live, and unpinning makes room")
	g.Unpin()
	_, err = p.Insert(1)
	require.NoError(t, err)
}

// TestCloseKeepsNoSlotFromReset closes a Worker while the Reset that this causes
// uses it. It may refuse, but no slot may be lost.
func TestCloseKeepsNoSlotFromReset(t *testing.T) {
	var w *pool.Worker[uint64]
	closing, resets := false, 0
	p := pool.Must(&pool.Options[uint64]{Shards: 1, Reset: func(*uint64) {
		if resets++; closing && resets == 1 {
			defer func() { _ = recover() }() // it may refuse
			_, _ = w.Insert(1)
		}
	}})
	w = p.Worker()
	var hs []pool.Handle[uint64]
	for range 80 {
		h, err := p.Insert(1)
		require.NoError(t, err)
		hs = append(hs, h)
	}
	for _, h := range hs[:40] {
		require.True(t, p.Remove(h))
	}
	for _, h := range hs[40:] {
		require.True(t, w.Remove(h))
	}
	closing, resets = true, 0
	w.Close()
	require.NotZero(t, resets, "Close did not reclaim")
	st := p.Stats()
	require.Equal(t, st.Allocated, st.Live+st.Free+st.Limbo+st.Cached+st.Reserved+st.Exhausted, "%+v", st)
}
