package shard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// TestMagazineEndsSlotsThatSkipTheirLives: slots that a magazine removes and reuses, and that have no
// life after those that they skip, are exhausted. No handle has a generation beyond the last, and an
// exhausted slot keeps no value.
func TestMagazineEndsSlotsThatSkipTheirLives(t *testing.T) {
	const total, ending = 600, 40
	for _, stampPerSlot := range []bool{false, true} {
		r := newRig[*int](t, setup[*int]{slots: total, stampPerSlot: stampPerSlot, zero: true})
		hs := r.fill(t, r.shards[0], total, func(int) *int { return new(int) })
		skips := &shard.RestoredSkips{}
		for i := range uint32(ending) {
			skips.Add(r.arena.Table.Pages(), i, 1<<31)
			skips.Add(r.arena.Table.Pages(), i, 1<<31) // the sum does not wrap
		}
		r.arena.KeepSkips(skips, 0)
		m := r.arena.NewMagazine()
		for range 3 {
			for _, h := range hs {
				require.True(t, m.Remove(h), "Remove(%s)", text(h))
			}
			hs = hs[:0]
			for {
				slot, h, err := next(m)
				if err != nil {
					break
				}
				require.LessOrEqual(t, slots.Generation(h), uint32(slots.LastGeneration), "%s is issued", text(h))
				live(slot, h, new(int))
				hs = append(hs, h)
			}
		}
		require.Len(t, hs, total-ending)
		require.EqualValues(t, ending, r.arena.Exhausted())
		for i := range uint32(ending) {
			require.Nil(t, *slots.ValueOf[*int](r.arena.Slot(i)), "slot %d is exhausted, and keeps its value", i)
		}
	}
}

// TestSkippedLivesAreForgotten: each slot of a restored arena skips what it must, whatever removes it. Its page
// keeps a bit for each slot, and a number for each if they differ, until the last one has skipped.
func TestSkippedLivesAreForgotten(t *testing.T) {
	const total = 64
	for _, stampPerSlot := range []bool{false, true} {
		for _, fifo := range []bool{false, true} {
			r := newRig[uint64](t, setup[uint64]{slots: total, stampPerSlot: stampPerSlot, fifo: fifo})
			s := r.shards[0]
			hs := r.fill(t, s, total, number)
			before := r.arena.Count().Bytes
			skips := &shard.RestoredSkips{}
			for i := range uint32(total) {
				skips.Add(r.arena.Table.Pages(), i, 1+i%3)
				skips.Add(r.arena.Table.Pages(), i, 1)
			}
			r.arena.KeepSkips(skips, 0)
			require.Greater(t, r.arena.Count().Bytes, before+4*total, "numbers, since they differ, and bits")
			m, lives := r.arena.NewMagazine(), make([]uint32, total)
			for k, h := range hs {
				switch k % 4 {
				case 0:
					r.remove(t, s, h)
				case 1:
					gathered := r.arena.Removals()
					require.True(t, gathered.Remove(h))
					gathered.End()
				case 2:
					slot, seen := s.Unlink(h)
					require.NotNil(t, slot)
					s.Retire(slot, h, seen)
				case 3:
					require.True(t, m.Remove(h))
				}
				require.Equal(t, 2*(3+uint32(k)%3), slots.Generation(r.word(uint32(k))), "slot %d: at once", k)
				require.Equal(t, k < total-1, r.arena.Skips(0, lives), "after %d removals", k+1)
				r.reclaim(t, s)
			}
			m.Close(shard.Caller)
			r.reclaim(t, s)
			for i := range uint32(total) {
				require.GreaterOrEqual(t, slots.Generation(r.word(i)), 2*(3+i%3), "slot %d", i)
			}
			require.LessOrEqual(t, r.arena.Count().Bytes-before, r.shards[0].BacklogBytes(), "memory for what is to be skipped")
		}
	}
}

// TestEqualSkipsTakeABit: slots of a page that skip equally many lives share the number, and a page forgets it
// when the last of its slots has skipped.
func TestEqualSkipsTakeABit(t *testing.T) {
	const total = 64
	r := newRig[uint64](t, setup[uint64]{slots: total, pages: slots.PageSizes{Unit: 5, Page: 5}})
	s := r.shards[0]
	hs := r.fill(t, s, total, number)
	before := r.arena.Count().Bytes
	r.arena.KeepSkips(&shard.RestoredSkips{}, 7)
	require.Equal(t, before+2*(4+4), r.arena.Count().Bytes)
	r.remove(t, s, hs[1:]...) // the second page's all
	r.reclaim(t, s)
	require.Equal(t, before+4+4, r.arena.Count().Bytes-s.BacklogBytes())
	lives := make([]uint32, total)
	require.True(t, r.arena.Skips(0, lives))
	require.Equal(t, append([]uint32{7}, make([]uint32, total-1)...), lives)
}

// TestPageWithoutMemoryHasOneNumber: a snapshot pays for no more.
func TestPageWithoutMemoryHasOneNumber(t *testing.T) {
	const total = 1 << 14
	r := newRig[uint64](t, setup[uint64]{slots: total, memory: 1, pages: slots.PageSizes{Unit: 12, Page: 12}})
	r.arena.Table.ExtendVacant(total)
	skips, pages := &shard.RestoredSkips{}, r.arena.Table.Pages()
	got := testkit.Allocated(func() {
		for i := range uint32(total / 2) {
			skips.Add(pages, total/2+i, 1)
		}
	})
	require.Less(t, got, uint64(total)) // a number for each slot takes twice as much
}
