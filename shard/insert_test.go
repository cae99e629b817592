package shard_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
	"coatcheck/internal/hint"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// Goroutines on several shards share the first page of a small pool: each takes a part of what was
// never used, and then another's slot before it takes a new page.
func TestShardsShareASmallPool(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 1 << 20, memory: 1, shards: 8, pages: slots.PagesOf(16, 0)})
	claim := func(s *shard.Shard) uint64 {
		slot, h, err := s.Claim()
		require.NoError(t, err)
		live(slot, h, 1)
		return h
	}
	first := r.shards[0]
	for _, s := range r.shards[:4] {
		claim(s)
	}
	require.EqualValues(t, 128, r.arena.Table.Pages().Limit, "nothing was removed yet")
	for range 100 {
		for range 10 {
			r.remove(t, first, claim(first))
		}
		r.reclaim(t, first)
		for _, s := range r.shards[1:] {
			r.remove(t, first, claim(s)) // so that it comes back there
			r.reclaim(t, first)
		}
	}
	require.EqualValues(t, 128, r.arena.Table.Pages().Limit)
}

// TestRefusalSaysWhy has pools without a free slot, and one reason each. Where what is in the
// way goes, the next insertion succeeds. Brief pins, which end by themselves, are no reason.
func TestRefusalSaysWhy(t *testing.T) {
	const total = 3
	type state struct {
		*rig[uint64]
		s  *shard.Shard
		hs []uint64 // the first has no life left
	}
	unpin := func(g epoch.Guard) func() { return func() { g.Unpin() } }
	for name, c := range map[string]struct {
		prepare func(y state) (gone func())
		want    error
	}{
		"all live": {func(y state) func() { return func() { y.remove(t, y.s, y.hs[1]) } }, shard.ErrFull},
		"a guard": {func(y state) func() {
			g := y.arena.Domain.Pin()
			y.remove(t, y.s, y.hs[2])
			return unpin(g)
		}, shard.ErrStalled},
		"a guard and a transient pin": {func(y state) func() {
			g, transient := y.arena.Domain.Pin(), y.arena.Domain.PinTransient()
			y.remove(t, y.s, y.hs[2])
			return func() { g.Unpin(); transient.Unpin() }
		}, shard.ErrStalled},
		"a Ref": {func(y state) func() {
			k, ok := y.arena.Hold(y.hs[1])
			require.True(t, ok, "the value should be live")
			y.remove(t, y.s, y.hs[1])
			return func() { y.arena.Drop(k) }
		}, shard.ErrStalled},
		"a Ref of a reclaimed slot": {func(y state) func() {
			k, _ := y.arena.Hold(y.hs[1])
			y.remove(t, y.s, y.hs[1])
			y.s.Reclaim(nil)
			return func() { y.arena.Drop(k) }
		}, shard.ErrStalled},
		"a guard, of a slot that is exhausted": {func(y state) func() {
			g := y.arena.Domain.Pin()
			y.remove(t, y.s, y.hs[0])
			return func() { g.Unpin(); y.remove(t, y.s, y.hs[1]) }
		}, shard.ErrStalled},
		"a guard, of one that is and one that is not": {func(y state) func() {
			g := y.arena.Domain.Pin()
			y.remove(t, y.s, y.hs[:2]...)
			return unpin(g)
		}, shard.ErrStalled},
		"a Ref of a slot that is exhausted": {func(y state) func() {
			k, _ := y.arena.Hold(y.hs[0])
			y.remove(t, y.s, y.hs[0])
			return func() { y.arena.Drop(k); y.remove(t, y.s, y.hs[1]) }
		}, shard.ErrStalled},
		"a later guard":         {func(y state) func() { y.remove(t, y.s, y.hs[1]); return unpin(y.arena.Domain.Pin()) }, nil},
		"a later transient pin": {func(y state) func() { y.remove(t, y.s, y.hs[1]); return unpin(y.arena.Domain.PinTransient()) }, nil},
		"an earlier one, of others": {func(y state) func() {
			y.leave(t, y.s, y.hs[1])
			g := y.arena.Domain.Pin()
			y.leave(t, y.s, y.hs[2])
			return unpin(g)
		}, nil},
	} {
		for _, shards := range []int{1, 3} {
			for _, fifo := range []bool{false, true} {
				t.Run(name, func(t *testing.T) {
					y := state{rig: newRig[uint64](t, setup[uint64]{
						slots: total, stampPerSlot: true, shards: shards, fifo: fifo, first: slots.LastGeneration - 2,
					})}
					y.s = y.shards[shards-1]
					y.hs = y.fill(t, y.s, total, number)
					y.remove(t, y.s, y.hs[0])
					y.reclaim(t, y.s)
					slot, h := y.s.TakeOne()
					live(slot, h, 1)
					y.hs[0] = h
					gone := c.prepare(y)
					for range 2 {
						slot, _, err := y.shards[0].Claim()
						require.Equal(t, c.want, testkit.Kind(err))
						if err == nil {
							require.NotNil(t, slot)
							break
						}
					}
					if gone(); c.want != nil {
						_, _, err := y.shards[0].Claim()
						require.NoError(t, err)
					}
				})
			}
		}
	}
}

// TestTransientPinIsNoReason: an insertion waits for a look-up's own pin, with and without a
// guard that holds back other slots.
func TestTransientPinIsNoReason(t *testing.T) {
	for _, stampPerSlot := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 2, stampPerSlot: stampPerSlot})
		s := r.shards[0]
		hs := r.fill(t, s, 2, number)
		transient := r.arena.Domain.PinTransient()
		r.leave(t, s, hs[0])
		s.Goal() // sealed: a later guard does not delay it
		guard := r.arena.Domain.Pin()
		r.leave(t, s, hs[1])
		claimed := make(chan uint64, 1)
		go func() {
			_, h, _ := s.Claim()
			claimed <- h
		}()
		select {
		case h := <-claimed:
			t.Fatalf("stampPerSlot %v: got %s under a pin", stampPerSlot, text(h))
		case <-time.After(10 * time.Millisecond):
		}
		transient.Unpin()
		require.Equal(t, text(slots.Reborn(hs[0])), text(testkit.Soon(t, claimed)))
		_, _, err := s.Claim()
		require.ErrorIs(t, err, shard.ErrStalled)
		guard.Unpin()
	}
}

// TestTransientPinIsNoReasonInAnyShard: a call looks again, whichever shard has slots that wait for one.
func TestTransientPinIsNoReasonInAnyShard(t *testing.T) {
	for from := range 3 {
		r := newRig[uint64](t, setup[uint64]{slots: 3, shards: 3})
		hs := r.fill(t, r.shards[0], 3, number)
		transient := r.arena.Domain.PinTransient()
		r.leave(t, r.shards[from], hs[0])
		_, err := r.arena.Decide(r.shards[1], r.arena.Decisions())
		require.NoError(t, err, "removed in shard %d", from)
		transient.Unpin()
	}
}

// TestTransientPinDelaysNoRefusal for which it is no reason: nothing waits, or only for a user's guard. An insertion would
// look again and again, as long as others look values up.
func TestTransientPinDelaysNoRefusal(t *testing.T) {
	for _, stampPerSlot := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 2, stampPerSlot: stampPerSlot})
		s := r.shards[0]
		hs := r.fill(t, s, 2, number)
		transient := r.arena.Domain.PinTransient()
		_, err := r.arena.Decide(s, r.arena.Decisions())
		require.ErrorIs(t, err, shard.ErrFull)
		require.NotErrorIs(t, err, shard.ErrStalled)
		if stampPerSlot {
			continue // it is known of no slot of a first seal that it was removed after a guard was pinned
		}
		r.arena.Domain.Stamp()
		guard := r.arena.Domain.Pin()
		r.leave(t, s, hs[0])
		_, err = r.arena.Decide(s, r.arena.Decisions())
		require.ErrorIs(t, err, shard.ErrStalled)
		transient.Unpin()
		guard.Unpin()
	}
}

// TestLateSlotIsCutOffBesideTheSameGuard: what comes with an old stamp, after batches were cut by a guard, is cut by it anew.
func TestLateSlotIsCutOffBesideTheSameGuard(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 2, stampPerSlot: true})
	s := r.shards[0]
	hs := r.fill(t, s, 2, number)
	k, ok := r.arena.Hold(hs[0])
	require.True(t, ok)
	r.remove(t, s, hs[0])
	guard := r.arena.Domain.Pin()
	defer guard.Unpin()
	r.remove(t, s, hs[1])
	_, _, err := s.Claim()
	require.ErrorIs(t, err, shard.ErrStalled)
	r.arena.Drop(k)
	require.Equal(t, 2, r.arena.Waiting())
	_, h, err := s.Claim()
	require.NoError(t, err, "it was removed before the guard was pinned")
	require.Equal(t, text(slots.Reborn(hs[0])), text(h))
}

// TestInsertionTakesWhatWaitsInAnyShard before it takes memory: of three shards each may be the one that has removed slots.
func TestInsertionTakesWhatWaitsInAnyShard(t *testing.T) {
	const total = 2 * slots.Batch
	for k := range 3 {
		r := newRig[uint64](t, setup[uint64]{slots: 1 << 12, memory: total, shards: 3, pages: slots.PagesOf(16, 0)})
		r.leave(t, r.shards[k], r.fill(t, r.shards[k], total, number)...)
		_, _, err := r.shards[0].Claim()
		require.NoError(t, err)
		require.Equal(t, total, r.arena.Table.Resident(), "they wait in shard %d", k)
	}
}

// TestSearchesDecideNothing where they find a slot without all locks, wherever it is.
func TestSearchesDecideNothing(t *testing.T) {
	const total = 8
	for name, prepare := range map[string]func(r *rig[uint64], mine, other *shard.Shard) (again func(h uint64)){
		"few that wait": func(r *rig[uint64], mine, other *shard.Shard) func(uint64) {
			hs := r.fill(t, mine, total, number)
			r.leave(t, mine, hs[0])
			return func(h uint64) { r.leave(t, mine, h) }
		},
		"few that wait in another shard": func(r *rig[uint64], mine, other *shard.Shard) func(uint64) {
			hs := r.fill(t, mine, total, number)
			r.leave(t, other, hs[0])
			return func(h uint64) { r.leave(t, other, h) }
		},
		"another shard's freelist": func(r *rig[uint64], mine, other *shard.Shard) func(uint64) {
			hs := r.fill(t, mine, total, number)
			r.leave(t, other, hs[0])
			r.reclaim(t, other)
			return func(h uint64) { r.leave(t, other, h); r.reclaim(t, other) }
		},
		"another shard's range": func(r *rig[uint64], mine, other *shard.Shard) func(uint64) {
			slot, h := other.Refill(total)
			live(slot, h, 1)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig[uint64](t, setup[uint64]{slots: total, shards: 2})
			mine, n := r.shards[0], 4*shard.OthersFirst
			again := prepare(r, mine, r.shards[1])
			if again == nil {
				n = total - 1
			}
			for range n {
				slot, h, err := mine.Claim()
				require.NoError(t, err)
				if live(slot, h, 1); again != nil {
					again(h)
				}
			}
			require.Zero(t, r.arena.Decisions())
		})
	}
}

// TestPageComesBeforeOthersRange: while memory may grow, an insertion leaves another shard the rest of its range.
func TestPageComesBeforeOthersRange(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 64, memory: 8, shards: 2})
	slot, h := r.shards[1].Refill(8)
	live(slot, h, 1)
	_, h, err := r.shards[0].Claim()
	require.NoError(t, err)
	require.EqualValues(t, 8, slots.Low(h))
}

// TestBatchThatWaitsComesBeforeNewMemory, and fewer slots do not: they would come back one by one.
func TestBatchThatWaitsComesBeforeNewMemory(t *testing.T) {
	const total = 2 * slots.Batch
	for _, n := range []int{slots.Batch - 1, slots.Batch} {
		r := newRig[uint64](t, setup[uint64]{slots: 1 << 12, memory: total, pages: slots.PagesOf(16, 0)})
		s := r.shards[0]
		r.leave(t, s, r.fill(t, s, total, number)[:n]...)
		_, _, err := s.Claim()
		require.NoError(t, err)
		require.Equal(t, n == slots.Batch, r.arena.Table.Resident() == total, "%d wait", n)
	}
}

// TestSearchesTakeOthersSlotsNowAndThen: in a full arena a search mostly reclaims the few slots that wait in its own shard,
// and each eighth leaves them, and takes a vacant slot of another shard.
func TestSearchesTakeOthersSlotsNowAndThen(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 8, shards: 2})
	mine, other := r.shards[0], r.shards[1]
	hs := r.fill(t, mine, 8, number)
	theirs, own := hs[0], hs[1]
	r.leave(t, mine, own)
	others := 0
	for range 4 * shard.OthersFirst {
		r.remove(t, other, theirs)
		r.reclaim(t, other)
		slot, h, err := mine.Claim()
		require.NoError(t, err)
		live(slot, h, 1)
		if slots.Low(h) == slots.Low(own) {
			own = h
			r.leave(t, mine, own)
			slot, theirs = r.take(t, other)
			live(slot, theirs, 1)
		} else {
			theirs = h
			others++
		}
	}
	require.Equal(t, 4, others)
}

// TestVerdictIsShared: a refusal serves insertions that had begun before it, and no later one.
func TestVerdictIsShared(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 2, stampPerSlot: true})
	s := r.shards[0]
	hs := r.fill(t, s, 2, number)
	began := r.arena.Decisions()
	for range 3 {
		_, err := r.arena.Decide(s, began)
		require.ErrorIs(t, err, shard.ErrFull)
		require.Equal(t, began+1, r.arena.Decisions(), "decided once")
	}
	r.leave(t, s, hs...)
	_, err := r.arena.Decide(s, began)
	require.ErrorIs(t, err, shard.ErrFull, "it was full after this one began")
	h, err := r.arena.Decide(s, began+1)
	require.NoError(t, err)
	require.Equal(t, text(slots.Reborn(hs[1])), text(h))
	_, err = r.arena.Decide(s, began+1)
	require.NoError(t, err, "a decision that found a slot does not refuse")
}

// TestManyGuardsMakeScansRare: an insertion scans thousands of pin cells neither in each shard nor
// each time, while there is new memory. A seal, which a scan follows, tells.
func TestManyGuardsMakeScansRare(t *testing.T) {
	const shards = 8
	for _, fifo := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 1 << 14, memory: shards * slots.Batch, shards: shards, fifo: fifo})
		for range 1000 {
			r.arena.Domain.Pin()
		}
		for _, s := range r.shards {
			r.leave(t, s, r.fill(t, s, slots.Batch, number)...)
		}
		s, searches := r.shards[0], r.arena.Domain.Scanned()/shard.CellsASlot
		require.Greater(t, searches, shards)
		seals := func() (n uint64) {
			for _, o := range r.shards {
				n += o.Seals()
			}
			return n
		}
		for n := range 2 * searches {
			_, _, err := s.Claim()
			require.NoError(t, err)
			for slot, _ := s.Fresh(); slot != nil; slot, _ = s.Fresh() { // so that the next one searches too
			}
			// What was removed has paid too.
			require.LessOrEqual(t, seals(), uint64(n+1+2*shard.CellsPaid*slots.Batch/shard.CellsASlot)/uint64(searches), "after %d searches", n+1)
		}
		require.NotZero(t, seals(), "it never scans")
	}
}

// TestHoldersStayBelowTheMark: a hold panics, and changes nothing, long before the count could
// reach the bit that marks a parked slot.
func TestHoldersStayBelowTheMark(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 2})
	h := r.fill(t, r.shards[0], 1, number)[0]
	k, ok := r.arena.Hold(h)
	require.True(t, ok, "the value should be live")
	k.SetHolders(shard.MostHolders)
	require.Panics(t, func() { r.arena.Hold(h) })
	require.Equal(t, 1, r.arena.Refs())
	k.SetHolders(1)
	r.arena.Drop(k)
	require.Zero(t, r.arena.Refs())
}

// TestStackIsLIFO pops slots one by one and in runs, the last removed first: with a list that
// was spliced, and with one whose slots were visited.
func TestStackIsLIFO(t *testing.T) {
	for _, zero := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 9, zero: zero})
		s := r.shards[0]
		require.Empty(t, s.PopMany(3))
		hs := r.fill(t, s, 9, number)
		r.remove(t, s, hs...)
		require.Empty(t, drain(s), "none is reclaimed")
		r.reclaim(t, s)
		r.requireNoSelfLink(t)
		require.Equal(t, 9, s.Free())
		slices.Reverse(hs)
		for i, most := range []int{1, 1, 3, 100} {
			got := s.PopMany(most)
			if i == 0 {
				_, h := s.TakeOne()
				got = append(got, h)
			}
			for k, h := range got {
				require.Equal(t, text(slots.Reborn(hs[k])), text(h))
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
		require.Empty(t, s.PopMany(1))
		var got []uint32
		var guards []epoch.Guard
		pace := 1 + rnd.IntN(2*slots.Batch)
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
					got = append(got, slots.Low(h))
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

// TestQueuePrefersNewSlotsThatComeLate: so it is with a range that a queue is given after all that it had
// was used, and others were removed.
func TestQueuePrefersNewSlotsThatComeLate(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 16, memory: 4, fifo: true})
	s := r.shards[0]
	hs := r.fill(t, s, 4, number)
	slot, _ := s.TakeOne()
	require.Nil(t, slot, "all slots that have memory are used")
	r.arena.Table.Provide(16)
	slot, h := s.Refill(8)
	require.Equal(t, uint32(4), slots.Low(h))
	live(slot, h, 5)
	r.remove(t, s, hs[:2]...)
	r.reclaim(t, s)
	require.Equal(t, []uint32{5, 6, 7}, drain(s)[:3])
}

// TestQueuePrefersWhatGrowMakes to what its freelist has, which comes behind it in the order that it had, before what is ready.
func TestQueuePrefersWhatGrowMakes(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 12, memory: 4, fifo: true})
	s := r.shards[0]
	hs := r.fill(t, s, 4, number)
	slot, _ := s.TakeOne()
	require.Nil(t, slot)
	for _, h := range []uint64{hs[2], hs[0], hs[3]} {
		r.remove(t, s, h)
		r.reclaim(t, s)
	}
	r.arena.Grow(8)
	require.EqualValues(t, 4, r.arena.Count().Inserted, "lives that are burnt")
	order := drain(s)
	require.Equal(t, []uint32{2, 0, 3}, order[len(order)-3:], "%v", order)
	require.Len(t, order, 11)
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
	require.Equal(t, uint64(slots.None), s.Head())
	got, err := r.arena.Decide(r.shards[0], 0)
	require.NoError(t, err)
	require.Equal(t, slots.Reborn(h), got)
}

// TestQueueGrowsWhileSlotsWaitForNoGuard: what waits beyond MaxLimbo, and has passed, forbids no new memory.
func TestQueueGrowsWhileSlotsWaitForNoGuard(t *testing.T) {
	const n = 16
	r := newRig[uint64](t, setup[uint64]{slots: 4 * n, memory: n, capacity: 4 * n, maxLimbo: 4, fifo: true})
	s := r.shards[0]
	hs := r.fill(t, s, n, number)
	r.leave(t, s, hs...)
	_, h, err := s.Claim()
	require.NoError(t, err)
	require.NotContains(t, lows(hs), slots.Low(h))
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

// TestStackUsesAgainWhatWasRemovedLast: after a peak, values that are replaced go through few slots, whatever has
// reclaimed the others, and whether guards come and go.
func TestStackUsesAgainWhatWasRemovedLast(t *testing.T) {
	const n, left, few = 256 * slots.Batch, slots.Batch, 32 * slots.Batch // more batches than chains may be ready
	frame := hint.Frame()
	for name, reclaim := range map[string]func(r *rig[uint64]){
		"nobody":      func(*rig[uint64]) {},
		"collector":   func(r *rig[uint64]) { r.arena.ClearExpired() },
		"synchronize": func(r *rig[uint64]) { assert.NoError(t, r.arena.Synchronize(t.Context())) },
		"trim":        func(r *rig[uint64]) { r.arena.Trim() },
	} {
		for _, set := range []setup[uint64]{{}, {zero: true}, {stampPerSlot: true}} {
			for _, chains := range []bool{false, true} {
				for _, guards := range []bool{false, true} {
					set.slots = n
					r := newRig(t, set)
					s := r.shards[0]
					hs := r.fill(t, s, n, number)
					rand.New(rand.NewPCG(n, 0)).Shuffle(n, func(i, j int) { hs[i], hs[j] = hs[j], hs[i] })
					if chains {
						c := s.Removals()
						for _, h := range hs[left:] {
							require.True(t, c.Remove(h))
						}
						c.End()
					} else {
						r.remove(t, s, hs[left:]...)
					}
					hs = hs[:left]
					used, unpin := map[uint32]bool{}, func() {}
					for k := range n / 2 {
						if k%(n/8) == 0 {
							unpin() // Synchronize would wait for the guard
							reclaim(r)
							unpin = func() {}
						}
						if guards && k%(4*slots.SealEvery) == 0 { // so some of the youngest batches may not pass
							g := r.arena.Domain.Pin()
							unpin()
							unpin = g.Unpin
						}
						require.True(t, r.arena.Remove(frame, hs[k%left]))
						h, err := shard.Insert(&r.arena, frame, 1)
						require.NoError(t, err)
						hs[k%left] = h
						used[slots.Low(h)] = true
					}
					unpin()
					assert.Less(t, len(used), few, "%s, %+v, chains %v, guards %v", name, set, chains, guards)
				}
			}
		}
	}
}

// TestOldValuesPassWhereNobodyElseLetsGo: in an arena that replays, or has a Reset, the collector's cycle reclaims
// nothing. There old batches pass as insertions come, although younger ones have passed too.
func TestOldValuesPassWhereNobodyElseLetsGo(t *testing.T) {
	const n, left = 64 * slots.Batch, slots.Batch
	frame := hint.Frame()
	for _, set := range []setup[*int]{{replays: true, zero: true}, {reset: func(**int) {}}} {
		set.slots = n
		r := newRig(t, set)
		s := r.shards[0]
		hs := r.fill(t, s, n, pointer)
		r.remove(t, s, hs[left:]...)
		used := map[uint32]bool{}
		for k := range n {
			require.True(t, r.arena.Remove(frame, hs[k%left]))
			h, err := shard.Insert(&r.arena, frame, new(int))
			require.NoError(t, err)
			hs[k%left] = h
			used[slots.Low(h)] = true
		}
		require.Greater(t, len(used), n/2, "%+v", set)
	}
}
