package shard_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/shard"
)

// rig is what a pool gives its shards: a space of slots, and shards in it.
type rig[T any] struct {
	space  shard.Space[T]
	shards []*shard.Shard[T]
	all    []shard.Shard[T] // those, as Trim wants them
}

// setup is how a rig differs from the usual one: stacks, pages of 2 slots,
// generations from 1.
type setup[T any] struct {
	slots   int  // the most there may be
	memory  int  // how many have memory from the start; 0: all
	shards  int  // 0: one
	fifo    bool // queues; each shard has reserve slots and a dummy
	reserve int
	first   uint32 // the first live generation; 0: 1
	zero    bool
	reset   func(*T)
}

// tinyShift makes pages of 2 slots, so that every list crosses pages.
const tinyShift = 1

func newRig[T any](t testing.TB, set setup[T]) *rig[T] {
	t.Helper()
	r := new(rig[T])
	r.space.Domain = epoch.New()
	r.space.First = max(set.first, 1)
	r.space.FIFO = set.fifo
	r.space.Zero = set.zero
	r.space.Reset = set.reset
	r.space.Reserve.Store(int64(set.reserve * max(set.shards, 1)))
	r.space.Init(uint64(set.slots), tinyShift)
	if set.memory == 0 {
		set.memory = set.slots
	}
	r.space.Table.Provide(uint64(set.memory))
	r.all = make([]shard.Shard[T], max(set.shards, 1))
	for i := range r.all {
		s := &r.all[i]
		require.True(t, s.Init(&r.space, i, set.reserve), "shard %d", i)
		r.shards = append(r.shards, s)
	}
	return r
}

// live publishes v in a slot that was handed out.
func live[T any](slot *shard.Slot[T], h uint64, v T) {
	slot.Value = v
	slot.Publish(h)
}

// take takes a slot as a pool would, or fails the test.
func (r *rig[T]) take(t testing.TB, s *shard.Shard[T]) (*shard.Slot[T], uint64) {
	t.Helper()
	slot, h := r.tryTake(s)
	require.NotNil(t, slot, "the shard has no slot")
	return slot, h
}

// tryTake is take that may find nothing. Under FIFO it wants a right to the slot.
func (r *rig[T]) tryTake(s *shard.Shard[T]) (*shard.Slot[T], uint64) {
	if r.space.FIFO && !s.TakeCredit() {
		return s.Refill(1)
	}
	if slot, h := s.Fresh(); slot != nil {
		return slot, h
	}
	if slot, h := s.Pop(); slot != nil {
		return slot, h
	}
	if r.space.FIFO {
		s.GiveCredit(1)
	}
	return s.Refill(1)
}

// fill makes n slots live with the values 1 to n.
func (r *rig[T]) fill(t testing.TB, s *shard.Shard[T], n int, value func(i int) T) (hs []uint64) {
	t.Helper()
	for i := range n {
		slot, h := r.take(t, s)
		live(slot, h, value(i+1))
		hs = append(hs, h)
	}
	return hs
}

func number(i int) uint64 { return uint64(i) }

// remove removes what hs name by s.
func (r *rig[T]) remove(t testing.TB, s *shard.Shard[T], hs ...uint64) {
	t.Helper()
	for _, h := range hs {
		require.True(t, s.Remove(r.space.Slot(shard.Low(h)), h), "Remove(%s)", text(h))
	}
}

// reclaim reclaims in s until nothing waits.
func (r *rig[T]) reclaim(t testing.TB, s *shard.Shard[T]) {
	t.Helper()
	for calls := 0; s.Pending() > 0; calls++ {
		require.Less(t, calls, 1000, "%d slots still wait", s.Pending())
		s.Reclaim(s, shard.Scan)
	}
}

// word is slot i's word.
func (r *rig[T]) word(i uint32) uint64 { return r.space.Slot(i).Word.Load() }

// requireNoSelfLink requires that no slot that is not live answers to a handle
// of its own (I4).
func (r *rig[T]) requireNoSelfLink(t testing.TB) {
	t.Helper()
	for i := range r.space.Table.Pages().Limit {
		w := r.word(i)
		require.False(t, !shard.IsLive(w) && shard.Low(w) == i, "slot %d: vacant word %s", i, text(w))
	}
}

// text formats a word like a handle.
func text(h uint64) string { return fmt.Sprintf("%d@%d", shard.Low(h), shard.Generation(h)) }

// lows are the slots of hs.
func lows(hs []uint64) []uint32 {
	is := make([]uint32, len(hs))
	for i, h := range hs {
		is[i] = shard.Low(h)
	}
	return is
}
