package shard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// TestEachRemovalWakesACallThatWaits, whichever way it takes. The call would sleep beside a vacant slot.
func TestEachRemovalWakesACallThatWaits(t *testing.T) {
	remove := func(t *testing.T, r *rig[uint64], h uint64) { r.remove(t, r.shards[0], h) }
	for name, c := range map[string]struct {
		setup[uint64]
		prepare func(r *rig[uint64])
		remove  func(t *testing.T, r *rig[uint64], h uint64)
	}{
		"a removal":     {remove: remove},
		"an OnRemove":   {setup: setup[uint64]{events: shard.Events{OnRemove: func(*slots.Hook, uint64) {}}}, remove: remove},
		"skipped lives": {prepare: func(r *rig[uint64]) { r.arena.KeepSkips(&shard.RestoredSkips{}, 1) }, remove: remove},
		"a chain":       {remove: func(t *testing.T, r *rig[uint64], h uint64) { r.leave(t, r.shards[0], h) }},
		"a magazine": {remove: func(t *testing.T, r *rig[uint64], h uint64) {
			m := r.arena.NewMagazine()
			require.True(t, m.Remove(h))
			m.Close(shard.Caller)
		}},
		"a Drop": {remove: func(t *testing.T, r *rig[uint64], h uint64) {
			k, ok := r.arena.Hold(h)
			require.True(t, ok)
			r.remove(t, r.shards[0], h)
			r.arena.Drop(k)
		}},
		"a Reset": {setup: setup[uint64]{reset: func(*uint64) {}}, remove: func(t *testing.T, r *rig[uint64], h uint64) {
			r.remove(t, r.shards[0], h)
			r.shards[0].Reclaim(nil)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c.slots, c.stampPerSlot = 2, true
			r := newRig(t, c.setup)
			hs := r.fill(t, r.shards[0], 2, number)
			if c.prepare != nil {
				c.prepare(r)
			}
			claimed := r.claimWait(t)
			testkit.Until(t, func() bool { return r.arena.Decisions() == 2 && r.arena.WaitsAsleep() })
			c.remove(t, r, hs[0])
			require.NoError(t, testkit.Soon(t, claimed))
		})
	}
}

// TestResetWakesACallThatWaits since the slot was in the hands of another call, which called it.
func TestResetWakesACallThatWaits(t *testing.T) {
	began, gate := make(chan struct{}), make(chan struct{})
	r := newRig(t, setup[uint64]{slots: 1, stampPerSlot: true, reset: func(*uint64) {
		close(began)
		<-gate
	}})
	r.remove(t, r.shards[0], r.fill(t, r.shards[0], 1, number)...)
	go r.shards[0].Reclaim(nil)
	testkit.Soon(t, began)
	claimed := r.claimWait(t)
	testkit.Until(t, func() bool { return r.arena.Decisions() == 2 && r.arena.WaitsAsleep() })
	close(gate)
	require.NoError(t, testkit.Soon(t, claimed))
}
