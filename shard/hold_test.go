package shard_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// TestRoundsAreBoundedBesideAHold: slots that are asked for holders are visited, and so a round has as many as may be.
func TestRoundsAreBoundedBesideAHold(t *testing.T) {
	const n, each = 1000, 100
	r := newRig[uint64](t, setup[uint64]{slots: n + 1})
	s := r.shards[0]
	hs := r.fill(t, s, n+1, number)
	k, ok := r.arena.Hold(hs[n])
	require.True(t, ok)
	for k := 0; k < n; k += each { // a round has room for a part of its last batch, which ends within a page
		r.leave(t, s, hs[k:k+each]...)
		s.Seal()
	}
	for free, more := 0, true; more; {
		var visits int
		visits, more = s.Round(nil)
		require.LessOrEqual(t, visits, shard.ReclaimMost)
		require.Equal(t, free+visits, s.Free())
		free += visits
	}
	require.Equal(t, n, s.Free())
	r.arena.Drop(k)
}

// TestHeldSlotStopsNoOther: in a batch some slots are held. All others are free after it, with the next
// generation, whatever keeps the batch: a list, a Worker's bag or arrays.
func TestHeldSlotStopsNoOther(t *testing.T) {
	const total = 3 * 64
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 0))
		r := newRig[uint64](t, setup[uint64]{slots: total, fifo: seed%4 == 3})
		s := r.shards[0]
		hs := r.fill(t, s, total, number)
		var holds []shard.Hold
		held := map[uint32]bool{}
		for _, h := range hs {
			i := slots.Low(h)
			if random.IntN(3<<(seed%6)) == 0 {
				k, ok := r.arena.Hold(h)
				require.True(t, ok)
				holds, held[i] = append(holds, k), true
			}
		}
		if seed%2 == 0 {
			r.remove(t, s, hs...)
		} else {
			m := r.arena.NewMagazine()
			for _, h := range hs {
				require.True(t, m.Remove(h))
			}
			m.Close(shard.Caller)
		}
		r.reclaim(t, s)
		require.Equal(t, total-len(holds), s.Free(), "seed %d", seed)
		require.Equal(t, len(holds), r.arena.Waiting())
		for _, h := range hs {
			if i := slots.Low(h); !held[i] {
				g := slots.Generation(h) + 1
				if seed%2 == 1 && slots.Generation(r.word(i)) != g {
					g += 2 // the Worker had it ready, and gave it back
				}
				require.Equal(t, g, slots.Generation(r.word(i)), "seed %d, slot %d", seed, i)
			}
		}
		for _, k := range holds {
			r.arena.Drop(k)
		}
		r.reclaim(t, s)
		require.Equal(t, total, s.Free(), "seed %d", seed)
		seen := map[uint32]bool{}
		for range total {
			_, h, err := s.Claim()
			require.NoError(t, err)
			require.False(t, seen[slots.Low(h)])
			seen[slots.Low(h)] = true
		}
	}
}

// TestOneReclaimTakesWhatCameLate: also where nothing else waits.
func TestOneReclaimTakesWhatCameLate(t *testing.T) {
	r, k := parked(t)
	s := r.shards[0]
	r.arena.Drop(k)
	require.EqualValues(t, 1, s.Pending())
	s.Reclaim(s)
	require.Zero(t, s.Pending())
}

// TestHeldBatchEndsNoRound: an insertion lets an older batch pass where all slots of the youngest are held.
func TestHeldBatchEndsNoRound(t *testing.T) {
	const n = 2 * slots.Batch
	r := newRig[uint64](t, setup[uint64]{slots: 2 * n})
	s := r.shards[0]
	older, held := r.fill(t, s, n, number), r.fill(t, s, n, number)
	for _, h := range held {
		_, ok := r.arena.Hold(h)
		require.True(t, ok)
	}
	r.leave(t, s, older...)
	r.advance()
	r.leave(t, s, held...)
	s.Reclaim(s)
	require.NotZero(t, s.Free()+s.Ready())
}

// TestRefusalLooksAgainIfItHasParked: what it has parked was not counted as parked before. Another shard, in which
// nothing moves, does not end the search.
func TestRefusalLooksAgainIfItHasParked(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 4, shards: 2})
	s := r.shards[0]
	hs := r.fill(t, s, 4, number)
	_, ok := r.arena.Hold(hs[0])
	require.True(t, ok)
	r.remove(t, s, hs[0])
	_, err := r.arena.Decide(s, 0)
	require.NoError(t, err, "it looks again")
	_, err = r.arena.Decide(s, 1)
	require.ErrorIs(t, err, shard.ErrStalled)
}
