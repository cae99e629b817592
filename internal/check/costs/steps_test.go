//go:build coatcheck_costs

package costs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/internal/cost"
	"coatcheck/pool"
)

// steps returns the steps of a call.
func steps(call func()) (d cost.Steps) {
	before := cost.Sum()
	call()
	return difference(before, cost.Sum())
}

func difference(before, after cost.Steps) cost.Steps {
	return cost.Steps{
		Cells: after.Cells - before.Cells, Slots: after.Slots - before.Slots, Batches: after.Batches - before.Batches,
		Locks: after.Locks - before.Locks, Visits: after.Visits - before.Visits,
	}
}

// TestJoinsVisitEachBatchAFewTimes: while guards keep more and more batches apart, a shard looks for batches
// to join each time that they have doubled, and not whenever a scan is paid for.
func TestJoinsVisitEachBatchAFewTimes(t *testing.T) {
	const n = 2000
	p := pool.Must(&options{Capacity: n, Shards: 1})
	hs := testkit.Fill(t, p, n, func(int) value { return value{} })
	guards := make([]guard, n)
	d := steps(func() {
		for i, h := range hs {
			guards[i] = p.Pin()
			require.True(t, p.Remove(h))
		}
	})
	require.Less(t, d.Batches, int64(2*n))
	for i := range guards {
		guards[i].Unpin()
	}
}

// TestRefusalsVisitNoBatchAgain: of what waits for one guard, a refusal has visited each batch, and the next ones
// visit none again.
func TestRefusalsVisitNoBatchAgain(t *testing.T) {
	const n, refusals = 20_000, 100
	p := pool.Must(&options{Capacity: n, Shards: 1})
	hs := testkit.Fill(t, p, n, func(int) value { return value{} })
	remove := func(hs []handle) {
		for _, h := range hs {
			brief := p.Pin()
			require.True(t, p.Remove(h))
			brief.Unpin()
		}
	}
	remove(hs[:n/2])
	testkit.RequireReclaimed(t, p)
	hs = append(hs[n/2:], testkit.Fill(t, p, n/2, func(int) value { return value{} })...)
	forgotten := p.Pin()
	remove(hs)
	refused := func() {
		_, err := p.Insert(value{})
		require.ErrorIs(t, err, pool.ErrFull)
	}
	first := steps(refused)
	require.Greater(t, first.Batches, int64(50))
	later := steps(func() {
		for range refusals {
			refused()
		}
	})
	require.Less(t, later.Batches, refusals*first.Batches/8)
	forgotten.Unpin()
}

// TestTrimOfAnIdlePoolVisitsNoSlotTwice: where all slots go with their pages, Trim drops its lists as they
// are.
func TestTrimOfAnIdlePoolVisitsNoSlotTwice(t *testing.T) {
	const n = 20_000
	for _, reuse := range []pool.Reuse{pool.LIFO, pool.FIFO} {
		p := pool.Must(&options{Shards: 1, Reuse: reuse})
		require.Equal(t, n, p.RemoveBatch(testkit.Fill(t, p, n, func(int) value { return value{} })))
		testkit.RequireReclaimed(t, p)
		var bytes int64
		d := steps(func() { bytes = int64(p.Trim()) })
		require.Positive(t, bytes)
		require.Zero(t, d.Slots)
	}
}

// TestWorkersLockNothingWhereNothingIsReady: a Worker looks at a word whether its shard has slots that only the
// holder of the lock can give it.
func TestWorkersLockNothingWhereNothingIsReady(t *testing.T) {
	const n = 5000
	p := pool.Must(&options{Shards: 1})
	p.Grow(2 * n)
	w := p.Worker()
	d := steps(func() {
		for range n {
			_, err := w.Insert(value{})
			require.NoError(t, err)
		}
	})
	require.Zero(t, d.Locks)
	w.Close()
}

// TestFilledFreelistsCostNoVisit: where a search has filled the freelist with what was removed meanwhile, it visits no slot of
// what is ready.
func TestFilledFreelistsCostNoVisit(t *testing.T) {
	const peak, n = 20_000, 2 * batch
	p := pool.Must(&options{Shards: 1})
	hs := testkit.Fill(t, p, peak+n, func(int) value { return value{} })
	require.Equal(t, peak, p.RemoveBatch(hs[n:]))
	testkit.RequireReclaimed(t, p)
	p.Insert(value{}) // takes the first part
	hs = hs[:n]
	d := steps(func() {
		for range 100 {
			require.Equal(t, n, p.RemoveBatch(hs))
			hs = testkit.Fill(t, p, n, func(int) value { return value{} })
		}
	})
	require.Zero(t, d.Slots)
}
