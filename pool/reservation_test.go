package pool_test

import (
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// A pool is collected although a Reservation and a Worker refer to it, and its Reset or one of
// its values to them.
func TestOpenedKeepsNoPool(t *testing.T) {
	type node struct {
		r *pool.Reservation[node]
		w *pool.Worker[node]
	}
	var gone weak.Pointer[pool.Pool[node]]
	testkit.Apart(func() {
		var of node
		p := tiny(t, &pool.Options[node]{Reset: func(v *node) { *v = of }})
		of = node{mustReserve(t, p), p.Worker()}
		r := mustReserve(t, p)
		r.Pointer().r = r
		_, err := of.w.Insert(node{r, of.w})
		assert.NoError(t, err)
		gone = weak.Make(p)
	})
	testkit.Eventually(t, func() bool { return gone.Value() == nil }, "the pool is unreachable")
}

// What was settled keeps neither its pool nor a value.
func TestSettledKeepsNoPool(t *testing.T) {
	var r *pool.Reservation[int]
	var ref *pool.Ref[int]
	var w *pool.Worker[int]
	var gone weak.Pointer[pool.Pool[int]]
	testkit.Apart(func() {
		p := tiny(t, &pool.Options[int]{})
		r = mustReserve(t, p)
		h := r.Commit()
		ref = mustHold(t, p, h)
		ref.Release()
		w = p.Worker()
		w.Close()
		gone = weak.Make(p)
	})
	testkit.Eventually(t, func() bool { return gone.Value() == nil }, "the pool is unreachable")
	require.Equal(t, r.Handle(), ref.Handle())
	runtime.KeepAlive(w)
}

// As long as one Reservation of a block is kept, all of it stays as it is. Then
// those that are open come back, and those that were settled do not.
func TestBlockIsDroppedAsOne(t *testing.T) {
	const n = pool.BlockCells - 1
	p := tiny(t, &pool.Options[stamp]{})
	var kept []*pool.Reservation[stamp]
	testkit.Apart(func() {
		for i := range n {
			r := mustReserve(t, p)
			r.Pointer().id = uint64(i)
			if i%3 == 0 {
				kept = append(kept, r)
			}
		}
	})
	for range 5 {
		runtime.GC()
	}
	require.Equal(t, n, p.Stats().Reserved)
	for i, r := range kept {
		require.EqualValues(t, 3*i, p.MustGet(r.Commit()).id, r.Handle())
	}
	for range 5 {
		runtime.GC()
	}
	require.Equal(t, n-len(kept), p.Stats().Reserved)
	runtime.KeepAlive(kept)
	hs := make([]pool.Handle[stamp], len(kept))
	for i, r := range kept {
		hs[i] = r.Handle()
	}
	settled := len(kept)
	clear(kept)
	testkit.Eventually(t, func() bool { return p.Stats().Reserved == 0 }, "all are dropped: %+v", p.Stats())
	require.Equal(t, n-settled, p.Stats().Dropped)
	for i, h := range hs {
		require.EqualValuesf(t, 3*i, p.MustGet(h).id, "%v was committed", h)
	}
	require.Equal(t, settled, p.Clear())
	testkit.RequireReclaimed(t, p)
	w := p.Worker()
	_, err := w.Insert(stamp{})
	require.NoError(t, err)
	st := p.Stats()
	require.Positive(t, st.Cached)
	require.Zero(t, st.Reserved, "what a Worker keeps does not count as reserved")
	w.Close()
}

// A settled Reservation that is kept, and its neighbours, keep no page that Trim
// gives up.
func TestSettledReservationKeepsNoPage(t *testing.T) {
	p := tiny(t, &pool.Options[stamp]{Shards: 1})
	var kept []*pool.Reservation[stamp]
	var pages []weak.Pointer[stamp]
	testkit.Apart(func() {
		for i := range 200 {
			r := mustReserve(t, p)
			pages = append(pages, weak.Make(r.Pointer()))
			kept = append(kept, r)
			if i%2 == 0 {
				r.Cancel()
			} else {
				r.Commit()
			}
		}
	})
	p.Clear()
	testkit.RequireReclaimed(t, p)
	require.Positive(t, p.Trim())
	left := func() (n int) {
		for _, page := range pages {
			if page.Value() != nil {
				n++
			}
		}
		return n
	}
	testkit.Eventually(t, func() bool { return left() <= 4 }, "%d of %d values have memory", left(), len(pages))
	runtime.KeepAlive(kept)
}

func TestReserveAllocatesFewObjectsABlock(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection ends a block without references
	for _, opts := range []*pool.Options[plain]{{Shards: 1}, {Shards: 1, Capacity: 100, Preallocate: true}} {
		p := pool.Must(opts)
		const blocks = 10
		f := func() {
			for i := range blocks * pool.BlockCells {
				r, err := p.Reserve()
				switch {
				case err != nil:
					t.Error(err)
				case i%2 == 0:
					p.Remove(r.Commit())
				default:
					r.Cancel()
				}
			}
		}
		f()
		assert.EqualValues(t, 8*blocks, testing.AllocsPerRun(10, f)) // the block, its supply with a weak pointer, and its life
	}
}

// Goroutines that use up a block together make one block, not one each. A block that was replaced has no
// cell left.
func TestReservationsFillTheirBlocks(t *testing.T) {
	const goroutines, each = 16, 4 * pool.BlockCells
	for range testkit.Long(40) {
		p := pool.Must[int](nil)
		var kept [goroutines][each]*pool.Reservation[int]
		testkit.Together(goroutines, func(k int) {
			for i := range each {
				kept[k][i], _ = p.Reserve()
			}
		})
		var cells []uintptr
		for k := range kept {
			for _, r := range kept[k] {
				cells = append(cells, pool.CellOf(r))
			}
		}
		slices.Sort(cells)
		blocks := 1
		for i := range len(cells) - 1 {
			if cells[i+1]-cells[i] != pool.CellSize {
				blocks++
			}
		}
		require.LessOrEqual(t, blocks, goroutines*each/pool.BlockCells)
		runtime.KeepAlive(&kept)
	}
}

// Of many goroutines that settle one Reservation at once, one succeeds.
func TestReservationSettlesOnceUnderContention(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Capacity: 2})
	for range testkit.Long(500) {
		r := mustReserve(t, p)
		var settled atomic.Int32
		settle := [...]func(){func() { r.Commit() }, r.Cancel, func() { r.Commit() }, r.Cancel}
		testkit.Together(len(settle), func(k int) {
			if testkit.Recovered(settle[k]) == nil {
				settled.Inc()
			}
		})
		require.EqualValues(t, 1, settled.Load())
		p.Clear()
	}
	require.Equal(t, 2, testkit.RequireReclaimed(t, p).Free)
}
