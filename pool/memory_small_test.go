//go:build !race

package pool_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// An empty pool is small, and its first pin costs four cells, however many processors
// there are.
func TestSmallPoolIsSmallOnManyProcessors(t *testing.T) {
	if testkit.Watched {
		t.Skip("records take memory")
	}
	assert.LessOrEqual(t, pool.CoreBytes, uintptr(896), "a size class of the allocator")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64))
	p := pool.Must[int](nil)
	empty := p.Stats().Bytes
	assert.LessOrEqual(t, empty, int64(2048))
	for range 3 {
		outer := p.Pin()
		inner := p.Pin()
		inner.Unpin()
		outer.Unpin()
	}
	assert.LessOrEqual(t, p.Stats().Bytes-empty, int64(600))
}
