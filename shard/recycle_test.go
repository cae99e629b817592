package shard_test

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// TestResetThatFailsLosesNoSlot runs a Reset that panics or exits at each slot of a run in
// turn. Those after it wait again.
func TestResetThatFailsLosesNoSlot(t *testing.T) {
	const n = 7
	fails := map[string]func(){"panic": func() { panic("meant") }, "Goexit": runtime.Goexit}
	for name, fail := range fails {
		for _, set := range []setup[uint64]{{}, {fifo: true}, {stampPerSlot: true}} {
			for at := 1; at <= n; at++ {
				resets := 0
				set.slots, set.reset = n, func(v *uint64) {
					if resets++; resets == at {
						fail()
					}
					*v = 1000
				}
				r := newRig(t, set)
				s := r.shards[0]
				hs := r.fill(t, s, n, number)
				r.remove(t, s, hs...)
				goal := s.Goal()
				done := make(chan struct{})
				go func() {
					defer close(done)
					defer func() { _ = recover() }()
					s.Reclaim(s)
				}()
				testkit.Soon(t, done)
				require.Equal(t, n-at, s.Pending(), "%s at %d", name, at)
				require.Equal(t, at, s.Free())
				require.Equal(t, at == n, goal.Reached())
				r.reclaim(t, s)
				require.Equal(t, n, s.Free())
				require.Equal(t, n, resets)
				var values []uint64
				for _, h := range hs {
					values = append(values, *slots.ValueOf[uint64](r.arena.Slot(slots.Low(h))))
				}
				failed := n - at // what was removed last is first
				if set.fifo {
					failed = at - 1
				}
				require.Zero(t, values[failed], "the failed one")
				slices.Sort(values)
				require.Equal(t, []uint64{0, 1000}, slices.Compact(values), "the others are as Reset left them")
				requireFinished(t, s)
			}
		}
	}
}

// TestFailedResetKeepsTheStamp: what waits again, at the last epoch for any guard, is a reason
// to refuse. With a lower stamp it seems to have passed, and the insertion looks without end.
func TestFailedResetKeepsTheStamp(t *testing.T) {
	failing := true
	r := newRig(t, setup[uint64]{slots: 40, reset: func(*uint64) {
		if failing {
			panic("meant")
		}
	}})
	r.setEpoch(epoch.Limit)
	s := r.shards[0]
	r.remove(t, s, r.fill(t, s, 40, number)...)
	require.Panics(t, func() { s.Reclaim(s) })
	failing = false
	g := r.arena.Domain.Pin()
	defer g.Unpin()
	for range s.Free() {
		r.take(t, s)
	}
	_, err := r.arena.Decide(s, r.arena.Decisions())
	require.ErrorIs(t, err, shard.ErrStalled)
}

// TestFailedResetKeepsItsPlace: what waits again is not behind what waits for a guard.
func TestFailedResetKeepsItsPlace(t *testing.T) {
	failing := true
	r := newRig[uint64](t, setup[uint64]{slots: 4, stampPerSlot: true, reset: func(*uint64) {
		if failing {
			failing = false
			panic("meant")
		}
	}})
	s := r.shards[0]
	hs := r.fill(t, s, 4, number)
	r.leave(t, s, hs[:3]...)
	s.Goal()
	g := r.arena.Domain.Pin()
	defer g.Unpin()
	r.leave(t, s, hs[3])
	s.Goal()
	require.Panics(t, func() { s.Reclaim(s) })
	require.Equal(t, 1, s.Free())
	s.Reclaim(s)
	require.Equal(t, 3, s.Free())
	require.Equal(t, 1, s.Pending())
}

// TestSiftedResetsKeepTheOrderOfRemovals: a refused insertion has Reset called for the part of
// a batch that has passed, the slot first that was removed first.
func TestSiftedResetsKeepTheOrderOfRemovals(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 64, stampPerSlot: true, fifo: true, reset: func(*uint64) {}})
	s := r.shards[0]
	hs := r.fill(t, s, 64, number)
	r.remove(t, s, hs[:10]...)
	g := r.arena.Domain.Pin()
	r.remove(t, s, hs[10:]...)
	var got []uint32
	for range 10 {
		_, h, err := s.Claim()
		require.NoError(t, err)
		got = append(got, slots.Low(h))
	}
	g.Unpin()
	require.Equal(t, lows(hs[:10]), got)
}

// TestHeldSlotStopsNoReset: the other slots of its run have their Resets at once.
func TestHeldSlotStopsNoReset(t *testing.T) {
	const n = shard.ResetRun
	resets := 0
	r := newRig[uint64](t, setup[uint64]{slots: n, reset: func(*uint64) { resets++ }})
	s := r.shards[0]
	hs := r.fill(t, s, n, number)
	k, ok := r.arena.Hold(hs[n/2])
	require.True(t, ok)
	r.leave(t, s, hs...)
	s.Round(nil)
	require.Equal(t, n-1, resets)
	require.Equal(t, n-1, s.Free())
	r.arena.Drop(k)
}

// TestRunsOfResetsAreBounded starts as many runs as a shard has at a time, whose Resets wait. A
// later reclaimer neither begins another nor loops. A goal is reached when the first run has
// ended.
func TestRunsOfResetsAreBounded(t *testing.T) {
	const total = shard.ResetRun*shard.RunsMost + 2*slots.SealEvery // two batches are left
	began, ended, gates := make(chan uint64), make(chan struct{}), map[uint64]chan struct{}{}
	for k := range uint64(shard.RunsMost) {
		gates[k*shard.ResetRun+1] = make(chan struct{})
	}
	r := newRig(t, setup[uint64]{slots: total, stampPerSlot: true, reset: func(v *uint64) {
		if gate := gates[*v]; gate != nil {
			began <- *v
			<-gate
		}
	}})
	s := r.shards[0]
	hs := r.fill(t, s, total, number)
	for sealed := range slices.Chunk(hs, slots.SealEvery) {
		slices.Reverse(sealed) // what was removed last comes first
	}
	r.leave(t, s, hs...)
	goal := s.Goal()
	for k := range uint64(shard.RunsMost) {
		go func() {
			s.Reclaim(s)
			ended <- struct{}{}
		}()
		require.Equal(t, k*shard.ResetRun+1, testkit.Soon(t, began))
	}
	require.False(t, s.Reclaim(s), "no other run may begin")
	require.Equal(t, total, s.Pending())
	_, _, err := s.Claim()
	require.Equal(t, shard.ErrFull, testkit.Kind(err), "all that waits has passed")
	end := func(v uint64) {
		close(gates[v])
		testkit.Soon(t, ended)
	}
	for k := range uint64(shard.RunsMost - 1) {
		end((k+1)*shard.ResetRun + 1)
	}
	for s.Reclaim(s) { // nothing else waits
	}
	require.Equal(t, shard.ResetRun, s.Pending())
	require.False(t, goal.Reached(), "the first run has not ended")
	end(1)
	r.reclaim(t, s)
	require.Equal(t, total, s.Free())
	require.True(t, goal.Reached(), "the goal should be reached")
}

// TestWhatAResetLeftStaysApart: slots that come back from a Reset that failed are not joined to what
// was removed after a call of Synchronize that waits for them.
func TestWhatAResetLeftStaysApart(t *testing.T) {
	const n = shard.ResetRun
	for _, stamps := range []bool{false, true} {
		for _, sorted := range []int{0, n} { // the others are enqueued whole, when their stamps have passed
			fails := 2
			r := newRig(t, setup[uint64]{slots: 2 * n, stampPerSlot: stamps, reset: func(*uint64) {
				if fails--; fails >= 0 {
					panic("twice")
				}
			}})
			s := r.shards[0]
			hs := r.fill(t, s, 2*n, number)
			goal := r.leaveApart(t, s, hs[:n], hs[n:n+sorted])
			r.leave(t, s, hs[n+sorted:]...)
			for range 2 {
				require.Panics(t, func() { s.Round(nil) })
				require.False(t, goal.Reached(), "the goal should not be reached yet")
			}
			s.Round(nil) // the rest of the run
			require.True(t, goal.Reached(), "the goal should be reached")
		}
	}
}

// TestGoalEndsWithAFailedReset: once a Synchronize has panicked, what it has left need not stay apart from what is removed later.
func TestGoalEndsWithAFailedReset(t *testing.T) {
	fails := true
	r := newRig[uint64](t, setup[uint64]{slots: 8, stampPerSlot: true, reset: func(*uint64) {
		if fails {
			panic("once")
		}
	}})
	s := r.shards[0]
	hs := r.fill(t, s, 8, number)
	r.leave(t, s, hs[:4]...)
	require.Panics(t, func() { _ = r.arena.Synchronize(t.Context()) })
	r.leave(t, s, hs[4:]...)
	s.Seal()
	require.Equal(t, 1, s.Batches())
	fails = false
	require.NoError(t, r.arena.Synchronize(t.Context()))
	require.Equal(t, 8, s.Free())
}

// TestWhatSeveralResetsLeftStaysApart: so it is with three runs that fail at once, where two calls of
// Synchronize have come between the removals.
func TestWhatSeveralResetsLeftStaysApart(t *testing.T) {
	const n, runs = shard.ResetRun, 3
	for _, stamps := range []bool{false, true} {
		began, ended := make(chan int), make(chan any)
		var gates [runs]chan struct{}
		for k := range gates {
			gates[k] = make(chan struct{})
		}
		var resets atomic.Int32
		r := newRig(t, setup[uint64]{slots: runs * n, stampPerSlot: stamps, reset: func(*uint64) {
			if k := int(resets.Add(1)) - 1; k < runs {
				began <- k
				<-gates[k]
				panic("once")
			}
		}})
		s := r.shards[0]
		hs := r.fill(t, s, runs*n, number)
		g := r.arena.Domain.Pin()
		var goals []*shard.Goal
		for k := range runs {
			r.leave(t, s, hs[k*n:][:n]...)
			for range 3 {
				s.Round(nil) // into a batch
			}
			goals = append(goals, s.Goal())
		}
		g.Unpin()
		for k := range runs {
			go func() {
				defer func() { ended <- recover() }()
				s.Round(nil)
			}()
			require.Equal(t, k, testkit.Soon(t, began))
		}
		for k := range runs {
			close(gates[k])
			require.Equal(t, "once", testkit.Soon(t, ended))
		}
		for k := range runs {
			for _, goal := range goals[k:] {
				require.False(t, goal.Reached(), "what was removed before call %d waits", k)
			}
			s.Round(nil) // the rest of a run
			require.True(t, goals[k].Reached(), "what was removed before call %d has had its Resets", k)
		}
		require.Equal(t, runs*n, s.Free())
	}
}

// TestWhatAResetLeftKeepsTheLeastStamp: a slot that comes back from a Reset that failed is joined to a
// batch that has an older slot. A guard between the two does not delay that one.
func TestWhatAResetLeftKeepsTheLeastStamp(t *testing.T) {
	const n, early, older, late, own, younger = 41, 102, 103, 104, 105, 107 // epochs
	began, fail, fails := make(chan struct{}), make(chan struct{}), true
	r := newRig[uint64](t, setup[uint64]{slots: n, stampPerSlot: true, reset: func(*uint64) {
		if fails {
			fails = false
			close(began)
			<-fail
			panic("once")
		}
	}})
	s, d := r.shards[0], r.arena.Domain
	hs := r.fill(t, s, n, number)
	r.setEpoch(own)
	g := d.Pin()
	r.leave(t, s, hs[:2]...)
	for range 3 {
		s.Round(nil) // into a batch, by their stamps
	}
	g.Unpin()
	ended := make(chan any)
	go func() {
		defer func() { ended <- recover() }()
		for {
			s.Round(nil)
		}
	}()
	testkit.Soon(t, began)
	r.setEpoch(early)
	g = d.Pin()
	for i, h := range hs[2:] {
		stamp := uint64(older)
		if i > 0 {
			stamp = uint64(younger + i)
		}
		r.setEpoch(stamp)
		r.leave(t, s, h)
		s.Seal()
	}
	require.Less(t, s.Batches(), n/2, "they are joined")
	close(fail)
	require.Equal(t, "once", testkit.Soon(t, ended)) // of one; the other waits again
	r.setEpoch(late)
	between := d.Pin() // as if it had loaded the epoch then
	defer between.Unpin()
	r.setEpoch(younger + n)
	g.Unpin()
	_, h, err := s.Claim()
	require.NoError(t, err)
	require.Contains(t, lows(hs[:2]), slots.Low(h), "whose Reset failed")
	_, h, err = s.Claim()
	require.NoError(t, err)
	require.Equal(t, text(slots.Reborn(hs[2])), text(h))
	_, _, err = s.Claim()
	require.ErrorIs(t, err, shard.ErrStalled)
}
