package pool_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// Many goroutines look up and loop under one guard while others remove what they
// look at and insert in its place: what the guard gave stays what it was for all of
// them, and is reused once it is unpinned. It catches a guard that writes to
// itself when it looks up (the race detector's part) and one that holds for the
// goroutine that pinned it alone.
func TestOneGuardServesManyGoroutines(t *testing.T) {
	const goroutines, n = 8, 64
	p := tiny[stamp](t, &pool.Options[stamp]{Shards: 2})
	hs := fill(t, p, n, func(i int) stamp { return stamp{id: uint64(i + 1)} })
	g := p.Pin()
	var seen [goroutines][n]*stamp
	var looked, wg sync.WaitGroup
	looked.Add(goroutines)
	removed := make(chan struct{})
	for k := range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i, h := range hs {
				seen[k][i], _ = g.Get(h)
			}
			looked.Done()
			<-removed
			for i, v := range seen[k] {
				if assert.NotNilf(t, v, "%v was live when goroutine %d looked", hs[i], k) {
					assert.EqualValuesf(t, i+1, v.id, "%v is reused under goroutine %d", hs[i], k)
				}
			}
			for h, v := range g.All() {
				assert.Greaterf(t, v.id, uint64(n), "%v was inserted after the removals", h)
			}
		}()
	}
	looked.Wait()
	require.Equal(t, n, p.RemoveBatch(hs))
	fill(t, p, n, func(i int) stamp { return stamp{id: uint64(n + i + 1)} })
	close(removed)
	wg.Wait()
	require.GreaterOrEqual(t, p.Stats().Limbo, n)
	g.Unpin()
	requireReclaimed(t, p)
}
