//go:build !race

package shard_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// replayed is an arena in which calls are drawn, until its order is written.
type replayed struct {
	*rig[uint64]
	rnd    *rand.Rand
	hs     []uint64
	guards []epoch.Guard
	holds  []shard.Hold
}

func (y *replayed) step(t *testing.T) {
	s := y.shards[0]
	switch y.rnd.IntN(12) {
	case 0, 1, 2:
		for range 1 << y.rnd.IntN(6) {
			slot, h, err := s.Claim()
			if err != nil {
				break
			}
			live(slot, h, 1)
			y.hs = append(y.hs, h)
		}
	case 3, 4, 5:
		y.rnd.Shuffle(len(y.hs), func(i, j int) { y.hs[i], y.hs[j] = y.hs[j], y.hs[i] })
		n := y.rnd.IntN(len(y.hs) + 1)
		y.remove(t, s, y.hs[:n]...)
		y.hs = y.hs[n:]
	case 6:
		y.guards = append(y.guards, y.arena.Domain.Pin())
	case 7:
		y.unpin(y.rnd.IntN(len(y.guards) + 1))
	case 8:
		for _, h := range y.hs[:len(y.hs)/4] {
			k, ok := y.arena.Hold(h)
			require.True(t, ok)
			y.holds = append(y.holds, k)
		}
	case 9:
		y.drop()
	case 10:
		s.Reclaim([]*shard.Shard{s, nil}[y.rnd.IntN(2)])
	case 11:
		y.arena.Trim()
	}
}

func (y *replayed) unpin(n int) {
	for i := range n {
		y.guards[i].Unpin()
	}
	y.guards = y.guards[n:]
}

func (y *replayed) drop() {
	for _, k := range y.holds {
		y.arena.Drop(k)
	}
	y.holds = nil
}

// copied returns an arena that was restored from y's slots and its order.
func (y *replayed) copied(t *testing.T) *shard.Arena {
	c, from := new(shard.Arena), &y.arena
	config := from.Config
	config.Domain = epoch.New()
	c.Init(config)
	r := shard.NewRestorer(c)
	r.Earn(1 << 30)
	stages := make([]uint32, from.Table.Allocated())
	for i := range stages {
		stages[i] = from.Table.SlotStage(uint32(i))
	}
	// Pages without memory get some, as those do that are given up while the snapshot is written.
	require.True(t, r.Occupy(0, from.Table.Allocated()))
	r.RestoreSlots(0, stages)
	_, ok := r.RestoreOrder(from.Order())
	require.True(t, ok, "the order should be accepted")
	return c
}

// TestCopyHasTheOrderOfItsOriginal: whatever waits, and wherever, a copy has all of it in the same lists, by stamps in the
// same order. Then both issue the same handles. No Reset is called for a value that is not in the copy.
func TestCopyHasTheOrderOfItsOriginal(t *testing.T) {
	for seed := range uint64(160) {
		resets, rnd := 0, rand.New(rand.NewPCG(seed, 0))
		set := setup[uint64]{slots: []int{40, 200}[seed/16%2], memory: 8, replays: true, stampPerSlot: seed%2 == 0, fifo: seed/2%2 == 0}
		if seed/4%2 == 0 {
			set.reset = func(*uint64) { resets++ }
		}
		if seed/8%2 == 0 {
			set.first = slots.LastGeneration - 2*uint32(rnd.IntN(3))
		}
		y := &replayed{rig: newRig(t, set), rnd: rnd}
		for range 20 + rnd.IntN(20) {
			y.step(t)
		}
		y.unpin(len(y.guards))
		y.drop()
		c, other := y.copied(t), y.copied(t)
		require.Equal(t, shard.Ranked(y.arena.Order()), shard.Ranked(c.Order()), "seed %d", seed)
		want, got := y.arena.Count(), c.Count()
		require.Equal(t, []int{want.Live, want.Free, want.Limbo, want.Exhausted, want.Allocated},
			[]int{got.Live, got.Free, got.Limbo, got.Exhausted, got.Allocated}, "seed %d", seed)
		spent, waiting := y.arena.Table.Spent()
		spentThere, waitingThere := c.Table.Spent()
		require.Equal(t, []int64{spent, waiting}, []int64{spentThere, waitingThere}, "seed %d", seed)

		resets = 0
		require.NoError(t, other.Synchronize(t.Context()))
		require.Zero(t, resets, "seed %d: of values that are not in the copy", seed)
		for k := range 300 {
			slot, h, err := y.shards[0].Claim()
			slotThere, there, errThere := c.Shard(0).Claim()
			require.Equal(t, text(h), text(there), "seed %d, insertion %d", seed, k)
			if err != nil {
				require.Equal(t, err.Error()[:10], errThere.Error()[:10])
				break
			}
			live(slot, h, 1)
			live(slotThere, h, 1)
			if k%3 == 0 {
				y.remove(t, y.shards[0], h)
				require.True(t, c.Shard(0).Remove(h))
			}
		}
	}
}

// TestListThatChangesHasNoOrder: where a slot of a list turns out to be live, an insertion has taken it meanwhile.
func TestListThatChangesHasNoOrder(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 8, replays: true})
	s := r.shards[0]
	r.remove(t, s, r.fill(t, s, 8, number)...)
	r.reclaim(t, s)
	order, listed := s.Order()
	require.Equal(t, 8, listed)
	require.NotNil(t, r.arena.Order())
	for _, i := range order {
		before := r.word(i)
		r.arena.Slot(i).Publish(slots.Pack(slots.Generation(before)+1, i))
		require.Nil(t, r.arena.Order(), "slot %d", i)
		r.arena.Slot(i).Publish(before)
	}
}
