package shard_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/storm"
	"coatcheck/shard"
)

// stormy is a rig in a storm. Values are pointers to their handle, so that a reader detects a
// slot that was cleaned and one that lives again.
type stormy struct {
	*rig[*uint64]
	*storm.Storm
	owners *storm.Owners
	board  []atomic.Uint64 // live handles
}

func newStormy(t *testing.T, set setup[*uint64]) *stormy {
	set.zero = set.reset == nil
	// More threads than processors: the system preempts them at any instruction.
	old := runtime.GOMAXPROCS(8)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
	return &stormy{
		rig:    newRig(t, set),
		Storm:  storm.New(t),
		owners: storm.NewOwners(set.slots),
		board:  make([]atomic.Uint64, 3),
	}
}

// claim notes that h was handed out.
func (y *stormy) claim(h uint64) {
	if err := y.owners.Claim(shard.Low(h), h); err != nil {
		y.Failf("%w", err)
	}
}

// give notes that h is given back.
func (y *stormy) give(h uint64) { y.owners.Release(shard.Low(h), h) }

// publish makes a slot live, and removes the handle that it displaces.
func (y *stormy) publish(hand *storm.Hand, s *shard.Shard[*uint64], slot *shard.Slot[*uint64], h uint64) {
	stamp := h
	live(slot, h, &stamp)
	hand.Did(storm.Inserted, 1)
	if old := y.board[hand.IntN(len(y.board))].Swap(h); old != 0 {
		y.end(hand, s, old)
	}
}

// end removes the value of h, which no other goroutine may remove.
func (y *stormy) end(hand *storm.Hand, s *shard.Shard[*uint64], h uint64) {
	y.give(h)
	ok := false
	switch hand.IntN(3) {
	case 0:
		var v *uint64
		if v, ok = s.Take(h); ok && *v != h {
			y.Failf("Take(%s): the value of %s", text(h), text(*v))
		}
	case 1:
		c := s.Removals()
		defer c.End() // also when a Reset panics
		ok = c.Remove(h)
		y.also(hand, &c)
	default:
		ok = s.Remove(h)
	}
	if !ok {
		y.Failf("%s was removed by another goroutine", text(h))
	}
	hand.Did(storm.Removed, 1)
}

// also adds the handles on the board to a chain.
func (y *stormy) also(hand *storm.Hand, c *shard.Removals[*uint64]) {
	for i := range y.board {
		if h := y.board[i].Swap(0); h != 0 {
			y.give(h)
			if !c.Remove(h) {
				y.Failf("%s was removed by another goroutine", text(h))
			}
			hand.Did(storm.Removed, 1)
		}
	}
}

// take takes a slot in one of several ways.
func (y *stormy) take(hand *storm.Hand, s *shard.Shard[*uint64]) (*shard.Slot[*uint64], uint64) {
	if slot, h := s.Fresh(); slot != nil {
		return slot, h
	}
	if !y.arena.FIFO && hand.Chance(4) {
		if hs := s.PopRun(1 + hand.IntN(3)); len(hs) > 0 {
			for _, h := range hs[1:] {
				y.claim(h)
				y.give(h)
				s.Return(y.arena.Slot(shard.Low(h)), h)
			}
			return y.arena.Slot(shard.Low(hs[0])), hs[0]
		}
	}
	if slot, h := s.Pop(); slot != nil {
		return slot, h
	}
	return s.Refill(2)
}

// step does one operation with a slot. A Reset in it may fail.
func (y *stormy) step(hand *storm.Hand) {
	defer func() {
		if v := recover(); v != nil && v != errReset {
			panic(v)
		}
	}()
	s := y.shards[hand.IntN(len(y.shards))]
	if !y.arena.FIFO && hand.Chance(4) {
		stamp := new(uint64)
		if slot, h := s.Pop(); slot != nil {
			live(slot, h, stamp)
			y.claim(h)
			y.give(h)
			if !s.Remove(h) {
				y.Failf("%s was removed by another goroutine", text(h))
			}
			hand.Did(storm.Inserted, 1)
			hand.Did(storm.Removed, 1)
		}
		return
	}
	slot, h := y.take(hand, s)
	if slot == nil {
		hand.Did(storm.Full, 1)
		s.Reclaim(y.shards[hand.IntN(len(y.shards))])
		if hand.Chance(4) {
			for i := range y.board {
				if h := y.board[i].Swap(0); h != 0 {
					y.end(hand, s, h)
				}
			}
		}
		return
	}
	y.claim(h)
	if slot.Value != nil {
		y.Failf("%s: neither Reset nor zeroed", text(h))
	}
	switch {
	case hand.Chance(8):
		y.give(h)
		y.arena.Abandon(slot, h, shard.Reclaim)
		hand.Did(storm.Burned, 1)
	case hand.Chance(8) && !y.arena.FIFO:
		y.give(h)
		s.Return(slot, h)
		hand.Did(storm.Burned, 1)
	default:
		y.publish(hand, s, slot, h)
	}
	if hand.Chance(4) {
		s.Reclaim(y.shards[hand.IntN(len(y.shards))])
	}
}

// read pins, looks a value up, and checks it for a while.
func (y *stormy) read(hand *storm.Hand) {
	g := y.arena.Domain.Pin()
	defer g.Unpin()
	h := y.board[hand.IntN(len(y.board))].Load()
	if h == 0 {
		return
	}
	slot := y.arena.Slot(shard.Low(h))
	if slot.Word.Load() != h {
		return
	}
	v := slot.Value
	for range 1 + hand.IntN(3) {
		if slot.Value != v || v == nil || *v != h {
			y.Failf("under a guard the value of %s changed from %p to %p", text(h), v, slot.Value)
			return
		}
		hand.Did(storm.Read, 1)
		if hand.Chance(64) {
			time.Sleep(time.Duration(hand.IntN(200)) * time.Microsecond)
		} else {
			runtime.Gosched()
		}
	}
}

// finish requires that every slot came back.
func (y *stormy) finish(t *testing.T, slots int) {
	t.Helper()
	for i := range y.board {
		if h := y.board[i].Load(); h != 0 {
			y.remove(t, y.shards[0], h)
		}
	}
	free := int(y.arena.Table.Unused())
	for _, s := range y.shards {
		y.reclaim(t, s)
		free += s.Free()
	}
	free += int(y.arena.Exhausted()) // some are exhausted only now
	require.Equal(t, slots, free, "slots")
	y.requireNoSelfLink(t)
}

// TestStormOwnsOnce runs goroutines that take, publish, abandon and remove slots of one or two
// shards while others read. No slot is owned twice, none is lost, and none is cleaned under a
// guard, also if Resets panic.
func TestStormOwnsOnce(t *testing.T) {
	var resets atomic.Uint32
	calm := atomic.NewBool(false)
	fails := func(v **uint64) {
		if resets.Inc()%5 == 0 && !calm.Load() {
			panic(errReset)
		}
		*v = nil
	}
	for name, set := range map[string]setup[*uint64]{
		"stack of two":   {slots: 2},
		"stack":          {slots: 6},
		"two stacks":     {slots: 8, shards: 2},
		"queue":          {slots: 6, fifo: true},
		"two queues":     {slots: 12, shards: 2, fifo: true},
		"exact":          {slots: 8, shards: 2, exact: true},
		"near the end":   {slots: 6, first: shard.LastGeneration - 1000},
		"larger stacks":  {slots: 400, shards: 2},
		"failing Resets": {slots: 16, shards: 2, reset: fails},
	} {
		t.Run(name, func(t *testing.T) {
			y := newStormy(t, set)
			y.Go(4, func(h *storm.Hand) {
				for h.Running() {
					y.step(h)
					if set.first != 0 && int(y.arena.Exhausted()) == set.slots {
						break
					}
				}
			})
			y.Go(3, func(h *storm.Hand) {
				for h.Running() {
					y.read(h)
				}
			})
			y.Run(storm.Least{storm.Inserted: 1000, storm.Removed: 1000})
			calm.Store(true)
			y.finish(t, set.slots)
			calm.Store(false)
		})
	}
}
