package shard_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
	"coatcheck/internal/hint"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// TestSlotsGoHome: slots that one goroutine inserts and another removes come back to the
// first, where they are reclaimed for no insertion.
func TestSlotsGoHome(t *testing.T) {
	for _, zero := range []bool{false, true} { // a batch is spliced, or each slot is visited
		r := newRig[uint64](t, setup[uint64]{slots: 16 * slots.Batch, shards: 3, zero: zero})
		for range 20 {
			r.remove(t, r.shards[1], r.claim(t, r.shards[0], slots.Batch)...)
			r.shards[1].Reclaim(nil)
			require.Equal(t, slots.Batch, r.shards[0].Free())
			require.Zero(t, r.shards[1].Free())
		}
	}
}

// claim makes n slots live that s claims.
func (r *rig[T]) claim(t *testing.T, s *shard.Shard, n int) (hs []uint64) {
	for range n {
		slot, h, err := s.Claim()
		require.NoError(t, err)
		live(slot, h, *new(T))
		hs = append(hs, h)
	}
	return hs
}

// TestHomeOfTheFirstDecides: of slots with two homes, those with the home of the first one go
// there, also after a guard, and the others stay. So do slots without a home, and all slots of
// queues, each of which has an order of reuse of its own.
func TestHomeOfTheFirstDecides(t *testing.T) {
	const n = slots.Batch
	for _, c := range []struct {
		setup[uint64]
		homeless, guard bool
		home            int // how many go to the other shard
	}{
		{home: n / 2},
		{home: n / 2, guard: true},
		{home: n / 2, setup: setup[uint64]{zero: true}},
		{home: 0, setup: setup[uint64]{fifo: true}},
		{home: 0, homeless: true},
	} {
		c.slots, c.shards = 16*n, 2
		r := newRig(t, c.setup)
		mine, others := r.shards[0], r.shards[1]
		var hs []uint64
		if c.homeless {
			for i, end := r.arena.Table.Allot(n); i < end; i++ {
				hs = append(hs, slots.Pack(1, i))
				live(r.arena.Slot(i), hs[len(hs)-1], 1)
			}
		}
		for len(hs) < n { // the last one is the first in limbo
			a, b := r.claim(t, mine, 1), r.claim(t, others, 1)
			hs = append(hs, a[0], b[0])
		}
		// What else the two shards took ahead.
		mineHas, othersHave := mine.Free(), others.Free()
		g := r.arena.Domain.Pin()
		if !c.guard {
			g.Unpin()
		}
		r.remove(t, mine, hs...)
		if c.guard {
			mine.Reclaim(nil)
			g.Unpin()
		}
		mine.Reclaim(nil)
		require.Equal(t, c.home, others.Free()-othersHave, "%+v", c)
		require.Equal(t, n-c.home, mine.Free()-mineHas, "%+v", c)
	}
}

// TestGoroutineMovesAwayFromOthers: a goroutine that contends at its own shard moves, and each
// shard sends it away after twice as many failures as the time before. Contention at other shards
// does not move it.
func TestGoroutineMovesAwayFromOthers(t *testing.T) {
	testkit.Within(t, func() {
		for !movesAway(t) { // the stack has moved, and with it the hint
		}
	})
}

func movesAway(t *testing.T) bool {
	h := hint.Goroutine()
	r := newRig[uint64](t, setup[uint64]{slots: slots.Batch, shards: 64})
	moves, at := 0, r.arena.Local(hint.Goroutine())
	misses, wanted := map[*shard.Shard]int{}, map[*shard.Shard]int{}
	for range 64 * shard.Patience {
		for _, s := range r.shards {
			// The goroutine may have come from a frame in the block of stack above this one.
			if s != at && s != r.arena.Local(h+hint.Spread) {
				s.Contend()
			}
		}
		s := r.arena.Local(hint.Goroutine())
		if hint.Goroutine() != h {
			return false
		}
		require.True(t, s == at, "contention at other shards")
		at.Contend()
		misses[at]++
		if s := r.arena.Local(hint.Goroutine()); s != at && hint.Goroutine() == h {
			require.Equal(t, max(shard.Patience, 2*wanted[at]), misses[at])
			wanted[at] = misses[at]
			moves, at = moves+1, s
		}
	}
	require.GreaterOrEqual(t, moves, 8)
	return true
}

// TestShardsAreMadeWhereGoroutinesMeet: an arena begins with one shard. A goroutine that meets
// another moves to a new one, and the others stay as long as their hints can be told apart.
func TestShardsAreMadeWhereGoroutinesMeet(t *testing.T) {
	for {
		h := hint.Goroutine()
		r := newRig[uint64](t, setup[uint64]{slots: 64 * slots.Batch, most: 4})
		first := r.shards[0]
		for range shard.Patience - 1 {
			first.Contend()
		}
		require.Equal(t, 1, r.arena.Made())
		first.Contend()
		if hint.Goroutine() != h {
			continue // the stack has moved
		}
		require.Equal(t, 2, r.arena.Made())
		second := r.arena.Shard(1)
		require.True(t, second == r.arena.Local(h), "the second shard should be local")
		require.True(t, first == r.arena.Local(h^1<<20), "a hint with another lowest bit")
		require.True(t, second == r.arena.Local(h^1<<21), "one with the same")

		// Those that moved together part.
		for range shard.Patience {
			second.Contend()
		}
		require.True(t, r.arena.Shard(2) == r.arena.Local(h), "the third shard should be local")
		require.True(t, second == r.arena.Local(h^1<<21), "the second shard should be local")
		require.True(t, first == r.arena.Local(h^1<<20), "the first shard should be local")
		require.True(t, first == r.arena.Local(h^3<<20), "the first shard should be local")

		for r.arena.Made() < 4 {
			r.arena.Local(h).Contend()
		}
		for range 100 * shard.Patience {
			r.arena.Local(h).Contend()
		}
		require.Equal(t, 4, r.arena.Made(), "no more than there may be")
		require.LessOrEqual(t, r.arena.Buckets(), 1<<12)
		if hint.Goroutine() == h {
			return
		}
	}
}

// TestGoroutinesPart: other goroutines come a hundred times, and four in five have a shard for
// themselves. Two that use one shard meet now and then. In a deal of 16 to 64 shards at random, 79 in
// 100 are alone.
func TestGoroutinesPart(t *testing.T) {
	const running, most = 16, 64
	r := newRig[uint64](t, setup[uint64]{slots: 64 * slots.Batch, most: most})
	random := rand.New(rand.NewPCG(1, 2))
	alone := 0
	for range 100 {
		var hints [running]uint32
		for i := range hints {
			hints[i] = uint32(random.Uint32()>>11) * hint.Spread // as of a frame
		}
		for range 200 * running {
			if a, b := hints[random.IntN(running)], hints[random.IntN(running)]; a != b && r.arena.Local(a) == r.arena.Local(b) {
				r.arena.Local(a).Met(a)
			}
		}
		own := map[*shard.Shard]int{}
		for _, h := range hints {
			own[r.arena.Local(h)]++
		}
		for _, n := range own {
			if n == 1 {
				alone++
			}
		}
	}
	require.Equal(t, most, r.arena.Made())
	require.Greater(t, alone, 100*running*80/100)
}

// TestMovesOfFixedArenasAllocateNothing: where all memory is allocated from the start, goroutines that
// meet move all the same, and make neither shards nor buckets. Those of the last bucket stay.
func TestMovesOfFixedArenasAllocateNothing(t *testing.T) {
	var arenas [2]shard.Arena
	buckets, k, moves := 0, 0, 0
	meet := func() {
		a := &arenas[k]
		k, moves = k+1, 0
		s := a.Shard(0)
		for i := range uint32(buckets / 4) { // those that lead to s
			s.SetMisses(shard.Patience - 1)
			if s.Met(i << 20); a.Local(i<<20) != s {
				moves++
			}
		}
	}
	testkit.Allocates(t, 0, 1, func() func() {
		arenas, k = [2]shard.Arena{}, 0
		for k := range arenas {
			arenas[k].Init(shard.Config{
				Domain: epoch.New(), Slots: 64, Capacity: 64, Pages: tinyPages, Shards: 4, AllShards: true, Fixed: true,
				Origin: 1, Layout: slots.LayoutOf[uint64](false, nil),
			})
		}
		buckets = arenas[1].Buckets()
		return meet
	})
	require.Equal(t, buckets/4-1, moves)
	require.Equal(t, buckets, arenas[1].Buckets())
}

// TestShardsHaveEqualParts of the buckets, which are no more than hints can tell apart. Where there may be one shard,
// goroutines that meet make none.
func TestShardsHaveEqualParts(t *testing.T) {
	for _, c := range []struct{ shards, buckets int }{{1, 1}, {2, 8}, {3, 16}, {4, 16}, {64, 256}, {2000, 1 << 12}} {
		r := newRig[uint64](t, setup[uint64]{slots: 1, shards: c.shards})
		require.Equal(t, c.buckets, r.arena.Buckets(), "%d shards", c.shards)
		parts := map[*shard.Shard]int{}
		for i := range uint32(c.buckets) {
			parts[r.arena.Local(i<<20)]++
		}
		require.Len(t, parts, c.shards)
		for _, n := range parts {
			require.InDelta(t, float64(c.buckets)/float64(c.shards), n, 1)
		}
		if c.shards == 1 {
			r.shards[0].SetMisses(shard.Patience - 1)
			r.shards[0].Met(0)
			require.Equal(t, 1, r.arena.Buckets())
		}
	}
}

// TestFirstInsertionsMeetToo: goroutines meet also where no slot was ever in a freelist.
func TestFirstInsertionsMeetToo(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 64 * slots.Batch, most: 4})
	r.shards[0].Lock() // another goroutine makes a range
	defer r.shards[0].Unlock()
	for range 2 * shard.Patience { // the goroutine's stack may move
		_, err := shard.Insert(&r.arena, hint.Frame(), 1)
		require.NoError(t, err)
	}
	require.Greater(t, r.arena.Made(), 1)
}

// TestMagazinesHaveShardsOfTheirOwn: there are as many shards as open magazines, if there may be,
// and no more.
func TestMagazinesHaveShardsOfTheirOwn(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 64 * slots.Batch, most: 4})
	for range 10 {
		r.arena.NewMagazine().Close(shard.Caller)
	}
	require.Equal(t, 1, r.arena.Made(), "one at a time")
	seen := map[*shard.Shard]int{}
	for range 8 {
		seen[r.arena.NewMagazine().Shard()]++
	}
	require.Equal(t, 4, r.arena.Made())
	require.Len(t, seen, 4)
}

// TestManyMagazinesMayHaveBeenOpen: more than an int can count on 32 bits.
func TestManyMagazinesMayHaveBeenOpen(t *testing.T) {
	for _, before := range []uint32{1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 1} {
		r := newRig[uint64](t, setup[uint64]{slots: 64 * slots.Batch, shards: 3})
		r.arena.SetDealt(before)
		for range 3 {
			require.NotNil(t, r.arena.NewMagazine().Shard())
		}
	}
}

// TestMagazinesHaveShardsOfTheirOwnAfterOthers: however many were open before.
func TestMagazinesHaveShardsOfTheirOwnAfterOthers(t *testing.T) {
	const most = 4
	for _, before := range []uint32{0, 1, 2, 3, 1<<32 - 2} {
		r := newRig[uint64](t, setup[uint64]{slots: 64 * slots.Batch, most: most})
		r.arena.SetDealt(before)
		seen := map[*shard.Shard]int{}
		for n := 1; n <= most; n++ {
			seen[r.arena.NewMagazine().Shard()]++
			require.Equal(t, n, r.arena.Made())
			require.Len(t, seen, n, "%d before", before)
		}
		for range 2 * most {
			seen[r.arena.NewMagazine().Shard()]++
		}
		for _, n := range seen {
			require.Equal(t, 3, n, "they are dealt in turn")
		}
	}
}

// TestEveryDepthHasOneShard: wherever on the stack a goroutine inserts, it finds the slots that
// it has removed. It catches a slow half with a hint of its own.
func TestEveryDepthHasOneShard(t *testing.T) {
	var from func(depth int)
	from = func(depth int) {
		r := newRig[uint64](t, setup[uint64]{slots: 64 * slots.Batch, shards: 64})
		frame := hint.Frame()
		for range 2*slots.Batch + 1 {
			h, err := shard.Insert(&r.arena, frame, 1)
			require.NoError(t, err)
			require.True(t, r.arena.Remove(frame, h), "the value should be live")
		}
		require.Positive(t, r.arena.Local(hint.Of(frame)).Free(), "depth %d", depth)
		if depth > 0 {
			from(depth - 1)
		}
	}
	from(200)
}

// TestShardGoesAheadOnce: a shard takes memory that belongs to none before it takes others' slots, up to
// a bound, and becomes the home of others' slots that it takes.
func TestShardGoesAheadOnce(t *testing.T) {
	const others = 2 * shard.Ahead
	r := newRig[uint64](t, setup[uint64]{slots: 2 * others, shards: 3, zero: true}) // no slot waits for an empty freelist
	a, b, c := r.shards[0], r.shards[1], r.shards[2]
	r.remove(t, b, r.fill(t, b, others, number)...)
	r.reclaim(t, b)
	require.EqualValues(t, others, r.arena.Table.Unused())

	hs := r.claim(t, a, others)
	assert.EqualValues(t, others-shard.Ahead, r.arena.Table.Unused())

	r.remove(t, c, hs...)
	for c.Reclaim(nil) {
	}
	require.Equal(t, others, a.Free())
	require.Zero(t, c.Free())
}

// TestFullTableIsLeftAlone: a shard without slots asks for no memory when there can be no
// more. It would wait for the table's lock, which the test holds.
func TestFullTableIsLeftAlone(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 4 * slots.Batch, shards: 2})
	a, b := r.shards[0], r.shards[1]
	r.remove(t, b, r.fill(t, b, int(r.arena.Table.Left()), number)...)
	r.reclaim(t, b)
	r.arena.Table.Lock()
	defer r.arena.Table.Unlock()
	claimed := make(chan *slots.Hook, 1)
	go func() {
		slot, _, _ := a.Claim()
		claimed <- slot
	}()
	require.NotNil(t, testkit.Soon(t, claimed))
}

// TestGrowCountsShardsToCome: a shard that is made after Grow has slots ahead too, and the next
// insertions still need no more memory.
func TestGrowCountsShardsToCome(t *testing.T) {
	const n, most = 2 * slots.Batch, 8
	r := newRig[uint64](t, setup[uint64]{slots: 64 * slots.Batch, memory: 1, most: most})
	r.arena.Grow(n)
	before := r.arena.Table.Resident()
	for k := range uint32(most) {
		for r.arena.Made() <= int(k) {
			s := r.arena.Shard(0)
			for h := range uint32(1 << 12) {
				if r.arena.Local(h<<20) == s {
					s.Met(h << 20)
				}
			}
		}
		r.claim(t, r.arena.Shard(int(k)), n/most)
	}
	require.Equal(t, before, r.arena.Table.Resident())
}
