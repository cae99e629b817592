package pool_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// The bound is above the index of each handle that was issued, also while it is not live, and does not fall in
// a Trim, after which the pool has fewer slots with memory.
func TestIndexBoundIsAboveEachIndex(t *testing.T) {
	for _, o := range []pool.Options[int]{{}, {Capacity: 3000, Reuse: pool.FIFO}, {Origin: 1, Shards: 1}, {Capacity: 3000, Preallocate: true}} {
		t.Run(describe(&o), func(t *testing.T) {
			p := tiny8(t, &o)
			require.Zero(t, p.IndexBound())
			p.Grow(100)
			require.Zero(t, p.IndexBound(), "no handle was issued")
			r, err := p.Reserve()
			require.NoError(t, err)
			require.Greater(t, p.IndexBound(), r.Handle().Index())
			r.Cancel()
			hs := testkit.Fill(t, p, 2900, testkit.Number)
			for _, h := range hs {
				require.Greater(t, p.IndexBound(), h.Index())
			}
			if o.Capacity > 0 {
				require.LessOrEqual(t, int(p.IndexBound()), o.Capacity)
			}
			last := hs[0]
			for _, h := range hs {
				if h.Index() > last.Index() {
					last = h
				}
			}
			before := p.IndexBound()
			p.DeleteFunc(func(h pool.Handle[int], _ *int) bool { return h != last })
			require.NoError(t, p.Synchronize(t.Context()))
			p.Trim()
			require.GreaterOrEqual(t, p.IndexBound(), before)
			if !o.Preallocate {
				require.Less(t, p.Stats().Allocated, int(last.Index()), "Trim gives pages back")
			}
			var found []pool.Handle[int]
			for i := range p.IndexBound() {
				if h, ok := p.At(i); ok {
					found = append(found, h)
				}
			}
			require.Equal(t, []pool.Handle[int]{last}, found)
		})
	}
	testkit.RequirePanicText(t, func() { new(pool.Pool[int]).IndexBound() }, "zero Pool")
}

// A goroutine that has a handle finds a bound above its index, while others insert.
func TestIndexBoundBesideInsertions(t *testing.T) {
	p := tiny8(t, &pool.Options[int]{Shards: 2})
	issued := make(chan pool.Handle[int])
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 300 {
				if h, err := p.Insert(1); assert.NoError(t, err) {
					issued <- h
				}
			}
		}()
	}
	go func() { wg.Wait(); close(issued) }()
	last := uint32(0)
	for h := range issued {
		bound := p.IndexBound()
		require.Greater(t, bound, h.Index())
		require.GreaterOrEqual(t, bound, last, "the bound falls")
		last = bound
	}
}
