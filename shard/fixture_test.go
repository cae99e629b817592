package shard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/shard"
)

// rig is what a pool gives its shards: a space of slots, and shards in it.
type rig[T any] struct {
	space  shard.Space[T]
	shards []*shard.Shard[T]
}

// setup is how a rig differs from the usual one: stacks, pages of 2 slots,
// generations from 1.
type setup[T any] struct {
	slots   int  // that have memory from the start, and the most there may be
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
	r.space.Table.Provide(uint64(set.slots))
	for i := range max(set.shards, 1) {
		s := new(shard.Shard[T])
		require.True(t, s.Init(&r.space, i, set.reserve), "shard %d", i)
		r.shards = append(r.shards, s)
	}
	return r
}

// live publishes v in a slot that was handed out.
func live[T any](slot *shard.Slot[T], h uint64, v T) {
	slot.Value = v
	slot.Word.Store(h)
}
