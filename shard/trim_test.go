package shard_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// TestTrimKeepsTheOrderOfQueues trims shards with mixed lists. Some slots live, some wait and
// some are owned, so some pages go, some are not wanted, and some wanted ones stay. Each queue keeps the
// rest of its slots in their order, whether they are on the list or ready. Those of stacks are in
// the order of the table, each unit in one list, and no list has many more than it had.
func TestTrimKeepsTheOrderOfQueues(t *testing.T) {
	const total = 120
	for _, fifo := range []bool{false, true} {
		for _, shards := range []int{1, 3} {
			for seed := range testkit.LongAlone(uint64(400)) {
				rnd := rand.New(rand.NewPCG(seed, uint64(shards)))
				what := fmt.Sprintf("fifo %v, %d shards, seed %d", fifo, shards, seed)
				pages := tinyPages
				if seed%2 == 1 {
					pages = slots.PageSizes{Unit: 1, Page: 3, Most: 4}
				}
				r := newRig[uint64](t, setup[uint64]{slots: total, shards: shards, fifo: fifo, pages: pages})
				all := r.shards
				var hs, owned []uint64
				for {
					slot, h := r.tryTake(all[rnd.IntN(shards)])
					for k := 0; slot == nil && k < shards; k++ {
						slot, h = r.tryTake(all[k])
					}
					if slot == nil {
						break
					}
					live(slot, h, 1)
					hs = append(hs, h)
				}
				rnd.Shuffle(len(hs), func(i, j int) { hs[i], hs[j] = hs[j], hs[i] })
				lives, waits := rnd.IntN(4), rnd.IntN(4)
				for i, h := range hs[lives+waits:] {
					r.remove(t, all[rnd.IntN(shards)], h)
					if i%40 == 20 { // what comes later is ready, or goes on top
						r.reclaim(t, all[rnd.IntN(shards)])
					}
				}
				for _, s := range all {
					r.reclaim(t, s)
				}
				g := r.arena.Domain.Pin()
				for _, h := range hs[lives : lives+waits] {
					r.remove(t, all[rnd.IntN(shards)], h)
				}
				for range rnd.IntN(8) {
					if slot, h := r.tryTake(all[rnd.IntN(shards)]); slot != nil {
						owned = append(owned, h) // vacant, and in no list
					}
				}
				before := make([][]uint32, shards)
				generation := map[uint32]uint32{} // of those in lists
				for k, s := range all {
					before[k], _ = s.Order()
					for _, i := range before[k] {
						generation[i] = slots.Generation(r.word(i))
					}
				}
				freed := r.arena.TrimAll()
				require.EqualValues(t, len(hs), r.arena.Count().Inserted, what) // the first look: no later one tells less
				gone := func(i uint32) bool { _, gone := r.arena.Table.Pages().Floor(i); return gone }
				require.Equal(t, freed > 0, slices.ContainsFunc(slices.Concat(before...), gone), what)
				orders := make([][]uint32, shards)
				for k, s := range all {
					orders[k], _ = s.Order()
				}
				moved := freed > 0
				if fifo {
					for k := range all {
						require.Equal(t, slices.DeleteFunc(before[k], gone), append([]uint32{}, orders[k]...), what) // not nil
					}
				} else {
					stays := slices.DeleteFunc(slices.Concat(before...), gone)
					moved = moved || len(stays) > 0 && slots.Generation(r.word(stays[0])) != generation[stays[0]]
					if moved {
						inOrderOfTheTable(t, orders, before, r.arena.Table.Pages().Mask+1, what)
					}
					require.ElementsMatch(t, stays, slices.Concat(orders...), what)
				}
				for i, g := range generation { // an insertion may have seen any of them on its list before (I5)
					require.True(t, !moved || gone(i) || slots.Generation(r.word(i)) == g+2, "slot %d, %s", i, what)
				}
				for _, h := range append(owned, hs[:lives+waits]...) {
					require.False(t, gone(slots.Low(h)), what)
				}
				g.Unpin()
			}
		}
	}
}

// inOrderOfTheTable requires that lists have units one after the other, each whole, and that each has less
// than a unit more than before.
func inOrderOfTheTable(t *testing.T, lists, before [][]uint32, unit uint32, what string) {
	t.Helper()
	in := map[uint32]int{} // which list has a unit
	for k, list := range lists {
		require.Less(t, len(list), len(before[k])+int(unit), what)
		for j, i := range list {
			if other, known := in[i/unit]; known {
				require.Equal(t, k, other, what)
			}
			in[i/unit] = k
			require.True(t, j == 0 || list[j-1]/unit <= i/unit, what)
		}
	}
}

// TestTrimDealsPagesInTurns: the units of the first pages go to all shards, one after the other. A shard that gets none of
// them would go on in later pages.
func TestTrimDealsPagesInTurns(t *testing.T) {
	const total, first = 64, 10 // units of 2 slots
	r := newRig[uint64](t, setup[uint64]{slots: total, shards: 2, pages: slots.PageSizes{Unit: 1, Page: 3, Most: 3}})
	hs := r.fill(t, r.shards[0], total, number)
	for k, s := range r.shards {
		for _, h := range hs[k*total/2 : (k+1)*total/2] {
			if i := slots.Low(h); i%8 != 1 && i != 2 && i != 4 { // no page goes
				r.remove(t, s, h)
			}
		}
		r.reclaim(t, s)
	}
	before, gets := r.arena.Table.Bytes(), map[uint32]*shard.Shard{} // by unit
	require.Zero(t, r.arena.TrimAll())
	require.Equal(t, before, r.arena.Table.Bytes())
	for k, s := range r.shards {
		order, _ := s.Order()
		for _, i := range order {
			if gets[i/2] = s; i < 2*first {
				require.EqualValues(t, k, i/2%2, "slot %d", i)
			}
		}
	}
	for m := range r.arena.Table.Pages().Pages {
		if s := gets[(m.FirstSlot+m.N-1)/2]; s != nil {
			require.True(t, s == r.shards[0].Home(m.FirstSlot), "slot %d", m.FirstSlot)
		}
	}
}

// TestNoShardIsMadeDuringTrim: a new shard could send slots home to a list that Trim has found empty, and that it fills.
func TestNoShardIsMadeDuringTrim(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 64, most: 4})
	s := r.shards[0]
	r.remove(t, s, r.fill(t, s, 64, number)...)
	r.reclaim(t, s)
	meet := func() {
		for range 2 * shard.Patience {
			s.Met(0)
		}
	}
	require.Positive(t, r.arena.TrimWithin(func() {
		meet()
		require.Equal(t, 1, r.arena.Made())
	}))
	meet()
	require.Equal(t, 2, r.arena.Made())
}

// TestTrimKeepsWhatWasAddedSince: while Trim waits for the locks, others add pages, use them, and remove
// what they inserted. None of these slots is lost.
func TestTrimKeepsWhatWasAddedSince(t *testing.T) {
	const total = 64
	for _, fifo := range []bool{false, true} {
		for _, shards := range []int{1, 2} {
			r := newRig[uint64](t, setup[uint64]{slots: total, memory: 8, shards: shards, fifo: fifo})
			seen := map[uint32]bool{}
			claim := func(k int) {
				slot, h, err := r.shards[k%shards].Claim()
				require.NoError(t, err)
				require.False(t, seen[slots.Low(h)], "%s was handed out twice", text(h))
				seen[slots.Low(h)] = true
				live(slot, h, uint64(k))
			}
			remove := func() {
				for i := range seen {
					r.remove(t, r.shards[int(i)%shards], r.word(i))
					delete(seen, i)
				}
				for _, s := range r.shards {
					r.reclaim(t, s)
				}
			}
			for k := range 8 {
				claim(k)
			}
			remove()
			r.arena.TrimAfter(func() {
				for k := range 40 {
					claim(k)
				}
				remove()
			})
			for k := range total {
				claim(k)
			}
			require.Len(t, seen, total)
		}
	}
}

// TestTrimLeavesOldPages: a page whose slots are near their last generation stays, whether
// they were used or not. A Trim of a pool that was never used costs no slot its last lives.
func TestTrimLeavesOldPages(t *testing.T) {
	const total = 8
	for first, want := range map[uint32]int{1: total, shard.OldPage - 1: total, slots.LastGeneration - 4: 0, slots.LastGeneration: 0} {
		for _, fifo := range []bool{false, true} {
			for _, taken := range []int{0, 1, total} { // the others are in a range, or nowhere
				r := newRig[uint64](t, setup[uint64]{slots: total, fifo: fifo, first: first})
				s := r.shards[0]
				for range taken {
					slot, h := s.Refill(total)
					if slot == nil {
						slot, h = s.Fresh()
					}
					s.Return(slot, h)
				}
				exhausted := r.arena.Exhausted()
				r.arena.Trim()
				require.Equal(t, want, int(r.arena.Table.Pages().Limit)-r.arena.Table.Resident(), "first %d, %d taken", first, taken)
				require.Equal(t, exhausted, r.arena.Exhausted())
			}
		}
	}
}

// TestTrimBehindAPageWithValues: pages that were never used, or not since they came back, go too, whether they were handed out or
// not, where the slots before them are in a page with a value. What is left of that page stays, and of a range as it is. Each
// slot is handed out once.
func TestTrimBehindAPageWithValues(t *testing.T) {
	const total = 64
	for used := range 12 {
		for kind := range 8 {
			fifo, inRange, back := kind&1 > 0, kind&2 > 0, kind&4 > 0
			r := newRig[uint64](t, setup[uint64]{slots: total, fifo: fifo, pages: slots.PageSizes{Unit: 0, Page: 2, Most: 2}})
			s := r.shards[0]
			if back {
				r.remove(t, s, r.fill(t, s, total, number)...)
				r.reclaim(t, s)
				require.Positive(t, r.arena.TrimAll())
				require.True(t, r.arena.Table.ProvideMore(total))
			}
			seen := map[uint32]bool{}
			end, generation := uint32(0), uint32(0) // of the page with the last value
			for k := range used {
				slot, h := s.Fresh()
				if n := uint32(1); slot == nil {
					if inRange && k == 0 {
						n = total
					}
					slot, h = s.Refill(n)
				}
				live(slot, h, 1)
				seen[slots.Low(h)] = true
				generation = slots.Generation(h)
				end = slots.Low(h) + r.arena.Table.Pages().Beside(slots.Low(h), slots.None)
			}
			require.Positive(t, r.arena.TrimAll(), "%d used, kind %d", used, kind)
			inserted := used
			if back {
				inserted += total
			}
			require.EqualValues(t, inserted, r.arena.Count().Inserted, "lives that are burnt")
			for range total - used {
				slot, h, err := s.Claim()
				require.NoError(t, err)
				require.False(t, seen[slots.Low(h)], "%s was handed out before", text(h))
				seen[slots.Low(h)] = true
				if inRange && slots.Low(h) < end {
					require.Equal(t, generation, slots.Generation(h), "slot %d has burnt a life", slots.Low(h))
				}
				live(slot, h, 1)
			}
			require.Len(t, seen, total)
		}
	}
}

// TestTrimCountsTheListsOfAllShards that it has let go of.
func TestTrimCountsTheListsOfAllShards(t *testing.T) {
	const n = 200
	r := newRig[uint64](t, setup[uint64]{slots: n * slots.Batch, shards: 2})
	s := r.shards[1]
	hs := r.fill(t, s, n*slots.Batch, number)
	g := r.arena.Domain.Pin()
	for part := range slices.Chunk(hs[1:], slots.Batch) {
		r.leave(t, s, part...)
		s.Seal()
	}
	g.Unpin()
	lists, pages := s.BacklogBytes(), r.arena.Table.Bytes()
	freed := r.arena.Trim()
	require.Less(t, s.BacklogBytes(), lists)
	require.Equal(t, lists-s.BacklogBytes()+pages-r.arena.Table.Bytes(), freed)
}

// Loops step over pages without memory: they see neither the stub nor how many units these have.
func TestLoopsStepOverPagesWithoutMemory(t *testing.T) {
	r := newRig[uint64](t, setup[uint64]{slots: 64, pages: slots.PageSizes{Unit: 1, Page: 4}})
	hs := r.fill(t, r.shards[0], 64, number)
	require.EqualValues(t, 16, r.arena.Table.Pages().Beside(16, slots.None))
	r.remove(t, r.shards[0], hs[2:]...)
	r.reclaim(t, r.shards[0])
	require.Positive(t, r.arena.Trim())
	now := r.arena.Table.Pages()
	require.Equal(t, 62, int(r.arena.Table.Pages().Limit)-r.arena.Table.Resident())
	for i := range now.Limit {
		first, block := slots.Block[uint64](now, i, 64)
		require.EqualValues(t, 2-min(i, 2), len(block), "slot %d", i)
		require.Equal(t, []uint32{0, 1, 64}[min(i, 2)], first, "slot %d", i)
	}
	live := r.arena.Table.Live()
	require.Equal(t, 2, live)
}

// A look-up that has loaded the address of the entries, and nothing else yet, keeps the pages that
// they show, whatever Trim does meanwhile.
func TestEntriesKeepPages(t *testing.T) {
	for _, page := range []uint8{3, 9} { // few entries, and so many that the collector does not read them
		const total = 2048
		n := total >> (9 - page)
		r := newRig[uint64](t, setup[uint64]{slots: n, pages: slots.PageSizes{Page: page}})
		r.remove(t, r.shards[0], r.fill(t, r.shards[0], n, number)...)
		r.reclaim(t, r.shards[0])
		require.Positive(t, r.arena.Trim())
		r.remove(t, r.shards[0], r.claim(t, r.shards[0], n)...) // in pages that came back
		r.reclaim(t, r.shards[0])
		freed := make(chan bool, 1)
		entries := r.arena.Table.Pages().Array
		runtime.AddCleanup(slots.At[uint64](r.arena.Table.Pages(), uint32(n)/2), func(int) { freed <- true }, 0)
		require.Positive(t, r.arena.Trim())
		for range 3 {
			runtime.GC()
			time.Sleep(time.Millisecond) // cleanups have a goroutine of their own
		}
		require.Empty(t, freed, "page %d", page)
		runtime.KeepAlive(entries)
		runtime.GC()
		require.True(t, testkit.Soon(t, freed), "the memory should be freed")
		runtime.KeepAlive(r)
	}
}
