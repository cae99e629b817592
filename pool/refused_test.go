package pool_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// Refusals that were not true, each found by a reader of the engine before this one.

// Of 64 slots, a guard delays the one that was removed under it. Four goroutines that insert
// eight values each find the others, wherever they are.
func TestGuardHidesNoSlotOfOtherShards(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Capacity: 64, Shards: 8})
	for range testkit.Long(4000) {
		hs := testkit.Fill(t, p, 64, testkit.Number)
		testkit.Together(4, func(k int) { p.RemoveBatch(hs[8*k : 8*k+8]) })
		g := p.Pin()
		require.True(t, p.Remove(hs[63]))
		testkit.Together(4, func(int) {
			for range 8 {
				if _, err := p.Insert(1); err != nil {
					t.Errorf("%v; %+v", err, p.Stats())
				}
			}
		})
		g.Unpin()
		p.Clear()
	}
}

// A Ref on one removed value is no reason to refuse while other slots are free or wait.
func TestRefRefusesNothingElse(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Capacity: 64, Shards: 8})
	h := testkit.MustInsert(t, p, 1)
	r := mustHold(t, p, h)
	require.True(t, p.Remove(h))
	testkit.Together(4, func(int) {
		for range testkit.Long(20_000) {
			var hs [10]pool.Handle[int]
			for i := range hs {
				var err error
				if hs[i], err = p.Insert(1); err != nil {
					t.Errorf("%v; %+v", err, p.Stats())
					return
				}
			}
			for _, h := range hs {
				p.Remove(h)
			}
		}
	})
	r.Release()
}

// Look-ups have pins of their own on some platforms, and under the race detector. They end by
// themselves, also where another guard is pinned that delays nothing.
func TestLookupRefusesNothing(t *testing.T) {
	type large [64]uint64
	p := pool.Must(&pool.Options[large]{Capacity: 2, Shards: 1})
	h := testkit.MustInsert(t, p, large{})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			select {
			case <-stop:
				return
			default:
				p.Get(h)
			}
		}
	}()
	for range testkit.Long(2000) {
		k, err := p.Insert(large{})
		require.NoError(t, err)
		require.True(t, p.Remove(k))
		g := p.Pin()
		k, err = p.Insert(large{})
		require.NoError(t, err)
		g.Unpin()
		require.True(t, p.Remove(k))
	}
	close(stop)
	wg.Wait()
}

// A slot whose Reset failed does not wait for guards that were pinned after the removal.
func TestSlotKeepsItsStamp(t *testing.T) {
	fails := false
	p := pool.Must(&pool.Options[int]{Capacity: 64, Shards: 1, Reset: func(*int) {
		if fails {
			fails = false
			panic("meant")
		}
	}})
	hs := testkit.Fill(t, p, 64, testkit.Number)
	p.RemoveBatch(hs[:32])
	g := p.Pin()
	fails = true
	require.Panics(t, func() {
		for range 32 {
			if _, err := p.Insert(1); err != nil {
				require.NoError(t, err)
			}
		}
	})
	for p.Len() < 64 {
		testkit.MustInsert(t, p, 1)
	}
	g.Unpin()
}

// A snapshot of a FIFO pool fits into a pool of the same Capacity.
func TestSnapshotFitsItsCapacity(t *testing.T) {
	for _, capacity := range []int{1, 2, 70} {
		opts := &pool.Options[int]{Capacity: capacity, Reuse: pool.FIFO}
		p := pool.Must(opts)
		for range 3 {
			p.RemoveBatch(testkit.Fill(t, p, capacity, testkit.Number))
		}
		testkit.Fill(t, p, capacity, testkit.Number)
		var b bytes.Buffer
		_, err := p.WriteTo(&b)
		require.NoError(t, err)
		c, err := pool.ReadFrom(&b, opts)
		require.NoError(t, err)
		require.Equal(t, capacity, c.Len())
	}
}

// Reclaiming a value of more than 128 KiB allocates nothing.
func TestLargeValueIsClearedInPlace(t *testing.T) {
	type large [200 << 10 / 8]*int
	p := pool.Must(&pool.Options[large]{Capacity: 2, Preallocate: true})
	require.Zero(t, testing.AllocsPerRun(20, func() {
		h, err := p.InsertFunc(func(pool.Handle[large], *large) {})
		require.NoError(t, err)
		require.True(t, p.Remove(h))
	}))
}
