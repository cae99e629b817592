package shard_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// rig is an arena whose shards a test uses one by one.
type rig[T any] struct {
	arena  shard.Arena
	shards []*shard.Shard
}

// setup is how a rig differs from the default: stacks, pages of 2 slots, generations from 1.
type setup[T any] struct {
	slots        int    // the most there may be
	memory       int    // how many have memory from the start; 0: all
	shards       int    // 0: one
	most         int    // the most shards that there may be; 0: these
	fifo         bool   // queues
	first        uint32 // the first live generation; 0: 1
	zero         bool
	stampPerSlot bool // removals have stamps
	replays      bool
	capacity     int // so they have then, and magazines are small
	maxLimbo     int // magazines are small then as well
	fixed        bool
	reset        func(*T)
	events       shard.Events
	pages        slots.PageSizes // the zero value: tinyPages
}

// tinyPages makes pages of 1, 1 and 2 slots, and then of 4, so that every list crosses pages.
var tinyPages = slots.PageSizes{Unit: 0, Page: 2, Most: 3}

func newRig[T any](t testing.TB, set setup[T]) *rig[T] {
	t.Helper()
	r := new(rig[T])
	n := max(set.shards, 1)
	limbo := set.maxLimbo
	if set.pages == (slots.PageSizes{}) {
		set.pages = tinyPages
	}
	if set.stampPerSlot {
		limbo = set.slots
	}
	r.arena.Events = set.events
	r.arena.Init(shard.Config{
		Domain: epoch.New(),
		Slots:  uint64(set.slots), Pages: set.pages, Shards: max(n, set.most), AllShards: set.most == 0,
		Origin: max(set.first, 1), FIFO: set.fifo, Replays: set.replays,
		Layout:   slots.LayoutOf(set.zero, set.reset),
		Capacity: uint64(set.capacity), MaxLimbo: int64(limbo), Fixed: set.fixed,
	})
	if set.memory == 0 {
		set.memory = set.slots
	}
	r.arena.Table.Provide(uint64(set.memory))
	for k := range n {
		r.shards = append(r.shards, r.arena.Shard(k))
	}
	return r
}

// live publishes v in a slot that was handed out.
func live[T any](slot *slots.Hook, h uint64, v T) {
	*slots.ValueOf[T](slot) = v
	slot.Publish(h)
}

// take takes a slot as a pool does, or fails the test.
func (r *rig[T]) take(t testing.TB, s *shard.Shard) (*slots.Hook, uint64) {
	t.Helper()
	slot, h := r.tryTake(s)
	require.NotNil(t, slot, "the shard has no slot")
	return slot, h
}

// tryTake is take that returns nil if there is none. It does not wait for a grace period.
func (r *rig[T]) tryTake(s *shard.Shard) (*slots.Hook, uint64) {
	if slot, h := s.Fresh(); slot != nil {
		return slot, h
	}
	if s.Head() == slots.None && s.Ready()+s.Pending() > 0 {
		s.Reclaim(s)
	}
	if slot, h := s.TakeOne(); slot != nil {
		return slot, h
	}
	return s.Refill(1)
}

// parked returns an arena whose only slot is kept by a hold alone.
func parked(t testing.TB) (*rig[uint64], shard.Hold) {
	t.Helper()
	r := newRig[uint64](t, setup[uint64]{slots: 1, stampPerSlot: true})
	s := r.shards[0]
	hs := r.fill(t, s, 1, number)
	k, ok := r.arena.Hold(hs[0])
	require.True(t, ok)
	r.remove(t, s, hs...)
	r.reclaim(t, s)
	return r, k
}

// claimWait begins a call of ClaimWait, and returns a channel of its error.
func (r *rig[T]) claimWait(t testing.TB) <-chan error {
	claimed := make(chan error, 1)
	go func() {
		_, _, err := r.arena.ClaimWait(t.Context(), 0)
		claimed <- err
	}()
	return claimed
}

// fill makes n slots live with values of 1 to n.
func (r *rig[T]) fill(t testing.TB, s *shard.Shard, n int, value func(i int) T) (hs []uint64) {
	t.Helper()
	for i := range n {
		slot, h := r.take(t, s)
		live(slot, h, value(i+1))
		hs = append(hs, h)
	}
	return hs
}

func number(i int) uint64 { return uint64(i) }

// remove removes the values of hs in s.
func (r *rig[T]) remove(t testing.TB, s *shard.Shard, hs ...uint64) {
	t.Helper()
	for _, h := range hs {
		require.True(t, s.Remove(h), "Remove(%s)", text(h))
	}
}

// leave is remove by chains of one slot.
func (r *rig[T]) leave(t testing.TB, s *shard.Shard, hs ...uint64) {
	t.Helper()
	for _, h := range hs {
		c := s.Removals()
		require.True(t, c.Remove(h), "Remove(%s)", text(h))
		c.End()
	}
}

// reclaim reclaims in s until nothing waits.
func (r *rig[T]) reclaim(t testing.TB, s *shard.Shard) {
	t.Helper()
	for calls := 0; s.Pending() > 0; calls++ {
		require.Less(t, calls, 1000, "%d slots still wait", s.Pending())
		s.Reclaim(s)
	}
}

// word returns slot i's word.
func (r *rig[T]) word(i uint32) uint64 { return r.arena.Slot(i).Word.Load() }

// setEpoch sets the epoch, which is the first field of a Domain.
func (r *rig[T]) setEpoch(e uint64) { (*atomic.Uint64)(unsafe.Pointer(r.arena.Domain)).Store(e) }

// advance moves the epoch on, as a guard of another goroutine does after a removal.
func (r *rig[T]) advance() {
	r.arena.Domain.Stamp()
	g := r.arena.Domain.PinTransient()
	g.Unpin()
}

// requireNoSelfLink requires that no slot that is not live matches a handle of its own (I4).
func (r *rig[T]) requireNoSelfLink(t testing.TB) {
	t.Helper()
	for i := range r.arena.Table.Pages().Limit {
		w := r.word(i)
		require.False(t, !slots.IsLive(w) && slots.Low(w) == i, "slot %d: vacant word %s", i, text(w))
	}
}

// text formats a word like a handle.
func text(h uint64) string { return fmt.Sprintf("%d@%d", slots.Low(h), slots.Generation(h)) }

// lows returns the slots of hs.
func lows(hs []uint64) []uint32 {
	is := make([]uint32, len(hs))
	for i, h := range hs {
		is[i] = slots.Low(h)
	}
	return is
}

// drain pops all that s has in its freelist and range, and returns the slots in that order.
func drain(s *shard.Shard) (total []uint32) {
	for slot, h := s.TakeOne(); slot != nil; slot, h = s.TakeOne() {
		total = append(total, slots.Low(h))
	}
	return total
}

// requireFinished requires that nothing waits to be reclaimed.
func requireFinished(t *testing.T, s *shard.Shard) {
	t.Helper()
	require.True(t, s.Goal().Reached(), "the goal should be reached")
	require.Zero(t, s.Pending())
}
