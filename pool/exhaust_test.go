package pool_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// incarnations is how often a slot can live from an origin on.
func incarnations(origin uint32) int { return int((testkit.LastGeneration-(origin|1))/2 + 1) }

// exhaust inserts and removes until the pool refuses, keeping up to keep values alive, and
// returns how many handles were issued. It acts through a Worker at times, and draws the
// removers.
func exhaust(t *testing.T, p *pool.Pool[int], keep int, rnd *rand.Rand) int {
	t.Helper()
	all := removers[int]()
	names := make([]string, 0, len(all))
	insert := p.Insert
	w := p.Worker()
	defer w.Close()
	worker := rnd.IntN(2) == 0
	if worker {
		insert = w.Insert
	}
	for name := range all {
		if worker || !strings.HasPrefix(name, "Worker.") {
			names = append(names, name)
		}
	}
	slices.Sort(names) // or a seed would repeat nothing
	seen := map[pool.Handle[int]]bool{}
	var live []pool.Handle[int]
	remove := func() {
		all[names[rnd.IntN(len(names))]](p, w, live[:1])
		before := len(live)
		live = slices.DeleteFunc(live, func(h pool.Handle[int]) bool { return !p.Contains(h) })
		if len(live) == before {
			t.Fatalf("%v is not removed", live[0])
		}
	}
	for {
		h, err := insert(1)
		switch {
		case err == nil:
			if seen[h] || h.Generation() > testkit.LastGeneration {
				t.Fatalf("%v was issued, before: %v", h, seen[h])
			}
			seen[h] = true
			if live = append(live, h); len(live) > keep {
				remove()
			}
		case len(live) > 0: // as long as something lives, its slot may have another life
			if !errors.Is(err, pool.ErrFull) || errors.Is(err, pool.ErrExhausted) {
				t.Fatalf("%v, and %d values live", err, len(live))
			}
			remove()
		default:
			require.ErrorIs(t, err, pool.ErrExhausted)
			require.ErrorIs(t, err, pool.ErrFull)
			require.NotErrorIs(t, err, pool.ErrStalled)
			return len(seen)
		}
	}
}

// A generation that wraps, or is set back, issues a handle twice; a slot that is
// exhausted too early, or lost, issues too few. Under FIFO slots of the reserve may replace
// exhausted ones.
func TestPoolIssuesExactlySlotsTimesIncarnations(t *testing.T) {
	rnd := testkit.Rand(t)
	for _, reuse := range testkit.Reuses {
		for _, capacity := range []int{1, 2, 5, 100} {
			for _, before := range []uint32{0, 1, 2, 7, 80} {
				for range 2 {
					origin := testkit.LastGeneration - before
					o := pool.Options[int]{Capacity: capacity, Origin: origin, Shards: []int{1, 2, 8}[rnd.IntN(3)], Reuse: reuse}
					p := tiny(t, &o)
					keep := rnd.IntN(capacity + 1)
					got := exhaust(t, p, keep, rnd)
					st := testkit.RequireReclaimed(t, p)
					if reuse == pool.FIFO {
						require.GreaterOrEqualf(t, got, capacity*incarnations(origin), "%+v, %d kept", o, keep)
						require.LessOrEqualf(t, got, st.Allocated*incarnations(origin), "%+v, %d kept", o, keep)
						continue
					}
					require.Equalf(t, capacity*incarnations(origin), got, "%+v, %d kept", o, keep)
					require.Equal(t, capacity, st.Exhausted)
					require.Zero(t, st.Free)
				}
			}
		}
	}
}

// A pool without a Capacity takes new slots for those that are exhausted.
func TestExhaustedSlotsAreReplaced(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := tiny(t, &pool.Options[int]{Origin: testkit.LastGeneration - 2, Shards: 1, Reuse: reuse})
		for i := range 1000 {
			require.True(t, p.Remove(testkit.MustInsert(t, p, i)))
		}
		require.Greater(t, testkit.RequireReclaimed(t, p).Exhausted, 400)
	}
}
