package shard_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
	"coatcheck/shard"
)

// TestStackIsLIFO pops slots one by one and in runs, the last removed first: with a list that
// was spliced, and with one whose slots were visited.
func TestStackIsLIFO(t *testing.T) {
	for _, zero := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 9, zero: zero})
		s := r.shards[0]
		require.Empty(t, s.PopRun(3))
		hs := r.fill(t, s, 9, number)
		r.remove(t, s, hs...)
		require.Empty(t, drain(s), "none is reclaimed")
		r.reclaim(t, s)
		r.requireNoSelfLink(t)
		require.Equal(t, 9, s.Free())
		slices.Reverse(hs)
		for i, most := range []int{1, 1, 3, 100} {
			got := s.PopRun(most)
			if i == 0 {
				_, h := s.TakeOne()
				got = append(got, h)
			}
			for k, h := range got {
				require.Equal(t, text(shard.Reborn(hs[k])), text(h))
			}
			hs = hs[len(got):]
		}
		require.Empty(t, hs)
		require.Zero(t, s.Free())
	}
}

// TestQueueHandsOutTheOldestFirst removes slots under guards that come and go, and reclaims now
// and then. They are handed out in the order in which they were removed.
func TestQueueHandsOutTheOldestFirst(t *testing.T) {
	const n = 3 * shard.ReclaimMost
	for seed := range testkit.LongAlone(uint64(240)) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := newRig[*int](t, setup[*int]{slots: n, fifo: true, stampPerSlot: seed%2 > 0, zero: seed%3 > 0})
		s := r.shards[0]
		hs := r.fill(t, s, n, func(i int) *int { return &i })
		require.Empty(t, s.PopRun(1))
		var got []uint32
		var guards []epoch.Guard
		pace := 1 + rnd.IntN(2*shard.Batch)
		for i, h := range hs {
			r.remove(t, s, h)
			if (i+1)%pace > 0 {
				continue
			}
			switch rnd.IntN(5) {
			case 0:
				guards = append(guards, r.arena.Domain.Pin())
			case 1, 2:
				if len(guards) > 0 {
					k := rnd.IntN(len(guards))
					guards[k].Unpin()
					guards = slices.Delete(guards, k, k+1)
				}
			case 3:
				s.Reclaim(s)
			default:
				if slot, h := s.TakeOne(); slot != nil {
					got = append(got, shard.Low(h))
				}
			}
		}
		for i := range guards {
			guards[i].Unpin()
		}
		for len(got) < n {
			s.Reclaim(s)
			r.requireNoSelfLink(t)
			got = append(got, drain(s)...)
		}
		require.Equal(t, lows(hs), got, "seed %d", seed)
		requireFinished(t, s)
	}
}

// TestQueuePrefersNewSlots: under FIFO slots that were never used go first, so that
// generations are used up evenly.
func TestQueuePrefersNewSlots(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 8, fifo: true})
	s := r.shards[0]
	_, h := s.Refill(8)
	live(r.arena.Slot(0), h, 1)
	r.remove(t, s, h)
	r.reclaim(t, s)
	require.Equal(t, []uint32{1, 2, 3, 4, 5, 6, 7, 0}, drain(s))
}

// TestRefusalFindsWhatAQueueHasReady: the freelist of a queue stays empty until all slots have been
// used. A refusal looks when they have, though the queue was not asked since.
func TestRefusalFindsWhatAQueueHasReady(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 4, fifo: true, shards: 2})
	s := r.shards[1]
	slot, h := s.Refill(4)
	live(slot, h, 1)
	for range 3 {
		slot, h := s.Fresh()
		live(slot, h, 1)
	}
	r.remove(t, s, h)
	r.reclaim(t, s)
	require.Equal(t, uint64(shard.None), s.Head())
	got, err := r.arena.Decide(r.shards[0], 0)
	require.NoError(t, err)
	require.Equal(t, shard.Reborn(h), got)
}

// TestQueuePrefersOthersNewSlots: so do those that were given to another shard, whose goroutines
// may have gone.
func TestQueuePrefersOthersNewSlots(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 8, fifo: true, shards: 2})
	s := r.shards[0]
	_, h := s.Refill(4)
	live(r.arena.Slot(0), h, 1)
	r.remove(t, s, h)
	r.reclaim(t, s)
	r.shards[1].Refill(4)
	require.Equal(t, []uint32{1, 2, 3, 5, 6, 7, 0}, drain(s))
}
