package shard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// TestClearExpiredReclaimsWhatHasPassed, wherever it waits, and so zeroes it. What a guard or a hold keeps
// stays.
func TestClearExpiredReclaimsWhatHasPassed(t *testing.T) {
	const n = 1000
	for _, set := range []setup[*int]{{}, {stampPerSlot: true}, {fifo: true}, {stampPerSlot: true, fifo: true}} {
		set.slots, set.zero, set.shards = 2*n, true, 2
		r := newRig(t, set)
		s := r.shards[0]
		hs := r.fill(t, s, 2*n, pointer)
		early := r.arena.Domain.Pin()
		held, _ := r.arena.Hold(hs[1])
		r.remove(t, s, hs[:n-1]...) // most of them are in batches
		r.leave(t, s, hs[n-1])      // in limbo
		late := r.arena.Domain.Pin()
		r.remove(t, s, hs[n:]...)
		free := func() int {
			r.arena.ClearExpired()
			zeroed := 0
			for _, h := range hs {
				if *slots.ValueOf[*int](r.arena.Slot(slots.Low(h))) == nil {
					zeroed++
				}
			}
			require.Equal(t, zeroed, r.shards[0].Free()+r.shards[1].Free())
			return zeroed
		}
		require.Zero(t, free())
		early.Unpin()
		some := free()
		require.GreaterOrEqual(t, some, n-slots.SealEvery)
		require.LessOrEqual(t, some, n-1)
		late.Unpin()
		require.Equal(t, 2*n-1, free())
		require.NotNil(t, *slots.ValueOf[*int](held.Slot()))
		r.arena.Drop(held)
	}
}

// TestClearExpiredNeedsOneCall where no guard is pinned, and two where one is pinned at each, also for slots
// that the first could not seal.
func TestClearExpiredNeedsOneCall(t *testing.T) {
	const n = 10
	for _, set := range []setup[*int]{{}, {stampPerSlot: true}, {fifo: true}, {stampPerSlot: true, fifo: true}} {
		set.slots, set.shards, set.zero = 2*n, 2, true
		r := newRig(t, set)
		s, d := r.shards[1], r.arena.Domain // the first one has nothing to seal
		hs := r.fill(t, s, 2*n, pointer)
		r.leave(t, s, hs[:n]...)
		r.arena.ClearExpired()
		require.Zero(t, s.Pending())
		hs = append(hs[n:], r.fill(t, s, n, pointer)...)
		between := d.Pin()
		r.leave(t, s, hs[:n]...)
		s.Round(nil) // sealed, and in no batch
		r.leave(t, s, hs[n:]...)
		between.Unpin()
		first := d.Pin()
		r.arena.ClearExpired()
		second := d.Pin()
		first.Unpin()
		r.arena.ClearExpired()
		require.Zero(t, s.Pending())
		second.Unpin()
	}
}

// TestCollectorSealsWhatItFinds: what a cycle could not seal before its scan it seals after it. A guard that is
// pinned later does not delay that at the next cycle.
func TestCollectorSealsWhatItFinds(t *testing.T) {
	for _, set := range []setup[*int]{{}, {stampPerSlot: true}, {fifo: true}} {
		set.slots, set.zero = 2, true
		r := newRig(t, set)
		s := r.shards[0]
		r.leave(t, s, r.fill(t, s, 1, pointer)...)
		shard.CollectorRound(s)
		require.Equal(t, 1, s.Pending())
		require.Zero(t, s.Removed())
		g := r.arena.Domain.Pin()
		r.arena.ClearExpired()
		require.Zero(t, s.Pending())
		g.Unpin()
	}
}

// TestClearExpiredLeavesOthersAlone: in an arena that replays, or in which nothing waits, it moves no slot, and begins
// no epoch.
func TestClearExpiredLeavesOthersAlone(t *testing.T) {
	const n = 100
	for _, replays := range []bool{false, true} {
		r := newRig(t, setup[*int]{slots: n, zero: true, replays: replays})
		s, waiting := r.shards[0], 0
		if hs := r.fill(t, s, n, pointer); replays {
			r.leave(t, s, hs...)
			waiting = n
		}
		before := r.arena.Domain.NextEpoch()
		r.arena.ClearExpired()
		require.Equal(t, before, r.arena.Domain.NextEpoch())
		require.Equal(t, waiting, s.Pending())
	}
}

// TestShortGuardsDelayNoReclaiming: two calls of ClearExpired reclaim what was removed before, although
// another guard is pinned at each. What was removed later stays, for the guard that may read it.
func TestShortGuardsDelayNoReclaiming(t *testing.T) {
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
