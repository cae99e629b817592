//go:build !race

package shard_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
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

// drawn returns an arena in which calls were drawn by a seed. It adds to resets.
func drawn(t *testing.T, seed uint64, resets *int) *replayed {
	rnd := rand.New(rand.NewPCG(seed, 0))
	set := setup[uint64]{slots: []int{40, 200}[seed/16%2], memory: 8, replays: true, stampPerSlot: seed%2 == 0, fifo: seed/2%2 == 0}
	if seed/4%2 == 0 {
		set.reset = func(*uint64) { *resets++ }
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
	return y
}

// copied returns an arena that has y's slots, and what restores its order. Some pages without memory get some, as those
// do that are given up while the snapshot is written.
func (y *replayed) copied(t *testing.T) (*shard.Arena, *shard.Restorer) {
	c, from := new(shard.Arena), &y.arena
	config := from.Config
	config.Domain = epoch.New()
	c.Init(config)
	r := shard.NewRestorer(c)
	r.Earn(1 << 30)
	total := from.Table.Allocated()
	for first := uint64(0); first < total; {
		n := min(uint64(from.Table.Pages().Beside(uint32(first), slots.None)), total-first)
		if floor, gone := from.Table.Pages().Floor(uint32(first)); gone && y.rnd.IntN(2) == 0 {
			require.True(t, r.Vacant(first, first+n, floor))
		} else {
			stages := make([]uint32, n)
			for i := range stages {
				stages[i] = from.Table.SlotStage(uint32(first) + uint32(i))
			}
			require.True(t, r.Occupy(first, first+n))
			r.RestoreSlots(uint32(first), stages)
		}
		first += n
	}
	return c, r
}

// restored is copied, with the order.
func (y *replayed) restored(t *testing.T) *shard.Arena {
	c, r := y.copied(t)
	census, ok := r.RestoreOrder(y.arena.Order())
	require.True(t, ok, "the order should be accepted")
	require.EqualValues(t, y.arena.Count().Live, census.Live)
	return c
}

// TestCopyHasTheOrderOfItsOriginal: whatever waits, and wherever, a copy has all of it in the same lists, by stamps in the
// same order. Then both issue the same handles. No Reset is called for a value that is not in the copy.
func TestCopyHasTheOrderOfItsOriginal(t *testing.T) {
	for seed := range uint64(160) {
		resets := 0
		y := drawn(t, seed, &resets)
		c, other := y.restored(t), y.restored(t)
		require.Equal(t, shard.Ranked(y.arena.Order()), shard.Ranked(c.Order()), "seed %d", seed)
		want, got := y.arena.Count(), c.Count()
		require.Equal(t, []int{want.Live, want.Free, want.Limbo, want.Exhausted, want.Allocated},
			[]int{got.Live, got.Free, got.Limbo, got.Exhausted, got.Allocated}, "seed %d", seed)
		spent, waiting := y.arena.Table.Spent()
		spentThere, waitingThere := c.Table.Spent()
		require.Equal(t, []int64{spent, waiting}, []int64{spentThere, waitingThere}, "seed %d", seed)

		resets = 0
		require.NoError(t, other.Synchronize(t.Context()))
		require.Zero(t, other.Count().Limbo, "seed %d: no guard is pinned", seed)
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

// TestListThatChangesHasNoOrder: where a slot of a list turns out to be live, an insertion has taken it meanwhile. Nor is it
// counted as vacant. Where slots go round meanwhile, a list has no end, and no more are vacant than there are.
func TestListThatChangesHasNoOrder(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 8, replays: true})
	s := r.shards[0]
	r.remove(t, s, r.fill(t, s, 8, number)...)
	r.reclaim(t, s)
	order, listed := s.Order()
	require.Equal(t, 8, listed)
	require.NotNil(t, r.arena.Order())
	for k, i := range order {
		before := r.word(i)
		r.arena.Slot(i).Publish(slots.Pack(slots.Generation(before)+1, i))
		require.Nil(t, r.arena.Order(), "slot %d", i)
		require.Equal(t, k, s.Free())
		r.arena.Slot(i).Publish(slots.Pack(slots.Generation(before), order[0]))
		require.Nil(t, r.arena.Order(), "slot %d", i)
		require.Equal(t, 8, r.arena.Count().Free)
		r.arena.Slot(i).Publish(slots.Pack(slots.Generation(before), r.arena.Table.Pages().Limit)) // of a page that came since
		require.Nil(t, r.arena.Order(), "slot %d", i)
		r.arena.Slot(i).Publish(before)
	}
}

// TestForgedOrders: an order that was forged is refused, and nothing is done, or the copy hands out each slot once.
func TestForgedOrders(t *testing.T) {
	rnd, accepted := testkit.Rand(t), 0
	for range testkit.Long(60) {
		y := drawn(t, rnd.Uint64N(1<<20), new(int))
		order := y.arena.Order()
		c, r := y.copied(t)
		for range 100 {
			forged := y.forged(order)
			if _, ok := r.RestoreOrder(forged); !ok {
				continue
			}
			accepted++
			seen, stages := map[uint32]bool{}, make([]uint32, c.Table.Allocated())
			for i := range stages {
				stages[i] = y.arena.Table.SlotStage(uint32(i))
				if stages[i]%2 == 1 {
					seen[uint32(i)] = true
				}
			}
			for {
				slot, h, err := c.Shard(0).Claim()
				if err != nil {
					break
				}
				i := slots.Low(h)
				require.False(t, seen[i], "%s, by %v", text(h), forged)
				require.True(t, int(i) >= len(stages) || stages[i] < c.Table.Origins().Stage(i, slots.Generation(h)), "%s, by %v", text(h), forged)
				seen[i] = true
				live(slot, h, 1)
			}
			spent, _ := c.Table.Spent()
			require.EqualValues(t, c.Slots, len(seen)+int(spent), "%v", forged)
			c, r = y.copied(t)
		}
		_, ok := r.RestoreOrder(order)
		require.True(t, ok)
		require.Equal(t, shard.Ranked(order), shard.Ranked(c.Order()))
	}
	require.Positive(t, accepted)
}

// TestForgedOrdersAreRefused, whatever is wrong, and nothing has changed then.
func TestForgedOrdersAreRefused(t *testing.T) {
	const total = 24
	for seed := range uint64(8) { // by which a page has memory in the copy or not
		set := setup[uint64]{slots: total, replays: true, stampPerSlot: true}
		y := &replayed{rig: newRig(t, set), rnd: rand.New(rand.NewPCG(seed, 0))}
		s := y.shards[0]
		hs := y.fill(t, s, total, number)
		hs[1] = slots.Pack(slots.LastGeneration, slots.Low(hs[1]))
		y.arena.Slot(slots.Low(hs[1])).Publish(hs[1])
		y.remove(t, s, hs[1])
		y.reclaim(t, s)
		require.EqualValues(t, 1, y.arena.Exhausted())
		y.remove(t, s, hs[16:]...) // two pages, up to the end
		y.reclaim(t, s)
		require.Positive(t, y.arena.Trim())
		y.remove(t, s, hs[4:6]...)
		y.reclaim(t, s)
		c, r := y.copied(t)
		order := y.arena.Order()
		for name, forged := range shard.ForgedOrders(&y.arena, order, slots.Low(hs[0]), slots.Low(hs[1])) {
			_, ok := r.RestoreOrder(forged)
			require.False(t, ok, "%s, seed %d", name, seed)
		}
		for n := range order {
			_, ok := r.RestoreOrder(order[:n])
			require.False(t, ok, "cut to %d bytes, seed %d", n, seed)
		}
		_, ok := r.RestoreOrder(order)
		require.True(t, ok)
		require.Equal(t, shard.Ranked(order), shard.Ranked(c.Order()))
	}
}

// forged changes a number of an order or two, to one that may be another's, or that is none; or it puts another slot into a
// list, or leaves the end out.
func (y *replayed) forged(order []byte) []byte {
	rnd := y.rnd
	if rnd.IntN(20) == 0 {
		return order[:rnd.IntN(len(order))]
	}
	var numbers []uint64
	for b := order; len(b) > 0; {
		n, k := binary.Uvarint(b)
		numbers, b = append(numbers, n), b[k:]
	}
	for range 1 + rnd.IntN(2) {
		k := rnd.IntN(len(numbers) - 1)
		if rnd.IntN(2) == 0 {
			k = rnd.IntN(24) // the others are mostly slots of lists
		}
		switch rnd.IntN(5) {
		case 0:
			numbers[k] = rnd.Uint64N(200)
		case 1:
			numbers[k] = numbers[rnd.IntN(len(numbers))]
		case 2:
			numbers[k] += rnd.Uint64N(3) - 1
		case 3:
			numbers[k] = 1 << rnd.IntN(64)
		case 4:
			i := rnd.Uint32N(uint32(y.arena.Table.Allocated()))
			numbers[k], numbers[k+1] = uint64(i), uint64(y.arena.Table.GenerationOf(i, y.word(i)))
		}
	}
	forged := []byte{}
	for _, n := range numbers {
		forged = binary.AppendUvarint(forged, n)
	}
	return forged
}

// TestOrdersAreReadAsEver: the numbers of an order have their places in the file. To change two of them, in what writes
// and reads, would harm earlier files alone.
func TestOrdersAreReadAsEver(t *testing.T) {
	want := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 11, 1, 12, 1, 13, 1, 14}
	for n := byte(15); n < 15+3*4; n += 4 { // free, limbo, late
		want = append(want, n, 1, n+1, n+2, n+3)
	}
	want = append(want, 1, 27, 1, 28, 29, 30)                 // ready
	want = append(want, 1, 31, 32, 33, 34, 35, 1, 36, 37, 38) // waiting
	want = append(want, 39, 40, 41, 42, 43)                   // account
	require.Equal(t, want, shard.OrderInFile())
}
