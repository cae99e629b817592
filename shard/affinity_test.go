package shard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/shard"
)

// TestSlotsGoHome: slots that one goroutine inserts and another removes come back to the
// first, which takes no slot from the other, and no new memory.
func TestSlotsGoHome(t *testing.T) {
	for _, zero := range []bool{false, true} { // a batch is spliced, or each slot is visited
		r := newRig[uint64](t, setup[uint64]{slots: 16 * shard.Batch, shards: 3, zero: zero})
		inserts, removes := r.shards[0], r.shards[1]
		for range 20 {
			var hs []uint64
			for range shard.Batch {
				slot, h, err := inserts.Claim()
				require.NoError(t, err)
				live(slot, h, 1)
				hs = append(hs, h)
			}
			r.remove(t, removes, hs...)
			require.Equal(t, shard.Batch, inserts.Free())
			require.Zero(t, removes.Free())
		}
	}
}

// TestMixedBatchIsSorted: of a batch with slots of two homes, those with the home of the first
// slot go there, and the others stay.
func TestMixedBatchIsSorted(t *testing.T) {
	for _, zero := range []bool{false, true} {
		r := newRig[uint64](t, setup[uint64]{slots: 16 * shard.Batch, shards: 2, zero: zero})
		mine, others := r.shards[0], r.shards[1]
		var hs []uint64
		for i := range shard.Batch {
			for _, s := range []*shard.Shard[uint64]{mine, others} { // the last is first in limbo
				slot, h, err := s.Claim()
				require.NoError(t, err)
				live(slot, h, 1)
				if i%2 == 0 {
					hs = append(hs, h)
				}
			}
		}
		r.remove(t, mine, hs...)
		require.Equal(t, shard.Batch/2, mine.Free())
		require.Equal(t, shard.Batch/2, others.Free())
	}
}

// TestGoroutineMovesAwayFromOthers: a goroutine that contends at its own shard moves, each
// time after twice as many failures. Contention at other shards does not move it.
func TestGoroutineMovesAwayFromOthers(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: shard.Batch, shards: 64})
	moves, at := 0, r.arena.Local()
	for n := range 64 * shard.Patience {
		for _, s := range r.shards {
			if s != at {
				s.Contend()
			}
		}
		require.Same(t, at, r.arena.Local())
		at.Contend()
		if s := r.arena.Local(); s != at {
			require.GreaterOrEqual(t, n+1, shard.Patience<<moves)
			moves, at = moves+1, s
		}
	}
	require.GreaterOrEqual(t, moves, 4) // of seven, since there and back is by chance
}

// TestQueuesKeepWhatIsRemoved: a shard has an order of reuse of its own, so slots of a queue
// stay.
func TestQueuesKeepWhatIsRemoved(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 16 * shard.Batch, shards: 2, fifo: true})
	hs := r.fill(t, r.shards[0], shard.Batch, number)
	r.remove(t, r.shards[1], hs...)
	r.reclaim(t, r.shards[1])
	require.Equal(t, shard.Batch+1, r.shards[1].Free()) // and the dummy
}

// TestShardGoesAheadOnce: a shard takes new memory before it takes others' slots, up to a
// bound, and becomes the home of others' slots that it takes.
func TestShardGoesAheadOnce(t *testing.T) {
	const others = 2 * shard.Ahead
	r := newRig[uint64](t, setup[uint64]{slots: 2 * others, memory: others, shards: 3})
	a, b, c := r.shards[0], r.shards[1], r.shards[2]
	r.remove(t, b, r.fill(t, b, others, number)...)
	r.reclaim(t, b)
	require.Zero(t, r.arena.Table.Unused())

	var hs []uint64
	for range others {
		slot, h, err := a.Claim()
		require.NoError(t, err)
		live(slot, h, 1)
		hs = append(hs, h)
	}
	assert.Equal(t, others+shard.Ahead, r.arena.Table.Resident())

	r.remove(t, c, hs...)
	r.reclaim(t, c)
	require.Equal(t, others, a.Free())
	require.Zero(t, c.Free())
}

// TestSlotsWithoutAHomeStay: slots whose page has no home yet stay in the shard that removes
// them.
func TestSlotsWithoutAHomeStay(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 4 * shard.Batch, shards: 2})
	lo, hi := r.arena.Table.Allot(shard.Batch)
	var hs []uint64
	for i := lo; i < hi; i++ {
		h := shard.Pack(1, i)
		live(r.arena.Slot(i), h, 1)
		hs = append(hs, h)
	}
	r.remove(t, r.shards[1], hs...)
	require.Equal(t, shard.Batch, r.shards[1].Free())
}

// TestFullTableIsLeftAlone: a shard without slots asks for no memory when there can be no
// more. It would wait for the table's lock, which the test holds.
func TestFullTableIsLeftAlone(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 4 * shard.Batch, shards: 2})
	a, b := r.shards[0], r.shards[1]
	r.remove(t, b, r.fill(t, b, int(r.arena.Table.Left()), number)...)
	r.reclaim(t, b)
	r.arena.Table.Lock()
	defer r.arena.Table.Unlock()
	claimed := make(chan *shard.Slot[uint64])
	go func() {
		slot, _, _ := a.Claim()
		claimed <- slot
	}()
	select {
	case slot := <-claimed:
		require.NotNil(t, slot)
	case <-time.After(20 * time.Second):
		t.Fatal("an insertion waits for the table")
	}
}
