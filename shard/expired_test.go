package shard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/shard/slots"
)

// TestShortGuardsDelayNoClearing: two calls of ClearExpired zero what was removed before, although
// another guard is pinned at each. What was removed later stays, for the guard that may read it.
func TestShortGuardsDelayNoClearing(t *testing.T) {
	for _, set := range []setup[*int]{{}, {stampPerSlot: true}, {fifo: true}, {stampPerSlot: true, fifo: true}} {
		for k, n := range []int{1, 63, 64, 100, 300, 1, 63, 64, 100, 300} {
			seals := k < 5
			set.slots, set.zero = 2*n, true
			r := newRig(t, set)
			r.advance() // so that no stamp is 0
			s := r.shards[0]
			hs := r.fill(t, s, 2*n, pointer)
			zeroed := func(hs []uint64) (zero int) {
				for _, h := range hs {
					if *slots.ValueOf[*int](r.arena.Slot(slots.Low(h))) == nil {
						zero++
					}
				}
				return zero
			}
			between := r.arena.Domain.Pin()
			r.leave(t, s, hs[:n/2]...)
			s.Round(nil)
			r.leave(t, s, hs[n/2:n]...)
			for range 2 {
				r.arena.ClearExpired()
				require.Zero(t, zeroed(hs), "of %d that the guard between may read", n)
			}
			between.Unpin()
			first := r.arena.Domain.Pin()
			r.arena.ClearExpired()
			second := r.arena.Domain.Pin()
			first.Unpin()
			r.leave(t, s, hs[n:n+n/2]...)
			if seals {
				s.Round(nil) // also what the first call has found in limbo
			}
			r.leave(t, s, hs[n+n/2:]...)
			r.arena.ClearExpired()
			if !seals {
				require.Equal(t, n, zeroed(hs[:n]), "of %d that were removed before", n)
			}
			require.Zero(t, zeroed(hs[n:]), "of %d that the second guard may read", n)
			third := r.arena.Domain.Pin()
			second.Unpin()
			r.arena.ClearExpired()
			require.Equal(t, n, zeroed(hs[:n]), "of %d that were removed before", n)
			if !seals {
				require.Equal(t, n, zeroed(hs[n:]), "of %d that were removed before the third guard", n)
			}
			third.Unpin()
			r.arena.ClearExpired()
			require.Equal(t, n, zeroed(hs[n:]))
		}
	}
}
