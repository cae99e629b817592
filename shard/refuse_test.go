package shard_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// TestFindingAddsOnePage: a goroutine that has found that the pool needs a page, and waits while others
// add one and use it up, adds no other. It has not looked at what they have removed.
func TestFindingAddsOnePage(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 1 << 12, memory: 512, pages: slots.PagesOf(16, 0)})
	s, table := r.shards[0], &r.arena.Table
	for range 3 {
		r.fill(t, s, int(table.Unused()), number)
		found, before := table.Changes(), table.Resident()
		table.Grow(found)
		grown := table.Resident()
		require.Greater(t, grown, before)
		hs := r.fill(t, s, int(table.Unused()), number)
		table.Grow(found)
		require.Equal(t, grown, table.Resident(), "a page was added for the second time")

		found = table.Changes() // and then a Trim gives up what was full
		r.remove(t, s, hs...)
		r.reclaim(t, s)
		require.Positive(t, r.arena.Trim())
		before = table.Resident()
		table.Grow(found)
		require.Equal(t, before, table.Resident(), "a page came back that nobody needs")
		table.Grow(table.Changes())
		require.Greater(t, table.Resident(), before)
	}
}

// TestReclaimersSlotsAreNoReasonToGrow: while another goroutine reclaims, an insertion waits for it, and
// takes what it has reclaimed.
func TestReclaimersSlotsAreNoReasonToGrow(t *testing.T) {
	const total = 512
	for _, fifo := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 2 * total, memory: total, pages: slots.PagesOf(16, 0), fifo: fifo})
		s := r.shards[0]
		r.leave(t, s, r.fill(t, s, total, number)...)
		decisions := r.arena.Decisions()
		s.Lock() // as a reclaimer that is preempted
		claimed := make(chan error, 1)
		go func() {
			_, _, err := s.Claim()
			claimed <- err
		}()
		for r.arena.Decisions() == decisions && len(claimed) == 0 {
			runtime.Gosched()
		}
		s.Unlock()
		require.NoError(t, testkit.Soon(t, claimed))
		require.Equal(t, total, r.arena.Table.Resident(), "FIFO %v", fifo)
	}
}

// TestShardsKeepTheLastSlots: an insertion adds a page, and leaves slots that were never used to the
// shard that has them, while they are few.
func TestShardsKeepTheLastSlots(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 1 << 12, memory: 256, shards: 2, pages: slots.PagesOf(16, 0)})
	a, b := r.shards[0], r.shards[1]
	r.claim(t, b, 1)
	has := b.Free()
	require.Equal(t, slots.Batch-1, has)
	r.claim(t, a, 2*256)
	require.Equal(t, has, b.Free())
}

// TestGrowthIsShared: what a verdict has found lets all calls grow the pool that were waiting for the
// locks, and none that came later.
func TestGrowthIsShared(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 16, memory: 8})
	s := r.shards[0]
	hs := r.fill(t, s, 8, number)
	began := r.arena.Decisions()
	for range 3 {
		require.True(t, r.arena.Finds(s, began), "the finding should hold")
		require.Equal(t, began+1, r.arena.Decisions(), "decided once")
	}
	r.arena.Table.Grow(r.arena.Table.Changes())
	require.False(t, r.arena.Finds(s, began+1), "there are slots now")
	r.remove(t, s, hs...)
}

// TestRefusalsLookAtTheTableAgain: a verdict that found no slot in the table refuses nothing if the table has got one
// since, for others may have taken until then what the lists had.
func TestRefusalsLookAtTheTableAgain(t *testing.T) {
	for name, c := range map[string]struct {
		setup   setup[uint64]
		between func(*slots.Table)
		refusal error
	}{
		"a page is added":          {setup[uint64]{slots: 64, memory: 8, maxLimbo: 4}, func(table *slots.Table) { table.Grow(table.Changes()) }, shard.ErrStalled},
		"one is added and used up": {setup[uint64]{slots: 64, memory: 8, maxLimbo: 4}, func(table *slots.Table) { table.Grow(table.Changes()); table.Allot(64) }, shard.ErrStalled},
		"a slot is replaced":       {setup[uint64]{slots: 16, memory: 8, capacity: 8}, (*slots.Table).CountExhausted, shard.ErrStalled},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig[uint64](t, c.setup)
			s := r.shards[0]
			hs := r.fill(t, s, 8, number)
			g := r.arena.Domain.Pin()
			r.leave(t, s, hs...)
			require.ErrorIs(t, r.arena.RefuseAfter(s, func() {}), c.refusal)
			require.NoError(t, r.arena.RefuseAfter(s, func() { c.between(&r.arena.Table) }))
			g.Unpin()
		})
	}
}

// TestRefusalsSealAllShards: an insertion that would be refused gets a slot that was removed, in whichever
// shard's limbo it is.
func TestRefusalsSealAllShards(t *testing.T) {
	for from := range 3 {
		r := newRig[uint64](t, setup[uint64]{slots: 3, shards: 3})
		hs := r.fill(t, r.shards[0], 3, number)
		r.leave(t, r.shards[from], hs[0])
		h, err := r.arena.Decide(r.shards[0], r.arena.Decisions())
		require.NoError(t, err, "removed in shard %d", from)
		require.Equal(t, text(slots.Reborn(hs[0])), text(h))
	}
}

// TestLastLookFindsOthersSlots, in a freelist or in a range, also if there are several shards between. Its slot gets the home
// of whoever takes it.
func TestLastLookFindsOthersSlots(t *testing.T) {
	for _, in := range []string{"a freelist", "a range"} {
		for from := 1; from < 3; from++ {
			// There are more slots that need memory, which a guard forbids.
			r := newRig[uint64](t, setup[uint64]{slots: 64, memory: 16, shards: 3, maxLimbo: 4})
			s, other := r.shards[0], r.shards[from]
			n := uint32(1)
			if in == "a range" {
				n = 2 // each in a page of its own, and so with a home
			}
			slot, h := other.Refill(n)
			live(slot, h, 1)
			want := h
			hs := r.fill(t, s, int(r.arena.Table.Unused()), number)
			if in == "a freelist" {
				r.remove(t, other, h)
				r.reclaim(t, other)
			}
			g := r.arena.Domain.Pin()
			r.leave(t, s, hs[:8]...)
			require.True(t, s.Home(slots.Low(want)) == other, in)
			h, err := r.arena.Decide(s, r.arena.Decisions())
			require.NoError(t, err, "%s of shard %d", in, from)
			require.NotZero(t, h)
			require.True(t, other.Home(slots.Low(h)) == s, in)
			_, err = r.arena.Decide(s, r.arena.Decisions())
			require.ErrorIs(t, err, shard.ErrStalled)
			g.Unpin()
		}
	}
}

// TestGoingAheadIsBounded: where other shards have slots, a shard gets no more new memory than all may
// have vacant, beyond what was needed once. Memory that was never needed is no reason for more.
func TestGoingAheadIsBounded(t *testing.T) {
	const others = 2 * shard.Ahead
	for _, provided := range []int{1, others} {
		r := newRig[uint64](t, setup[uint64]{slots: 4 * others, memory: provided, shards: 3})
		a, b, table := r.shards[0], r.shards[1], &r.arena.Table
		hs := r.claim(t, b, others)
		needed := table.Resident()
		r.remove(t, b, hs...)
		r.reclaim(t, b)
		require.LessOrEqual(t, others-b.Free(), slots.Batch)
		r.claim(t, a, others/2)
		ahead := table.Resident() - needed
		require.LessOrEqual(t, ahead, r.arena.Slack())
		if provided == others {
			require.Zero(t, ahead)
		} else {
			require.Greater(t, ahead, r.arena.Slack()/2)
		}
	}
}

// TestSmallPoolsDoNotGoAhead: a pool whose memory is below a bound does not grow while another shard has a slot.
func TestSmallPoolsDoNotGoAhead(t *testing.T) {
	for memory, ahead := range map[int]bool{shard.Ahead / 2: false, shard.Ahead - 8: false, shard.Ahead: true} {
		r := newRig[uint64](t, setup[uint64]{slots: 4 * shard.Ahead, memory: 1, shards: 2})
		a, b := r.shards[0], r.shards[1]
		r.remove(t, b, r.claim(t, b, memory)...)
		r.reclaim(t, b)
		require.Equal(t, memory, r.arena.Table.Resident())
		r.claim(t, a, 1)
		require.Equal(t, ahead, r.arena.Table.Resident() > memory, "with %d slots", memory)
	}
}

// TestGoingAheadCountsFromTheTrim: what was needed before a Trim does not come back while other shards
// have slots.
func TestGoingAheadCountsFromTheTrim(t *testing.T) {
	const stay = shard.Ahead
	r := newRig[uint64](t, setup[uint64]{slots: 8 * stay, memory: 1, shards: 3})
	a, b, table := r.shards[0], r.shards[1], &r.arena.Table
	hs := r.claim(t, b, 4*stay)
	r.remove(t, b, hs[stay:]...)
	r.reclaim(t, b)
	require.Positive(t, r.arena.Trim())
	r.remove(t, b, hs[:stay]...)
	r.reclaim(t, b)
	left := table.Resident()
	r.claim(t, a, stay/2)
	require.LessOrEqual(t, table.Resident(), left+r.arena.Slack())
	require.Less(t, left+r.arena.Slack(), 2*stay)
}

// TestMagazinesThatOpenTogetherHaveShards: goroutines that wait for the lock together, each to make a shard,
// make one each, but no more than there may be.
func TestMagazinesThatOpenTogetherHaveShards(t *testing.T) {
	const most, n = 4, 8
	for range 20 {
		r := newRig[uint64](t, setup[uint64]{slots: 64 * slots.Batch, most: most})
		var calls atomic.Int32
		var opened [n]*shard.Magazine
		unlock := r.arena.LockVerdicts()
		go func() {
			for calls.Load() < n {
				runtime.Gosched()
			}
			unlock()
		}()
		testkit.Together(n, func(k int) {
			calls.Add(1)
			opened[k] = r.arena.NewMagazine()
		})
		seen := map[*shard.Shard]bool{}
		for _, m := range opened {
			seen[m.Shard()] = true
		}
		require.Len(t, seen, most)
		require.Equal(t, most, r.arena.Made())
	}
}

// TestRefusalWaitsForLookUps: an insertion is not refused while a look-up's pin alone is in the way of a slot, and guards in
// the way of others, in the same batch and in a later one.
func TestRefusalWaitsForLookUps(t *testing.T) {
	const total = 8
	for first := 1; first < 3; first++ { // how many slots the guard does not delay
		r := newRig[uint64](t, setup[uint64]{slots: total, capacity: total})
		s := r.shards[0]
		hs := r.fill(t, s, total, number)
		look := r.arena.Domain.PinTransient()
		r.remove(t, s, hs[:first]...)
		r.advance()
		g := r.arena.Domain.Pin()
		r.remove(t, s, hs[first:4]...)
		s.Seal()
		r.advance()
		r.remove(t, s, hs[4:]...)
		s.Seal()
		require.Greater(t, s.Batches(), 1)
		h, err := r.arena.Decide(s, r.arena.Decisions())
		require.NoError(t, err, "it should look again")
		require.Zero(t, h)
		look.Unpin()
		require.Len(t, r.claim(t, s, first), first)
		_, err = r.arena.Decide(s, r.arena.Decisions())
		require.ErrorIs(t, err, shard.ErrStalled)
		g.Unpin()
	}
}
