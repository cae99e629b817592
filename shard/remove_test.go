package shard_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// TestRemoveWaitsForNoLock: nor does an insertion that finds a slot.
func TestRemoveWaitsForNoLock(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 4 * slots.Batch})
	s := r.shards[0]
	hs := r.fill(t, s, 2*slots.Batch, number)
	done := make(chan error, 1)
	s.Lock()
	go func() {
		r.remove(t, s, hs...)
		_, _, err := s.Claim()
		done <- err
	}()
	require.NoError(t, testkit.Soon(t, done))
	s.Unlock()
	require.Equal(t, len(hs), s.Pending())
	s.Reclaim(s)
	require.Zero(t, s.Pending())
}

// TestEpochAtItsLimitReusesNothingUnderAGuard: at the last epoch a guard delays all that waits,
// since the epoch does not tell any more what was removed before its pin. While none is pinned,
// nothing changes.
func TestEpochAtItsLimitReusesNothingUnderAGuard(t *testing.T) {
	const total = 150
	for _, set := range []setup[uint64]{{stampPerSlot: true}, {stampPerSlot: true, fifo: true}, {}} {
		set.slots, set.shards = total, 2
		r := newRig(t, set)
		r.setEpoch(epoch.Limit)
		s := r.shards[0]
		for range 3 {
			hs := r.claim(t, s, total)
			early := r.arena.Domain.Pin()
			r.remove(t, s, hs[:total/2]...)
			late := r.arena.Domain.Pin()
			r.remove(t, s, hs[total/2:]...)
			early.Unpin()
			_, _, err := s.Claim()
			require.ErrorIs(t, err, shard.ErrStalled)
			require.ErrorIs(t, r.arena.Synchronize(testkit.Done()), context.Canceled)
			late.Unpin()
			require.EqualValues(t, uint64(epoch.Limit), r.arena.Domain.Epoch())
			r.remove(t, s, r.claim(t, s, total)...)
		}
	}
}

// TestStampIsNeverTooLow: a stamp has 32 bits, and is read as the latest epoch that they may
// mean. That is the true one, or a later one if the epoch has advanced 2^32 times since.
func TestStampIsNeverTooLow(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 1, stampPerSlot: true})
	r.fill(t, r.shards[0], 1, number)
	const wrap = 1 << 32
	for _, e := range []uint64{0, 1, wrap - 2, wrap - 1, wrap, wrap + 1, 5*wrap - 1, 5 * wrap, epoch.Limit - 2*wrap} {
		r.setEpoch(e)
		r.arena.Stamp(0)
		for _, since := range []uint64{0, 1, 2, 1000, wrap - 1} {
			require.Equal(t, e, r.arena.StampOf(0, e+since), "epoch %d, %d later", e, since)
		}
		for _, since := range []uint64{wrap, wrap + 1, 2*wrap - 1} {
			require.Equal(t, e+wrap, r.arena.StampOf(0, e+since), "epoch %d, %d later", e, since)
		}
	}
}

// TestEachSlotHasItsStamp: also in a page of several units.
func TestEachSlotHasItsStamp(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 64, stampPerSlot: true, pages: slots.PageSizes{Unit: 1, Page: 4}})
	var stamps []uint64
	for i := range uint32(64) {
		r.advance()
		r.arena.Stamp(i)
		stamps = append(stamps, r.arena.Domain.Epoch())
	}
	for i, stamp := range stamps {
		require.Equal(t, stamp, r.arena.StampOf(uint32(i), stamps[63]), "slot %d", i)
	}
}

// TestRemovalsOwnFewSlots: a call that gathers removals gives slots to limbo before it has more than an operation may own.
func TestRemovalsOwnFewSlots(t *testing.T) {
	for _, capacity := range []int{0, 256} {
		const total = 3*slots.Batch + 1
		r := newRig[uint64](t, setup[uint64]{slots: total, capacity: capacity})
		s := r.shards[0]
		c := s.Removals()
		most := 0
		for k, h := range r.fill(t, s, total, number) {
			require.True(t, c.Remove(h))
			require.Equal(t, k+1, s.Pending()+c.Len())
			most = max(most, c.Len())
		}
		require.Equal(t, s.MostOwned()-1, most)
		require.False(t, c.Remove(slots.Pack(1, total+1000)), "there is no such slot")
		c.End()
		require.Equal(t, total, s.Pending())
	}
}
