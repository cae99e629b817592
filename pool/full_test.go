package pool_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

func TestErrorsWrap(t *testing.T) {
	for _, err := range []error{pool.ErrStalled, pool.ErrExhausted} {
		assert.ErrorIs(t, err, pool.ErrFull)
		assert.ErrorIs(t, fmt.Errorf("here: %w", err), pool.ErrFull)
		assert.NotErrorIs(t, pool.ErrFull, err)
	}
	assert.False(t, errors.Is(pool.ErrStalled, pool.ErrExhausted))
	assert.False(t, errors.Is(pool.ErrExhausted, pool.ErrStalled))
	for _, err := range []error{pool.ErrFull, pool.ErrStalled, pool.ErrExhausted} {
		assert.Regexp(t, "^pool: ", err.Error())
	}
}

// everyInsert are the verbs that need a slot.
func everyInsert(p *pool.Pool[int]) map[string]func() error {
	return map[string]func() error{
		"Insert":     func() error { _, err := p.Insert(1); return err },
		"InsertFunc": func() error { _, err := p.InsertFunc(func(pool.Handle[int], *int) {}); return err },
		"Reserve":    func() error { _, err := p.Reserve(); return err },
		"InsertBatch": func() error {
			hs, err := p.InsertBatch([]int{1}, nil)
			if len(hs) > 0 && err != nil {
				return fmt.Errorf("%d handles with %w", len(hs), errors.New(err.Error()))
			}
			return err
		},
	}
}

// requireRefusal requires that every inserting verb answers with want and no
// other of the errors.
func requireRefusal(t *testing.T, p *pool.Pool[int], want error, context string) {
	t.Helper()
	for verb, insert := range everyInsert(p) {
		err := insert()
		require.ErrorIsf(t, err, want, "%s, %s", verb, context)
		for _, other := range []error{pool.ErrStalled, pool.ErrExhausted} {
			if other != want {
				require.NotErrorIsf(t, err, other, "%s, %s", verb, context)
			}
		}
	}
}

func capacityConfigs() (all []pool.Options[int]) {
	for _, reuse := range reuses {
		for _, capacity := range []int{1, 2, 7, 64, 300} {
			for _, shards := range []int{1, 2, 8} {
				o := pool.Options[int]{Capacity: capacity, Shards: shards, Reuse: reuse}
				all = append(all, o)
				if reuse == pool.FIFO {
					o.MinFree = 1
					all = append(all, o)
				}
			}
		}
	}
	return all
}

// A pool takes exactly Capacity values, again and again, with whatever spare
// slots it has beside them.
func TestCapacityIsExact(t *testing.T) {
	for _, o := range capacityConfigs() {
		p := tiny(t, &o)
		name := fmt.Sprintf("%+v", o)
		for round := range 6 {
			hs := fill(t, p, o.Capacity, number)
			requireRefusal(t, p, pool.ErrFull, name)
			require.Equal(t, o.Capacity, p.Len())
			// One goes, one comes.
			for i := range hs {
				require.True(t, p.Remove(hs[i]))
				h, err := p.Insert(0)
				require.NoError(t, err, name)
				hs[i] = h
				requireRefusal(t, p, pool.ErrFull, name)
			}
			if round%2 == 0 {
				require.Equal(t, o.Capacity, p.Clear())
			} else {
				require.Equal(t, o.Capacity, p.RemoveBatch(hs))
			}
		}
		requireReclaimed(t, p)
	}
}

// InsertBatch keeps what fitted, and its handles tell how many.
func TestBatchFillsToCapacity(t *testing.T) {
	for _, o := range capacityConfigs() {
		p := tiny(t, &o)
		before := []pool.Handle[int]{42}
		hs, err := p.InsertBatch(make([]int, o.Capacity+3), before)
		require.ErrorIs(t, err, pool.ErrFull)
		require.Len(t, hs, 1+o.Capacity)
		require.EqualValues(t, 42, hs[0])
		for _, h := range hs[1:] {
			require.True(t, p.Contains(h))
		}
	}
}

// While a guard is pinned, what is removed waits and Insert says so; when it has
// gone, everything comes back at once, however often that happens.
func TestStallRecovers(t *testing.T) {
	for _, o := range capacityConfigs() {
		name := fmt.Sprintf("%+v", o)
		p := tiny(t, &o)
		for round := range 8 {
			hs := fill(t, p, o.Capacity, number)
			g := p.Pin()
			requireRefusal(t, p, pool.ErrFull, name) // nothing waits
			half := (o.Capacity + 1) / 2
			require.Equal(t, half, p.RemoveBatch(hs[:half]))
			requireRefusal(t, p, pool.ErrStalled, name)
			requireRefusal(t, p, pool.ErrStalled, name)
			for _, h := range hs[half:] {
				require.True(t, p.Remove(h))
				if round%2 == 0 {
					requireRefusal(t, p, pool.ErrStalled, name)
				}
			}
			st := requireConserved(t, p)
			require.Equal(t, o.Capacity, st.Limbo)
			require.Equal(t, 1, st.Pinned)
			g.Unpin()
			fill(t, p, o.Capacity, number) // all of them, at once
			requireRefusal(t, p, pool.ErrFull, name)
			require.Equal(t, o.Capacity, p.Clear())
		}
		requireReclaimed(t, p)
	}
}

// A batch that was sealed during the stall and holds only exhausted slots must
// not hide the one behind it.
func TestStallRecoversPastExhaustedSlots(t *testing.T) {
	for _, reuse := range reuses {
		t.Run(reuse.String(), func(t *testing.T) {
			p := tiny(t, &pool.Options[int]{Origin: lastGeneration - 2, Shards: 1, Capacity: 2, Reuse: reuse})
			hs := fill(t, p, 2, number)
			var old pool.Handle[int]
			for old.Generation() != lastGeneration {
				require.True(t, p.Remove(hs[0]))
				hs[0] = mustInsert(t, p, 1)
				old = hs[0]
			}
			g := p.Pin()
			require.True(t, p.Remove(old))
			_, err := p.Insert(1)
			require.ErrorIs(t, err, pool.ErrFull)
			require.True(t, p.Remove(hs[1]))
			g.Unpin()
			_, err = p.Insert(1)
			require.NoError(t, err)
		})
	}
}

// An exhausted slot is none that a value could have, unless MinFree makes up for
// it when it is reclaimed.
func TestStalledIsForSlotsThatAValueCouldHave(t *testing.T) {
	p := tiny(t, &pool.Options[int]{Origin: lastGeneration, Shards: 1, Capacity: 2})
	hs := fill(t, p, 2, number)
	g := p.Pin()
	require.True(t, p.Remove(hs[0]))
	requireRefusal(t, p, pool.ErrFull, "LIFO, the waiting slot is exhausted")
	g.Unpin()
	requireRefusal(t, p, pool.ErrFull, "LIFO, it is retired")
	require.True(t, p.Remove(hs[1]))
	requireRefusal(t, p, pool.ErrExhausted, "LIFO, both are")

	p = tiny(t, &pool.Options[int]{Origin: lastGeneration, Shards: 1, Capacity: 2, Reuse: pool.FIFO, MinFree: 2})
	hs = fill(t, p, 2, number)
	g = p.Pin()
	require.True(t, p.Remove(hs[0]))
	requireRefusal(t, p, pool.ErrStalled, "FIFO, the reserve has a slot in its place")
	g.Unpin()
	mustInsert(t, p, 1)
	requireRefusal(t, p, pool.ErrFull, "FIFO, Capacity values live")
}

// A forgotten guard ends in ErrStalled at MaxLimbo, not in all memory.
func TestForgottenGuardStopsGrowth(t *testing.T) {
	for _, reuse := range reuses {
		for _, workers := range []bool{false, true} {
			const most = 3000
			p := tiny(t, &pool.Options[int]{MaxLimbo: most, Shards: 2, Reuse: reuse})
			keep := fill(t, p, 50, number)
			insert, remove := p.Insert, p.Remove
			if workers {
				w := p.Worker()
				defer w.Close()
				insert, remove = w.Insert, w.Remove
			}
			for round := range 3 {
				g := p.Pin()
				n := 0
				for ; ; n++ {
					require.Less(t, n, 2*most, "no end")
					h, err := insert(1)
					if err != nil {
						require.ErrorIsf(t, err, pool.ErrStalled, "%v, Worker %v, round %d after %d", reuse, workers, round, n)
						break
					}
					require.True(t, remove(h))
				}
				if round == 0 {
					require.GreaterOrEqual(t, n, most)
				}
				st := requireConserved(t, p)
				require.LessOrEqual(t, st.Limbo, most+128)
				require.LessOrEqual(t, st.Allocated, most+600)
				g.Unpin()
				for range 2 * most {
					h, err := insert(1)
					require.NoError(t, err, "recovery")
					require.True(t, remove(h))
				}
			}
			for _, h := range keep {
				require.True(t, p.Contains(h))
			}
		}
	}
}

// The default of MaxLimbo lies below a bound, too.
func TestDefaultMaxLimboStopsGrowth(t *testing.T) {
	if testkit.Watched {
		t.Skip("a million removals")
	}
	p := pool.Must(&pool.Options[struct{}]{Shards: 1})
	g := p.Pin()
	for n := 0; ; n++ {
		require.LessOrEqual(t, n, 1_100_000)
		h, err := p.Insert(struct{}{})
		if err != nil {
			require.ErrorIs(t, err, pool.ErrStalled)
			require.GreaterOrEqual(t, n, 900_000)
			break
		}
		if !p.Remove(h) {
			t.Fatalf("Remove(%v)", h)
		}
	}
	g.Unpin()
	mustInsert(t, p, struct{}{})
}

// What is in a Worker's reach is free, and others may be told ErrFull that much
// earlier, but not ErrStalled, and not after Flush.
func TestWorkersReachCountsAgainstOthers(t *testing.T) {
	const capacity = 256
	p := tiny(t, &pool.Options[int]{Capacity: capacity, Shards: 1})
	w := p.Worker()
	defer w.Close()
	for range 500 {
		h, err := w.Insert(1)
		require.NoError(t, err)
		require.True(t, w.Remove(h))
	}
	n := 0
	for {
		if _, err := p.Insert(1); err != nil {
			require.ErrorIs(t, err, pool.ErrFull)
			require.NotErrorIs(t, err, pool.ErrStalled)
			break
		}
		n++
	}
	st := requireConserved(t, p)
	require.Equal(t, capacity, n+st.Cached)
	require.Positive(t, st.Cached, "the Worker keeps nothing: this test tests nothing")
	require.LessOrEqual(t, st.Cached, capacity/16)
	// The owner reaches them all, by and by.
	for range st.Cached {
		_, err := w.Insert(1)
		require.NoError(t, err)
	}
	_, err := w.Insert(1)
	require.ErrorIs(t, err, pool.ErrFull)
	require.Equal(t, capacity, p.Len())
	require.Equal(t, capacity, p.Clear())
	w.Flush()
	fill(t, p, capacity, number)
}
