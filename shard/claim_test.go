package shard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
	"coatcheck/shard"
)

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
						slots: total, stampPerSlot: true, shards: shards, fifo: fifo, first: shard.LastGeneration - 2,
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
		require.Equal(t, text(shard.Reborn(hs[0])), text(testkit.Soon(t, claimed)))
		_, _, err := s.Claim()
		require.ErrorIs(t, err, shard.ErrStalled)
		guard.Unpin()
	}
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
	require.Equal(t, text(shard.Reborn(hs[1])), text(h))
	_, err = r.arena.Decide(s, began+1)
	require.NoError(t, err, "a decision that found a slot does not refuse")
}

// TestManyGuardsMakeScansRare: an insertion scans thousands of pin cells neither in each shard nor
// each time, while there is new memory. A seal, which a scan follows, tells.
func TestManyGuardsMakeScansRare(t *testing.T) {
	const shards = 8
	for _, fifo := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 1 << 14, memory: shards * shard.Batch, shards: shards, fifo: fifo})
		for range 1000 {
			r.arena.Domain.Pin()
		}
		for _, s := range r.shards {
			r.leave(t, s, r.fill(t, s, shard.Batch, number)...)
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
			require.LessOrEqual(t, seals(), uint64(n+1)/uint64(searches), "after %d searches", n+1)
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
