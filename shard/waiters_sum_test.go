package shard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWaitingNeverCountsForLess: how long calls have waited together is exported as a counter. It sums those that
// wait and those that have waited, so a call that ends must not count for less than it did before.
func TestWaitingNeverCountsForLess(t *testing.T) {
	for range 10 {
		var ws waiters
		q := ws.queueOf()
		w := q.join()
		q.mu.Lock()
		left := make(chan struct{})
		go func() {
			q.leave(w)
			close(left)
		}()
		time.Sleep(2 * time.Millisecond) // so that leave has begun, and waits for mu
		q.mu.Unlock()
		_, _, before := ws.count() // mostly first: leave must wake up
		<-left
		_, _, after := ws.count()
		require.GreaterOrEqual(t, after, before)
	}
}
