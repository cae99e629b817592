package shard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// giving is a rig with a magazine, which has removed values under a guard and given the slots away.
type giving struct {
	*rig[uint64]
	s     *shard.Shard
	m     *shard.Magazine
	guard epoch.Guard
}

func newGiving(t *testing.T, n int, set setup[uint64]) *giving {
	set.slots, set.pages = max(set.slots, n), slots.PageSizes{Unit: 7, Page: 12, Most: 13}
	r := newRig(t, set)
	g := &giving{rig: r, s: r.shards[0], m: r.arena.NewMagazine()}
	hs := r.fill(t, g.s, n, number)
	g.guard = r.arena.Domain.Pin()
	for _, h := range hs {
		require.True(t, g.m.Remove(h))
	}
	return g
}

// TestMagazineTakesWhatItGaveAway: what waited for a guard comes back, each slot once, and goes to
// insertions without a magazine as well.
func TestMagazineTakesWhatItGaveAway(t *testing.T) {
	for _, zero := range []bool{false, true} {
		const n = 1000
		g := newGiving(t, n, setup[uint64]{zero: zero})
		require.Greater(t, g.s.Pending(), n/2)
		g.guard.Unpin()
		seen := map[uint64]bool{}
		for k := range n {
			claim := func() (*slots.Hook, uint64, error) { return next(g.m) }
			if k%100 == 50 {
				claim = g.s.Claim
			}
			slot, h, err := claim()
			require.NoError(t, err)
			require.False(t, seen[h], "%s was issued before", text(h))
			seen[h] = true
			if zero {
				g.arena.Blank(slot) // it is poisoned under the tag coatcheck_debug
				require.Zero(t, *slots.ValueOf[uint64](slot))
			}
			live(slot, h, 1)
			require.True(t, g.s.Ordered())
		}
		require.Equal(t, n, g.arena.Count().Live)
	}
}

// TestHeldSlotStaysOfWhatAMagazineGaveAway: while one slot is held, each slot of a batch is asked, up to so many
// a round. What is left of the batch passes as others do.
func TestHeldSlotStaysOfWhatAMagazineGaveAway(t *testing.T) {
	g := newGiving(t, 1000, setup[uint64]{slots: 1001})
	_, h := g.take(t, g.s)
	live(g.arena.Slot(slots.Low(h)), h, 1)
	held, ok := g.arena.Hold(h)
	require.True(t, ok)
	g.guard.Unpin()
	visits, more := g.s.Round(nil)
	require.True(t, more)
	require.GreaterOrEqual(t, visits, shard.ReclaimMost)
	require.True(t, g.s.Ordered())
	g.arena.Drop(held)
	g.reclaim(t, g.s)
	require.True(t, g.s.Ordered())
	require.Equal(t, 1, g.arena.Count().Live)
}

// TestBatchesStayInTheOrderOfStamps, if a magazine gives away what it sealed before others were removed.
func TestBatchesStayInTheOrderOfStamps(t *testing.T) {
	const n = 400
	r := newRig[uint64](t, setup[uint64]{slots: n})
	s, m := r.shards[0], r.arena.NewMagazine()
	hs := r.fill(t, s, n-1, number)
	g := r.arena.Domain.Pin()
	defer g.Unpin()
	for _, h := range hs[:40] {
		require.True(t, m.Remove(h))
	}
	_, _, err := m.Claim() // seals, and finds a slot elsewhere
	require.NoError(t, err)
	r.advance()
	r.leave(t, s, hs[40:60]...)
	s.Round(nil)
	s.Round(nil)
	_, _, err = m.Claim()
	require.ErrorIs(t, err, shard.ErrStalled)
	require.Equal(t, 60, s.Pending())
	require.True(t, s.Ordered())
}

// TestScanDoesNotSpeakOfABagThatCameLater: what a magazine gives away was removed after the last scan,
// which found no guard. So many guards stand now that it does not pay for another.
func TestScanDoesNotSpeakOfABagThatCameLater(t *testing.T) {
	const n = 80
	r := newRig[uint64](t, setup[uint64]{slots: 400})
	s := r.shards[0]
	m, hs := r.arena.NewMagazine(), r.fill(t, s, n, number)
	r.remove(t, s, r.fill(t, s, n, number)...)
	r.reclaim(t, s)
	guards := make([]epoch.Guard, 5000)
	for i := range guards {
		guards[i] = r.arena.Domain.Pin()
	}
	for _, h := range hs {
		require.True(t, m.Remove(h))
	}
	ready := s.Ready()
	_, _, err := m.Claim()
	require.NoError(t, err)
	require.Equal(t, n, s.Pending(), "a slot passed under a guard")
	require.LessOrEqual(t, s.Ready(), ready)
	for i := range guards {
		guards[i].Unpin()
	}
}

// TestSynchronizeDoesNotWaitForWhatAMagazineGivesAwayLater, beside a guard that was pinned after the
// call began.
func TestSynchronizeDoesNotWaitForWhatAMagazineGivesAwayLater(t *testing.T) {
	g := newGiving(t, 600, setup[uint64]{slots: 2000})
	goal := g.s.NewGoal()
	_, reached := goal.Step()
	require.False(t, reached)
	later := g.fill(t, g.s, 600, number)
	second := g.arena.Domain.Pin()
	defer second.Unpin()
	for _, h := range later {
		require.True(t, g.m.Remove(h))
	}
	g.guard.Unpin()
	for range 100 {
		if _, reached = goal.Step(); reached {
			break
		}
	}
	require.True(t, reached)
	require.Positive(t, g.s.Pending())
}
