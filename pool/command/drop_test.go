package command_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

func TestDroppedBufferLosesNoSlot(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := small(t, pool.Options[value]{Capacity: 50, Reuse: reuse})
		live := testkit.MustInsert(t, p, valueOf(1))
		for range 5 {
			testkit.Apart(func() {
				b := command.New(p)
				for i := range uint64(20) { // a frame, so that there are lists to reuse
					b.Remove(mustRecord(t, b, i))
				}
				requireApplied(t, 20, 20, b)
				testkit.RequireReclaimed(t, p)
				for i := range uint64(49) {
					mustRecord(t, b, i)
				}
				b.Remove(live)
			})
			testkit.Eventually(t, func() bool { return p.Stats().Reserved == 0 }, "%+v", p.Stats())
		}
		require.Equal(t, 1, p.Len())
		requireLive(t, p, live, 1)
		requireNoneLost(t, p)
	}
}

// TestLoopKeepsItsBuffer: a loop keeps its Buffer alive until it ends, even if the body
// is the last to use it and does not return.
func TestLoopKeepsItsBuffer(t *testing.T) {
	for _, exit := range []bool{false, true} {
		p := small(t, pool.Options[value]{})
		require.Nil(t, testkit.Apart(func() {
			b := command.New(p)
			mustRecord(t, b, 7)
			for _, v := range b.Insertions() {
				for range 10 {
					runtime.GC()
					require.Equal(t, 1, p.Stats().Reserved, "the collector gave the slot back")
					h := testkit.MustInsert(t, p, valueOf(8))
					require.EqualValues(t, 7, v.number())
					require.True(t, p.Remove(h))
				}
				for exit {
					runtime.Goexit()
				}
				break
			}
		}))
		testkit.Eventually(t, func() bool { return p.Stats().Reserved == 0 }, "%+v", p.Stats())
	}
}

// TestAppliedBufferHoldsNothingBack: from one frame to the next a Buffer keeps memory for
// commands, and nothing that was recorded.
func TestAppliedBufferHoldsNothingBack(t *testing.T) {
	p := small(t, pool.Options[value]{})
	a, b := command.New(p), command.New(p)
	for range 3 {
		for i := range uint64(1000) {
			a.Remove(mustRecord(t, a, i))
			mustRecord(t, b, i)
		}
		requireApplied(t, 2000, 1000, a, b)
		for _, x := range []*buffer{a, b} {
			reservations, commands := command.Kept(x)
			assert.Zero(t, reservations)
			assert.Greater(t, commands, 0)
			assert.LessOrEqual(t, commands, 4000, "one list of each kind is enough")
		}
		mustRecord(t, a, 1)
		require.Equal(t, 1, a.Discard())
		reservations, _ := command.Kept(a)
		assert.Zero(t, reservations)
	}
}

// TestBuffersAreCollectedAlone: an Apply keeps none of its buffers alive.
func TestBuffersAreCollectedAlone(t *testing.T) {
	p := small(t, pool.Options[value]{})
	b := command.New(p)
	var ref weak.Pointer[buffer]
	testkit.Apart(func() {
		other := command.New(p)
		ref = weak.Make(other)
		mustRecord(t, other, 1)
		requireApplied(t, 1, 0, b, other)
	})
	testkit.Eventually(t, func() bool { return ref.Value() == nil }, "a Buffer that was applied with another")
	mustRecord(t, b, 1)
	requireApplied(t, 1, 0, b)
}

func TestSteadyFrameAllocatesWhatReserveDoes(t *testing.T) {
	if testkit.Watched || testing.CoverMode() != "" {
		t.Skip("the race detector and coverage allocate")
	}
	const (
		n = 630
		// most is for ten blocks of reservations, five objects each, and for blocks that
		// a collection ends early.
		most = 6 * (10 + 2)
	)
	p := small(t, pool.Options[value]{})
	a, b := command.New(p), command.New(p)
	v := valueOf(1)
	init := func(_ handle, in *value) { *in = v }
	old := make([]handle, 0, n)
	for name, run := range map[string]struct {
		frame func()
		most  float64
	}{
		"insertions": {func() {
			for _, h := range old {
				b.Remove(h)
			}
			old = old[:0]
			for range n / 2 {
				h, _ := a.Insert(v)
				k, _ := b.InsertFunc(init)
				old = append(old, h, k)
			}
			command.Apply(a, b)
		}, most},
		"Discard": {func() {
			for range n {
				_, _ = a.Insert(v)
				a.Remove(1)
			}
			a.Discard()
		}, most},
		"removals": {func() {
			for range n {
				h, _ := p.Insert(v)
				a.Remove(h)
			}
			for range a.Removals() {
				runtime.KeepAlive(a)
			}
			for range a.Insertions() {
				runtime.KeepAlive(a)
			}
			a.Len()
			a.Apply()
		}, 0},
	} {
		for range 100 {
			run.frame()
		}
		assert.LessOrEqual(t, testing.AllocsPerRun(200, run.frame), run.most, name)
	}
}

// TestDiscardCutShortHoldsNothingBack: a Discard that a panicking Reset cut short keeps
// the insertions not given back, and nothing else. It catches a list that keeps settled
// reservations before its beginning.
func TestDiscardCutShortHoldsNothingBack(t *testing.T) {
	const n = 2000
	resets, angry := 0, true
	p := small(t, pool.Options[value]{Reset: func(*value) {
		if resets++; angry && resets > 10 {
			panic("reset")
		}
	}})
	b := command.New(p)
	for i := range uint64(n) {
		mustRecord(t, b, i)
	}
	first := command.FirstInsertion(b)
	require.Panics(t, func() { b.Discard() })
	left, _ := b.Len()
	require.Positive(t, left)
	require.LessOrEqual(t, left, n-63, "the whole block of the first one is settled")
	angry = false
	requireApplied(t, left, 0, b)
	runtime.GC()
	runtime.GC()
	require.Nil(t, first.Value(), "a reservation that is settled")
	runtime.KeepAlive(b)
}
