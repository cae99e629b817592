//go:build !race

package pool_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// What a Worker, a Reservation or a Ref has is in no list. In the copy it is vacant, its next
// handle is burnt, and it comes behind all others.
func TestOrderOfSlotsThatSomebodyHas(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		o := &pool.Options[*int]{Origin: 1, Shards: 1, Reuse: reuse}
		p := tiny(t, o)
		hs := testkit.Fill(t, p, 20, func(int) *int { return nil })
		held := mustHold(t, p, hs[3])
		defer held.Release()
		require.Equal(t, 10, p.RemoveBatch(hs[:10]))
		require.NoError(t, p.Synchronize(t.Context()))
		reserved := mustReserve(t, p)
		c := copyOf(t, p, o)
		for range 8 {
			h, again := testkit.MustInsert(t, p, nil), testkit.MustInsert(t, c, nil)
			require.Equal(t, h, again)
			require.Less(t, h.Index(), uint32(10))
		}
		testkit.RequireConserved(t, c)
		require.False(t, c.Contains(reserved.Handle()), "the value should be gone")
		last := map[pool.Handle[*int]]bool{}
		for range 2 {
			last[testkit.MustInsert(t, c, nil)] = true
		}
		want := map[pool.Handle[*int]]bool{
			hs[3] + 4<<32:             true, // one life after the one that would have been next
			reserved.Handle() + 2<<32: true,
		}
		require.Equal(t, want, last)
		reserved.Cancel()
	}
}

// Without Origin, with another one than at first, or with other options, there is no order, and no
// error.
func TestOrderIsForTheSameOptions(t *testing.T) {
	p := tiny(t, &pool.Options[*int]{Origin: 1, Shards: 1})
	hs := testkit.Fill(t, p, 20, func(int) *int { return nil })
	require.Equal(t, 10, p.RemoveBatch(hs[:10]))
	for _, o := range []pool.Options[*int]{
		{}, {Origin: 1, Shards: 2}, {Origin: 1, Shards: 1, Reuse: pool.FIFO}, {Origin: 1, Shards: 1, Capacity: 100},
		{Origin: 1, Shards: 1, MaxLimbo: 10}, {Origin: 1, Shards: 1, Reset: resetPointer}, {Origin: 1, Shards: 1, Capacity: 100, Preallocate: true},
	} {
		c := copyOf(t, p, &o)
		requireCopy(t, p, c)
		require.Zero(t, c.Stats().Limbo, "%s", describe(&o))
		for _, h := range testkit.Fill(t, c, 10, func(int) *int { return nil }) {
			require.NotContains(t, hs, h)
		}
	}
	require.Equal(t, 10, copyOf(t, p, &pool.Options[*int]{Origin: 1, Shards: 1}).Stats().Limbo)
}

// What Grow made beyond the Capacity of a copy is not made there.
func TestCopiesGrowToTheirCapacity(t *testing.T) {
	const n = 1 << 17
	opts := pool.Options[uint64]{Origin: 1, Shards: 1, Capacity: 2 * n}
	p := pool.Must(&opts)
	p.Grow(2 * n)
	testkit.MustInsert(t, p, 1)
	whole := testkit.Written(t, p)
	same := mustRead(t, whole, &opts)
	require.Equal(t, p.Stats().Allocated, same.Stats().Allocated, "with the same Capacity")
	opts.Capacity = n
	want := pool.Must(&opts)
	want.Grow(n)
	require.InDelta(t, want.Stats().Bytes, mustRead(t, whole, &opts).Stats().Bytes, 1000)
}

// An order that was forged is none, or one in which each slot is once.
func TestForgedOrders(t *testing.T) {
	rnd := testkit.Rand(t)
	accepted := 0
	for _, o := range []pool.Options[*int]{{}, {Capacity: 1000}, {Reset: resetPointer}} {
		o.Origin, o.Shards = 1, 1
		for _, o.Reuse = range testkit.Reuses {
			p := tiny(t, &o)
			hs := testkit.Fill(t, p, 300, func(int) *int { return nil })
			g := p.Pin()
			require.Equal(t, 100, p.RemoveBatch(hs[:100]))
			g.Unpin()
			require.Equal(t, 100, p.RemoveBatch(hs[100:200]))
			p.Trim()
			testkit.Fill(t, p, 20, func(int) *int { return nil })
			require.Equal(t, 30, p.RemoveBatch(hs[200:230]))
			whole := testkit.Written(t, p)
			for range testkit.Long(2000) {
				in := reseal(whole, func(records [][]byte) {
					order := records[len(records)-2]
					if rnd.IntN(2) == 0 {
						records[len(records)-2] = forgedNumbers(order, rnd)
						return
					}
					require.EqualValues(t, 5, order[0])
					for range 1 + rnd.IntN(3) {
						order[16+rnd.IntN(min(len(order)-16, 1<<rnd.IntN(12)))] = byte(rnd.UintN(256) >> rnd.IntN(8))
					}
				})
				c, err := pool.ReadTiny(bytes.NewReader(in), &o, 1)
				require.NoError(t, err)
				st := testkit.RequireConserved(t, c)
				require.Equal(t, 90, st.Live)
				if st.Limbo > 0 {
					accepted++
				}
				new := map[pool.Handle[*int]]bool{}
				for h := range c.All() {
					new[h] = true
				}
				for range 400 {
					h := testkit.MustInsert(t, c, nil)
					require.False(t, new[h], "%v twice", h)
					new[h] = true
				}
				c.Clear()
				testkit.RequireReclaimed(t, c)
			}
		}
	}
	require.Positive(t, accepted)
}

// forgedNumbers changes some numbers of an order to others that it may have, such as slots of another list or
// those of values.
func forgedNumbers(order []byte, rnd *rand.Rand) []byte {
	numbers := numbersOf(order)
	for range 1 + rnd.IntN(3) {
		n := rnd.Uint64N(300)
		if rnd.IntN(2) == 0 {
			n = numbers[rnd.IntN(len(numbers))]
		}
		numbers[rnd.IntN(len(numbers))] = n
	}
	return withNumbers(order, numbers)
}

// So is one that tells of pages which were given up, in a pool that has none.
func TestForgedOrderOfNoSlots(t *testing.T) {
	opts := pool.Options[int]{Origin: 1, Shards: 1}
	whole := testkit.Written(t, pool.Must(&opts))
	for k := range cut(whole)[1][16:] {
		for v := range byte(4) {
			p, err := pool.ReadFrom[int](bytes.NewReader(reseal(whole, func(records [][]byte) {
				require.EqualValues(t, 5, records[1][0])
				records[1][16+k] = v
			})), &opts)
			require.NoError(t, err)
			testkit.MustInsert(t, p, 1)
			p.Clear()
			testkit.RequireReclaimed(t, p)
		}
	}
}

// So is one with a page that was given up before any of its slots had a life: its floor would be 0, as
// if the stub, which is shorter, were all of its memory.
func TestForgedFloorOfUnusedSlots(t *testing.T) {
	opts := &pool.Options[[8192]byte]{Origin: 1, Shards: 1}
	p := pool.Must(opts)
	p.Grow(124)
	testkit.MustInsert(t, p, [8192]byte{})
	whole := testkit.Written(t, p)
	in := changeOrder(t, whole, func(order []uint64) []uint64 {
		const stub, fresh, again, gone = 4, 10, 13, 14
		require.Equal(t, []uint64{2, 1, 32, 0, 0}, order[fresh:gone+1])
		order[stub], order[fresh+1] = 1, 4
		return slices.Insert(slices.Replace(order, gone, gone+1, 2), gone+1, 2, 0) // slots 2 and 3
	})
	c, err := pool.ReadFrom[[8192]byte](bytes.NewReader(in), opts)
	require.NoError(t, err)
	require.Equal(t, 1, testkit.RequireConserved(t, c).Allocated)
	for range 100 {
		testkit.MustInsert(t, c, [8192]byte{})
	}
	c.Clear()
	testkit.RequireReclaimed(t, c)
}

// So is one whose ranges have slots that are in a list, or live, or in the other range, or that there are none of.
func TestForgedRanges(t *testing.T) {
	const removed, used, end = 5, 10, 32 // these wait; these had a life; these were handed out
	opts := &pool.Options[int]{Origin: 1, Shards: 1}
	p := pool.Must(opts)
	require.Equal(t, removed, p.RemoveBatch(testkit.Fill(t, p, used, testkit.Number)[:removed]))
	whole := testkit.Written(t, p)
	for lo := range uint64(end + 2) {
		for _, hi := range []uint64{lo, lo + 1, 20, end, end + 1} {
			for _, again := range []uint64{0, lo + 1, hi} { // where the other range begins, if there is one
				in := changeOrder(t, whole, func(order []uint64) []uint64 {
					const fresh = 10
					require.Equal(t, []uint64{2, used, end, 0}, order[fresh:fresh+4])
					order[fresh+1], order[fresh+2] = lo, hi
					if again > 0 {
						order = slices.Replace(order, fresh+3, fresh+4, 2, again, end)
					}
					return order
				})
				accepted := lo >= used && lo < hi && hi <= end && (again == 0 || again >= hi && again < end)
				require.Equal(t, accepted, mustRead(t, in, opts).Stats().Limbo > 0, "from %d to %d, and from %d", lo, hi, again)
			}
		}
	}
}

// So is one of a queue whose end nobody knows: what passes later comes behind it.
func TestForgedQueueWithoutEnd(t *testing.T) {
	opts := &pool.Options[int]{Origin: 1, Shards: 1, Capacity: 1000, Reuse: pool.FIFO}
	p := pool.Must(opts)
	hs := testkit.Fill(t, p, 100, testkit.Number)
	require.Equal(t, 20, p.RemoveBatch(hs[:20]))
	require.NoError(t, p.Synchronize(t.Context()))
	g := p.Pin()
	require.Equal(t, 20, p.RemoveBatch(hs[20:40]))
	require.Error(t, p.Synchronize(testkit.Done()))
	g.Unpin()
	whole := testkit.Written(t, p)
	for _, what := range []string{"ready", "waiting"} {
		in := changeOrder(t, whole, func(order []uint64) []uint64 {
			for k := 3; k < len(order); k++ {
				switch {
				case what == "ready" && slices.Equal(order[k-2:k+1], []uint64{1, 20, 0}): // the end is known; 20 slots, from 0 on
					order[k-2] = 0
					return order
				case what == "waiting" && slices.Equal(order[k-3:k+1], []uint64{0, 1, 20, 39}): // not turned
					order[k-3], order[k-2] = 1, 0
					return order
				}
			}
			t.Fatal("there is no such list")
			return nil
		})
		c := mustRead(t, in, opts)
		require.Zero(t, c.Stats().Limbo, what)
		c.Clear()
		testkit.RequireReclaimed(t, c)
	}
}

// changeOrder changes the numbers of a snapshot's order, which has one part.
func changeOrder(t *testing.T, snapshot []byte, change func([]uint64) []uint64) []byte {
	return reseal(snapshot, func(records [][]byte) {
		order := &records[len(records)-2]
		require.EqualValues(t, 5, (*order)[0])
		*order = withNumbers(*order, change(numbersOf(*order)))
	})
}

// numbersOf returns the numbers of an order's record, and withNumbers the record with others.
func numbersOf(order []byte) (numbers []uint64) {
	for b := order[16:]; len(b) > 0; {
		n, k := binary.Uvarint(b)
		numbers, b = append(numbers, n), b[k:]
	}
	return numbers
}

func withNumbers(order []byte, numbers []uint64) []byte {
	order = order[:16]
	for _, n := range numbers {
		order = binary.AppendUvarint(order, n)
	}
	return order
}

// TestOrderThatFillsItsRecord: an order is cut into records of 256 KiB, none of which is empty.
func TestOrderThatFillsItsRecord(t *testing.T) {
	const full, low = 256 << 10, 1 << 14 // the number of a slot below low takes a byte less
	opts := &pool.Options[struct{}]{Origin: 1, Shards: 1}
	p := pool.Must(opts)
	hs := testkit.Fill(t, p, 80_000, func(int) struct{} { return struct{}{} })
	few, many := hs[low/2:low], hs[low:]
	remove := func(list *[]pool.Handle[struct{}], n int) {
		require.Equal(t, n, p.RemoveBatch((*list)[:n]))
		*list = (*list)[n:]
	}
	for {
		whole, length := testkit.Written(t, p), 0
		var parts []int
		for _, r := range cut(whole) {
			if r[0] == 5 {
				parts = append(parts, len(r)-16)
				length += len(r) - 16
			}
		}
		switch missing := full - length; {
		case missing > 100:
			remove(&many, missing/6)
		case missing > 0 && missing%5 == 0:
			remove(&many, 1)
		case missing > 0:
			remove(&few, 1)
		default:
			require.Equal(t, []int{full}, parts)
			c := mustRead(t, whole, opts)
			for range 100 {
				require.Equal(t, testkit.MustInsert(t, p, struct{}{}), testkit.MustInsert(t, c, struct{}{}))
			}
			return
		}
	}
}

// An order does not list what Preallocate makes in any case.
func TestOrderOfPreallocatedIsShort(t *testing.T) {
	for _, o := range []pool.Options[*int]{{Capacity: 1 << 17, Preallocate: true}, {Capacity: 1 << 17}} {
		o.Origin, o.Shards = 1, 1
		p := pool.Must(&o)
		p.Grow(1 << 17)
		in := testkit.Written(t, p)
		require.Equal(t, o.Preallocate, len(in) < 1000, "%d bytes", len(in))
		require.Equal(t, p.Stats().Allocated, mustRead(t, in, &o).Stats().Allocated)
	}
}
