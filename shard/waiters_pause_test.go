//go:build go1.25

package shard_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPausesBeginAnew: a call that waits looks at short intervals for the end of a guard which was pinned late, however often
// it was woken before.
func TestPausesBeginAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig[uint64](t, setup[uint64]{slots: 1, stampPerSlot: true})
		s := r.shards[0]
		hs := r.fill(t, s, 1, number)
		claimed := r.claimWait(t)
		for range 100 {
			synctest.Wait()
			r.arena.Wake()
		}
		g := r.arena.Domain.Pin()
		r.remove(t, s, hs...)
		time.Sleep(50 * time.Microsecond)
		g.Unpin()
		began := time.Now()
		require.NoError(t, <-claimed)
		require.LessOrEqual(t, time.Since(began), 100*time.Microsecond)
	})
}

// TestLastDropWakes: the call that waits for a slot which a hold alone keeps does not sleep to the end of its pause.
func TestLastDropWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, k := parked(t)
		claimed := r.claimWait(t)
		time.Sleep(time.Second) // until its pauses are long
		began := time.Now()
		r.arena.Drop(k)
		require.NoError(t, <-claimed)
		require.Zero(t, time.Since(began))
	})
}
