package shard_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/shard"
)

// TestResetThatFailsLosesNoSlot runs a Reset that panics or exits at each slot of a run in
// turn. Those after it wait again.
func TestResetThatFailsLosesNoSlot(t *testing.T) {
	const n = 7
	fails := map[string]func(){"panic": func() { panic("meant") }, "Goexit": runtime.Goexit}
	for name, fail := range fails {
		for _, set := range []setup[uint64]{{}, {fifo: true}, {exact: true}} {
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
				done := make(chan struct{})
				go func() {
					defer close(done)
					defer func() { _ = recover() }()
					s.Reclaim(s)
				}()
				<-done
				require.Equal(t, n-at, s.Pending(), "%s at %d", name, at)
				require.Equal(t, at, s.Free())
				require.EqualValues(t, at/n, s.Done())
				r.reclaim(t, s)
				require.Equal(t, n, s.Free())
				require.Equal(t, n, resets)
				var values []uint64
				for _, h := range hs {
					values = append(values, r.arena.Slot(shard.Low(h)).Value)
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

// TestSiftedResetsKeepTheOrderOfRemovals: a refused insertion has Reset called for the part of
// a chunk that has passed, the slot first that was removed first.
func TestSiftedResetsKeepTheOrderOfRemovals(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 64, exact: true, fifo: true, reset: func(*uint64) {}})
	s := r.shards[0]
	hs := r.fill(t, s, 64, number)
	r.remove(t, s, hs[:10]...)
	g := r.arena.Domain.Pin()
	r.remove(t, s, hs[10:]...)
	var got []uint32
	for range 10 {
		_, h, err := s.Claim()
		require.NoError(t, err)
		got = append(got, shard.Low(h))
	}
	g.Unpin()
	require.Equal(t, lows(hs[:10]), got)
}

// gated is a rig in which the Resets of some values wait to be told whether they return.
type gated struct {
	*rig[uint64]
	s     *shard.Shard[uint64]
	hs    []uint64
	began chan uint64 // the value whose Reset waits
	gates map[uint64]chan bool
	ended chan struct{}
}

func newGated(t *testing.T, slots int, stops ...uint64) *gated {
	y := &gated{began: make(chan uint64), ended: make(chan struct{}), gates: map[uint64]chan bool{}}
	for _, v := range stops {
		y.gates[v] = make(chan bool)
	}
	y.rig = newRig(t, setup[uint64]{slots: slots, exact: true, reset: y.reset})
	y.s = y.shards[0]
	y.hs = y.fill(t, y.s, slots, number)
	return y
}

func (y *gated) reset(v *uint64) {
	if gate := y.gates[*v]; gate != nil {
		y.began <- *v
		if !<-gate {
			panic(errReset)
		}
	}
}

// start runs f on a goroutine, up to the Reset of v.
func (y *gated) start(t *testing.T, v uint64, f func()) {
	go func() {
		defer func() { y.ended <- struct{}{} }()
		defer func() { _ = recover() }()
		f()
	}()
	require.Equal(t, v, soon(t, y.began))
}

// end lets Resets return or fail, one after the other, and waits for their goroutines to end.
func (y *gated) end(returns bool, stops ...uint64) {
	for _, v := range stops {
		y.gates[v] <- returns
		<-y.ended
	}
}

// TestRunsOfResetsAreBounded starts as many runs as a shard has at a time. A later reclaimer
// neither begins another nor loops. A goal is reached when the first run has ended.
func TestRunsOfResetsAreBounded(t *testing.T) {
	const slots = shard.ResetRun * (shard.RunsMost + 3)
	var stops []uint64
	for k := range uint64(shard.RunsMost) {
		stops = append(stops, k*shard.ResetRun+1)
	}
	y := newGated(t, slots, stops...)
	slices.Reverse(y.hs) // what was removed last comes first
	y.leave(t, y.s, y.hs...)
	goal := y.s.Goal()
	for _, v := range stops {
		y.start(t, v, func() { y.s.Reclaim(y.s) })
	}
	require.False(t, y.s.Reclaim(y.s), "no other run may begin")
	y.arena.LetGo()
	require.Equal(t, slots, y.s.Pending())
	_, _, err := y.s.Claim()
	require.ErrorIs(t, err, shard.ErrFull)
	y.end(true, stops[1:]...)
	require.Zero(t, y.s.Done(), "the first run has not ended")
	y.end(true, stops[0])
	y.reclaim(t, y.s)
	require.Equal(t, slots, y.s.Free())
	require.Equal(t, goal, y.s.Done())
}

// TestDoneCountsRunsFromTheMiddle: a goal waits for a Reset that a refused insertion runs of a
// slot that waited behind others, when these have been reclaimed.
func TestDoneCountsRunsFromTheMiddle(t *testing.T) {
	y := newGated(t, 4, 2)
	young := y.behind(t, false, y.hs[0], y.hs[1])
	y.start(t, 2, func() { y.s.Claim() })
	goal := y.s.Goal()
	young.Unpin()
	y.s.Reclaim(nil)
	require.Less(t, y.s.Done(), goal, "a Reset has not returned")
	y.end(true, 2)
	requireFinished(t, y.s)
}

// TestDoneCountsWhatIsPutBack: what a failed Reset of a slot from the middle puts back waits
// again, and no goal is reached before it should be.
func TestDoneCountsWhatIsPutBack(t *testing.T) {
	y := newGated(t, 4, 3)
	young := y.behind(t, false, y.hs[0], y.hs[1], y.hs[2])
	y.start(t, 3, func() { y.s.Claim() })
	y.end(false, 3)
	require.Equal(t, 2, y.s.Pending())
	require.Less(t, y.s.Done(), y.s.Goal(), "a slot waits for a guard")
	young.Unpin()
	y.reclaim(t, y.s)
	requireFinished(t, y.s)
}

// TestDoneKnowsWhatIsPutBackLate: a run fails after later ones have ended. A goal waits for
// what it puts back.
func TestDoneKnowsWhatIsPutBackLate(t *testing.T) {
	const n = shard.ResetRun
	y := newGated(t, 2*n, n)
	y.leave(t, y.s, y.hs[:n]...)
	goal := y.s.Goal()
	y.start(t, n, func() { y.s.Reclaim(y.s) })
	y.leave(t, y.s, y.hs[n:]...)
	y.s.Reclaim(y.s)
	require.Equal(t, n, y.s.Pending())
	require.Zero(t, y.s.Done(), "the first run has not ended")
	y.end(false, n)
	require.Equal(t, n-1, y.s.Pending())
	require.Less(t, y.s.Done(), goal, "what came first waits again")
	y.reclaim(t, y.s)
	requireFinished(t, y.s)
}

// TestDoneForgetsTheMiddle: slots that were taken from the middle count as gone when those that
// stood before them have left, although later ones wait.
func TestDoneForgetsTheMiddle(t *testing.T) {
	y := newGated(t, 4)
	young := y.behind(t, false, y.hs[0], y.hs[1])
	_, _, err := y.s.Claim()
	require.NoError(t, err)
	goal := y.s.Goal()
	young.Unpin()
	later := y.arena.Domain.Pin()
	y.remove(t, y.s, y.hs[2])
	y.s.Reclaim(nil)
	require.Equal(t, 1, y.s.Pending())
	require.GreaterOrEqual(t, y.s.Done(), goal, "a later guard delays it")
	later.Unpin()
}
