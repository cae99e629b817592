package shard_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/shard"
)

// TestPinHoldsTheBatch: what a guard may have seen is neither cleaned nor freed before its
// Unpin, whichever goroutine reclaims.
func TestPinHoldsTheBatch(t *testing.T) {
	for _, fifo := range []bool{false, true} {
		r := newRig[*int](t, setup[*int]{slots: 3 * shard.Batch, zero: true, fifo: fifo, reserve: 1})
		s := r.shards[0]
		hs := r.fill(t, s, 2*shard.Batch, func(i int) *int { return &i })
		free := s.Free()
		g := r.arena.Domain.Pin()
		r.remove(t, s, hs...) // seals on the way
		for range 3 {
			n, _ := s.Reclaim(s)
			require.Zero(t, n)
		}
		require.Equal(t, len(hs), s.Pending())
		require.Equal(t, free, s.Free())
		for i, h := range hs {
			require.Equal(t, i+1, *r.arena.Slot(shard.Low(h)).Value)
		}
		g.Unpin()
		r.reclaim(t, s)
		require.Equal(t, free+len(hs), s.Free())
		for _, h := range hs {
			require.Nil(t, r.arena.Slot(shard.Low(h)).Value, "a reclaimed slot keeps its pointer")
		}
		r.requireNoSelfLink(t)
	}
}

// TestLaterGuardHoldsNothingBack: only guards that were pinned at its removal delay a slot.
func TestLaterGuardHoldsNothingBack(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 4})
	s := r.shards[0]
	hs := r.fill(t, s, 2, number)
	r.remove(t, s, hs...)
	n, _ := s.ReclaimKnown(s)
	require.Zero(t, n, "sealed, and no scan since")
	g := r.arena.Domain.Pin()
	defer g.Unpin()
	n, _ = s.Reclaim(s)
	require.Equal(t, 2, n)

	// The same holds behind a batch that an earlier guard delays.
	r = newRig[uint64](t, setup[uint64]{slots: 2 * shard.Batch})
	s = r.shards[0]
	hs = r.fill(t, s, 2*shard.Batch, number)
	early := r.arena.Domain.Pin()
	r.remove(t, s, hs...)
	late := r.arena.Domain.Pin()
	defer late.Unpin()
	early.Unpin()
	s.Reclaim(s)
	require.Zero(t, s.Pending())
}

// TestBatchWaitsForAnEmptyStack: a batch that needs no visit is spliced when the stack is
// empty, and not before, unless AutoTrim wants the slots.
func TestBatchWaitsForAnEmptyStack(t *testing.T) {
	const n = shard.Batch
	for _, trims := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 3 * n})
		r.arena.AutoTrim = trims
		s := r.shards[0]
		hs := r.fill(t, s, 3*n, number)
		r.remove(t, s, hs[:n]...)
		require.Equal(t, n, s.Free(), "the stack was empty")
		r.remove(t, s, hs[n:2*n]...)
		if trims {
			require.Zero(t, s.Pending())
			continue
		}
		require.Equal(t, n, s.Pending())
		require.Len(t, s.PopRun(3*n), n)
		r.remove(t, s, hs[2*n:]...)
		require.Equal(t, n, s.Free(), "what waited is on the stack")
		require.Equal(t, n, s.Pending())
		r.reclaim(t, s)
		require.Equal(t, 2*n, s.Free())
	}
}

// TestReclaimIsBounded reclaims a backlog by many calls, and loses no slot.
func TestReclaimIsBounded(t *testing.T) {
	const n = 5*shard.ReclaimMost + 3
	for _, fifo := range []bool{false, true} {
		r := newRig[*int](t, setup[*int]{slots: n + 2, zero: true, fifo: fifo, reserve: 1})
		s := r.shards[0]
		hs := r.fill(t, s, n, func(i int) *int { return &i })
		before := s.Free()
		r.arena.SetReach(n + 1)
		c := s.Removals()
		for _, h := range hs {
			require.True(t, c.Remove(h))
		}
		c.Abandon()
		require.Equal(t, n, s.Pending(), "nothing is reclaimed")
		calls, freed := 0, 0
		for more := true; more; calls++ {
			var got int
			got, more = s.Reclaim(s)
			if !fifo { // a queue gets a batch whole, when it is reversed
				require.LessOrEqual(t, got, shard.ReclaimMost)
			}
			freed += got
			require.Equal(t, n-freed, s.Pending())
			require.Equal(t, before+freed, s.Free())
		}
		require.Equal(t, n, freed)
		require.GreaterOrEqual(t, calls, 6)
		requireFinished(t, s)
	}
}

// TestSplicedBatchHasNoExhaustedSlot: a batch that needs no cleaning is spliced, unless it has
// a slot that has used up its generations.
func TestSplicedBatchHasNoExhaustedSlot(t *testing.T) {
	for at := range 3 { // the slot's position in the batch
		r := newRig[uint64](t, setup[uint64]{slots: 3, first: shard.LastGeneration - 2})
		s := r.shards[0]
		hs := r.fill(t, s, 3, number)
		r.remove(t, s, hs[at])
		r.reclaim(t, s)
		slot, h := s.Pop()
		require.Equal(t, shard.Reborn(hs[at]), h)
		live(slot, h, 1)
		hs[at] = h // it lives for the last time
		r.remove(t, s, hs...)
		r.reclaim(t, s)
		require.EqualValues(t, 1, r.arena.Exhausted())
		require.Equal(t, 2, s.Free())
		for range 2 {
			_, h := s.Pop()
			require.EqualValues(t, uint32(shard.LastGeneration), shard.Generation(h))
		}
		slot, _ = s.Pop()
		require.Nil(t, slot)
		r.requireNoSelfLink(t)
	}
}

// TestExhaustionEndsEverySlot uses up the generations of all slots, by every way in which a
// life ends.
func TestExhaustionEndsEverySlot(t *testing.T) {
	const slots, lives = 6, 5
	ends := map[string]func(r *rig[*int], s *shard.Shard[*int], slot *shard.Slot[*int], h uint64){
		"Remove": func(r *rig[*int], s *shard.Shard[*int], slot *shard.Slot[*int], h uint64) {
			live(slot, h, new(int))
			r.remove(t, s, h)
		},
		"Take": func(_ *rig[*int], s *shard.Shard[*int], slot *shard.Slot[*int], h uint64) {
			live(slot, h, new(int))
			v, ok := s.Take(h)
			require.True(t, ok)
			require.NotNil(t, v)
		},
		"Removals": func(_ *rig[*int], s *shard.Shard[*int], slot *shard.Slot[*int], h uint64) {
			live(slot, h, new(int))
			c := s.Removals()
			require.True(t, c.Remove(h))
			c.End()
		},
		"Abandon": func(_ *rig[*int], s *shard.Shard[*int], slot *shard.Slot[*int], h uint64) {
			slot.Value = new(int)
			s.Abandon(slot, h)
		},
		"Return": func(_ *rig[*int], s *shard.Shard[*int], slot *shard.Slot[*int], h uint64) { s.Return(slot, h) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			r := newRig[*int](t, setup[*int]{slots: slots, zero: true, first: shard.LastGeneration - 2*(lives-1)})
			s := r.shards[0]
			seen := map[uint64]bool{}
			for {
				slot, h := r.tryTake(s)
				if slot == nil {
					break
				}
				require.False(t, seen[h], "%s twice", text(h))
				seen[h] = true
				end(r, s, slot, h)
				r.reclaim(t, s)
				r.requireNoSelfLink(t)
			}
			assert.Len(t, seen, slots*lives)
			assert.EqualValues(t, slots, r.arena.Exhausted())
			assert.EqualValues(t, slots, r.arena.Spent())
			assert.Zero(t, s.Free())
			for i := range uint32(slots) {
				assert.Nil(t, r.arena.Slot(i).Value, "an exhausted slot keeps its pointer")
				assert.EqualValues(t, uint32(shard.Spent), shard.Generation(r.word(i)))
			}
		})
	}
}

// TestResetThatFailsLosesNoSlot runs a Reset that panics or exits at each slot of a batch in
// turn.
func TestResetThatFailsLosesNoSlot(t *testing.T) {
	const n = 7
	fails := map[string]func(){"panic": func() { panic("meant") }, "Goexit": runtime.Goexit}
	for name, fail := range fails {
		for _, fifo := range []bool{false, true} {
			for at := 1; at <= n; at++ {
				resets := 0
				r := newRig[uint64](t, setup[uint64]{slots: n + 2, fifo: fifo, reserve: 1, reset: func(v *uint64) {
					if resets++; resets == at {
						fail()
					}
					*v = 1000
				}})
				s := r.shards[0]
				hs := r.fill(t, s, n, number)
				before := s.Free()
				r.remove(t, s, hs...)
				done := make(chan struct{})
				go func() {
					defer close(done)
					defer func() { _ = recover() }()
					s.Reclaim(s)
				}()
				<-done
				require.Equal(t, before+n, s.Free()+s.Pending(), "%s at %d: slots", name, at)
				r.reclaim(t, s)
				require.Equal(t, before+n, s.Free())
				require.Equal(t, n, resets)
				var values []uint64
				for _, h := range hs {
					values = append(values, r.arena.Slot(shard.Low(h)).Value)
				}
				slices.Sort(values)
				require.Equal(t, []uint64{0, 1000}, slices.Compact(values), "the failed one is zero, the others are as Reset left them")
				requireFinished(t, s)
			}
		}
	}
}

// TestResetFindsNoChain: a gathered chain is in limbo before a Reset runs at a slot's last
// removal, since the Reset may wait for the chain's slots.
func TestResetFindsNoChain(t *testing.T) {
	var c shard.Removals[uint64]
	resets := 0
	r := newRig[uint64](t, setup[uint64]{slots: shard.Batch + 1, first: shard.LastGeneration - 2, reset: func(*uint64) {
		resets++
		require.Zero(t, c.Len())
	}})
	s := r.shards[0]
	h := r.fill(t, s, 1, number)[0]
	r.remove(t, s, h)
	r.reclaim(t, s)
	last, h := s.Pop()
	live(last, h, 1)
	hs := r.fill(t, s, shard.Batch, number)
	r.remove(t, s, hs[1:]...) // one more makes a batch
	c = s.Removals()
	require.True(t, c.Remove(hs[0]))
	resets = 0
	require.True(t, c.Remove(h))
	require.Positive(t, resets)
	c.End()
	r.reclaim(t, s)
	require.Equal(t, shard.Batch, s.Free())
}

// TestBlankZeroesWhatReclaimingLeft: reclaiming does not zero a T without pointers, and Blank
// does.
func TestBlankZeroesWhatReclaimingLeft(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 1})
	s := r.shards[0]
	r.remove(t, s, r.fill(t, s, 1, number)...)
	r.reclaim(t, s)
	slot, _ := s.Pop()
	r.arena.Blank(slot)
	assert.Zero(t, slot.Value)
}

// TestLongResetsDoNotBlockReclaim starts as many long Resets as may run. A later reclaimer
// neither begins another nor loops.
func TestLongResetsDoNotBlockReclaim(t *testing.T) {
	const slots = 1000
	entered, gate := make(chan struct{}, slots), make(chan struct{})
	r := newRig[uint64](t, setup[uint64]{slots: slots, reset: func(*uint64) {
		entered <- struct{}{}
		<-gate
	}})
	s := r.shards[0]
	for _, h := range r.fill(t, s, slots, number) {
		c := s.Removals()
		require.True(t, c.Remove(h))
		c.Abandon()
	}
	var wg sync.WaitGroup
	stand := 0
	for s.Waits() > 0 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s.ReclaimWaiting(s)
		}()
		<-entered
		stand++
	}
	require.Less(t, stand, 100)
	n, more := s.ReclaimWaiting(s)
	require.Zero(t, n)
	require.False(t, more)
	close(gate)
	wg.Wait()
	r.reclaim(t, s)
	require.Equal(t, slots, s.Free())
}
