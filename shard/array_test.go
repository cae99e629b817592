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

// requireArrays requires that so many slots of the shard are in arrays.
func (g *giving) requireArrays(t *testing.T, n int) {
	t.Helper()
	got, repeat := g.s.Arrays()
	require.True(t, repeat, "the arrays have other slots than their chains")
	require.Equal(t, n, got)
}

// TestMagazineTakesWhatItGaveAwayByArrays: what waited for a guard comes back by arrays, each slot
// once, and goes to insertions without a magazine as well.
func TestMagazineTakesWhatItGaveAwayByArrays(t *testing.T) {
	for _, zero := range []bool{false, true} {
		const n = 1000
		g := newGiving(t, n, setup[uint64]{zero: zero})
		waiting := g.s.Pending()
		require.Greater(t, waiting, n/2)
		g.requireArrays(t, waiting)
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
				require.Zero(t, *slots.ValueOf[uint64](slot))
			}
			live(slot, h, 1)
			g.requireRepeats(t)
		}
		require.Equal(t, n, g.arena.Count().Live)
		g.requireArrays(t, 0)
		require.Positive(t, g.s.Spare())
	}
}

func (g *giving) requireRepeats(t *testing.T) {
	t.Helper()
	_, repeat := g.s.Arrays()
	require.True(t, repeat, "the arrays have other slots than their chains")
}

// TestArraysGoWhereSlotsAreVisited: while one slot is held, each slot of a batch is asked, up to so many
// a round. What is left of the batch passes as others do.
func TestArraysGoWhereSlotsAreVisited(t *testing.T) {
	g := newGiving(t, 1000, setup[uint64]{slots: 1001})
	_, h := g.take(t, g.s)
	live(g.arena.Slot(slots.Low(h)), h, 1)
	held, ok := g.arena.Hold(h)
	require.True(t, ok)
	g.guard.Unpin()
	visits, more := g.s.Round(g.s)
	require.True(t, more)
	require.GreaterOrEqual(t, visits, shard.ReclaimMost)
	g.requireRepeats(t)
	g.arena.Drop(held)
	g.reclaim(t, g.s)
	g.requireRepeats(t)
	require.Equal(t, 1, g.arena.Count().Live)
}

// TestArraysGoWhereSlotsGoHome: so they do where the slots are those of another shard, one round after the other.
func TestArraysGoWhereSlotsGoHome(t *testing.T) {
	g := newGiving(t, 1000, setup[uint64]{slots: 1001, shards: 2})
	g.shards[1].SetHome(0, g.arena.Table.Pages().Limit)
	g.guard.Unpin()
	for more := true; more; {
		var visits int
		visits, more = g.s.Round(nil)
		require.LessOrEqual(t, visits, shard.ReclaimMost)
		g.requireRepeats(t)
	}
	require.Positive(t, g.shards[1].Free())
}

// TestArraysGoWhereManyChainsAreReady: what a magazine gave away is pushed to the freelist, which is not
// empty, if as many chains are ready as may be.
func TestArraysGoWhereManyChainsAreReady(t *testing.T) {
	if shard.VisitsAll {
		t.Skip("no chain waits for an empty freelist")
	}
	const each, n = shard.SpliceLeast, 100
	r := newRig[uint64](t, setup[uint64]{slots: (shard.ReadyMost+1)*each + n})
	s, m := r.shards[0], r.arena.NewMagazine()
	hs := r.fill(t, s, (shard.ReadyMost+1)*each+n, number)
	for range shard.ReadyMost + 1 {
		r.leave(t, s, hs[:each]...)
		hs = hs[each:]
		s.Round(nil)
		s.Round(nil)
	}
	require.Equal(t, shard.ReadyMost*each, s.Ready())
	g := r.arena.Domain.Pin()
	for _, h := range hs {
		require.True(t, m.Remove(h))
	}
	waiting, _ := s.Arrays()
	require.Positive(t, waiting)
	g.Unpin()
	r.reclaim(t, s)
	require.Equal(t, shard.ReadyMost*each, s.Ready())
	require.Equal(t, r.arena.Slots, uint64(s.Free()+m.Kept()))
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
	in, repeat := s.Arrays()
	require.Equal(t, 40, in)
	require.True(t, repeat)
}

// TestArraysAreBounded gives away a burst of 200,000 slots beside a guard, and takes them again.
func TestArraysAreBounded(t *testing.T) {
	const n = 200_000
	g := newGiving(t, n, setup[uint64]{})
	in, repeat := g.s.Arrays()
	require.True(t, repeat)
	require.LessOrEqual(t, in, shard.ArraysMost)
	require.Greater(t, in, shard.ArraysMost/2)
	require.Less(t, g.s.BacklogBytes(), int64(8*shard.ArraysMost))
	g.guard.Unpin()
	for range n {
		slot, h, err := next(g.m)
		require.NoError(t, err)
		live(slot, h, 1)
	}
	require.Equal(t, n, g.arena.Count().Live)
	require.LessOrEqual(t, g.s.Spare(), shard.SpareMost)
	require.Less(t, g.s.BacklogBytes(), 2*shard.SpareMost*shard.ArrayBytes)
}

// TestArraysStayBesideAFewSlots: few slots that the arena has removed before do not join what has arrays.
func TestArraysStayBesideAFewSlots(t *testing.T) {
	const n = 80
	r := newRig[uint64](t, setup[uint64]{slots: 2 * n})
	s, m := r.shards[0], r.arena.NewMagazine()
	hs := r.fill(t, s, n+3, number)
	g := r.arena.Domain.Pin()
	defer g.Unpin()
	r.leave(t, s, hs[n:]...)
	s.Seal()
	for _, h := range hs[:n] {
		require.True(t, m.Remove(h))
	}
	_, _, err := m.Claim()
	require.NoError(t, err)
	in, repeat := s.Arrays()
	require.True(t, repeat)
	require.Positive(t, in)
}

// TestPoolsWithoutArrays: slots with stamps of their own, or a Reset, and those of a replay, go the way
// of others.
func TestPoolsWithoutArrays(t *testing.T) {
	for _, set := range []setup[uint64]{{stampPerSlot: true}, {reset: func(*uint64) {}}, {replays: true}} {
		g := newGiving(t, 1000, set)
		require.Positive(t, g.s.Pending())
		g.requireArrays(t, 0)
	}
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

// TestArraysOfOtherShards: a magazine takes what another one gave away, and its shard is their home
// then.
func TestArraysOfOtherShards(t *testing.T) {
	const n = 600
	g := newGiving(t, n, setup[uint64]{shards: 2})
	g.guard.Unpin()
	other := g.arena.NewMagazine()
	for g.s.Reclaim(nil) { // more than once where each slot is visited
	}
	require.Greater(t, g.s.Ready(), n/2)
	in, _ := g.s.Arrays()
	slot, h, err := next(other)
	require.NoError(t, err)
	live(slot, h, 1)
	ready := g.s.Ready()
	left, repeat := g.s.Arrays()
	require.True(t, repeat)
	require.Less(t, left, in)
	require.Equal(t, left, ready, "what others ask for the shard's lock by")
	require.Equal(t, g.shards[1], g.shards[1].Home(slots.Low(h)))
}

// TestMagazineLooksIntoFewShards: each look at a shard may be a cache miss, so a magazine that needs slots
// looks for arrays in its own and seven others. Beyond them it finds one slot, as an insertion does.
func TestMagazineLooksIntoFewShards(t *testing.T) {
	const n, few = 600, 8
	for shards, found := range map[int]bool{2: true, few: true, few + 1: false, 2 * few: false} {
		g := newGiving(t, n, setup[uint64]{shards: shards})
		g.guard.Unpin()
		for g.s.Reclaim(nil) {
		}
		require.Greater(t, g.s.Ready(), n/2)
		other := g.arena.NewMagazine() // its shard comes after g.s, which is its last
		slot, h, err := next(other)
		require.NoError(t, err)
		live(slot, h, 1)
		require.Equal(t, found, other.Kept() > 0, "with %d shards", shards)
	}
}
