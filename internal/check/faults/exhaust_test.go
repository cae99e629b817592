package faults_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// incarnations is how often a slot can live from an origin on.
func incarnations(origin uint32) int { return int((testkit.LastGeneration-(origin|1))/2 + 1) }

// exhaust inserts and removes until the pool refuses, keeping up to keep values
// alive, and returns how many handles were issued.
func exhaust(t *testing.T, p *pool.Pool[int], keep int) int {
	t.Helper()
	seen := map[pool.Handle[int]]bool{}
	var live []pool.Handle[int]
	for {
		h, err := p.Insert(1)
		if err != nil {
			if len(live) > 0 { // as long as something lives, its slot may have another life
				require.ErrorIs(t, err, pool.ErrFull)
				require.NotErrorIs(t, err, pool.ErrExhausted)
				require.True(t, p.Remove(live[0]))
				live = live[1:]
				continue
			}
			require.ErrorIs(t, err, pool.ErrExhausted)
			require.ErrorIs(t, err, pool.ErrFull)
			require.NotErrorIs(t, err, pool.ErrStalled)
			return len(seen)
		}
		require.Falsef(t, seen[h], "%v was issued twice", h)
		require.LessOrEqual(t, h.Generation(), uint32(testkit.LastGeneration))
		seen[h] = true
		live = append(live, h)
		if len(live) > keep {
			require.True(t, p.Remove(live[0]))
			live = live[1:]
		}
	}
}

// A generation that wraps, or is set back, issues a handle twice; a slot that is
// retired too early, or lost, issues too few.
func TestPoolIssuesExactlySlotsTimesIncarnations(t *testing.T) {
	for _, capacity := range []int{1, 2, 5, 100} {
		for _, origin := range []uint32{testkit.LastGeneration, testkit.LastGeneration - 1, testkit.LastGeneration - 2, testkit.LastGeneration - 7, testkit.LastGeneration - 80} {
			for _, shards := range []int{1, 2, 8} {
				for _, keep := range []int{0, capacity / 2, capacity} {
					p := testkit.Tiny(t, &pool.Options[int]{Capacity: capacity, Origin: origin, Shards: shards})
					got := exhaust(t, p, keep)
					require.Equalf(t, capacity*incarnations(origin), got, "Capacity %d, Origin %d, %d shards, %d kept", capacity, origin, shards, keep)
					st := testkit.RequireReclaimed(t, p)
					require.Equal(t, capacity, st.Exhausted)
					require.Zero(t, st.Free)
				}
			}
		}
	}
}

func TestFIFOIssuesAtLeastCapacityTimesIncarnations(t *testing.T) {
	for _, capacity := range []int{1, 5, 100} {
		for _, origin := range []uint32{testkit.LastGeneration, testkit.LastGeneration - 7, testkit.LastGeneration - 80} {
			for _, shards := range []int{1, 2, 8} {
				for _, minFree := range []int{1, 7} {
					p := testkit.Tiny(t, &pool.Options[int]{Capacity: capacity, Origin: origin, Shards: shards, Reuse: pool.FIFO, MinFree: minFree})
					got := exhaust(t, p, capacity/2)
					require.GreaterOrEqualf(t, got, capacity*incarnations(origin), "Capacity %d, Origin %d, %d shards, MinFree %d", capacity, origin, shards, minFree)
					st := testkit.RequireReclaimed(t, p)
					require.LessOrEqual(t, got, st.Allocated*incarnations(origin))
				}
			}
		}
	}
}

// A construction that fails burns a generation, which counts as a life.
func TestBurnedGenerationsCount(t *testing.T) {
	const origin = testkit.LastGeneration - 9
	p := testkit.Tiny(t, &pool.Options[int]{Capacity: 1, Origin: origin})
	for i := range incarnations(origin) {
		if i%2 == 0 {
			r, err := p.Reserve()
			require.NoError(t, err)
			r.Cancel()
		} else {
			require.NotNil(t, testkit.Apart(func() { _, _ = p.InsertFunc(func(pool.Handle[int], *int) { panic("no") }) }))
		}
	}
	_, err := p.Reserve()
	require.ErrorIs(t, err, pool.ErrExhausted)
	require.Equal(t, 1, testkit.RequireReclaimed(t, p).Exhausted)
}

// Exhaustion by every removing verb, those of Workers included, keeps the count.
func TestEveryVerbRetiresExhaustedSlots(t *testing.T) {
	const capacity, origin = 96, testkit.LastGeneration - 4
	for name, end := range map[string]func(p *pool.Pool[int], w *pool.Worker[int], hs []pool.Handle[int]){
		"Take": func(p *pool.Pool[int], _ *pool.Worker[int], hs []pool.Handle[int]) {
			testkit.Each(hs, func(h pool.Handle[int]) { p.Take(h) })
		},
		"RemoveBatch": func(p *pool.Pool[int], _ *pool.Worker[int], hs []pool.Handle[int]) { p.RemoveBatch(hs) },
		"Clear":       func(p *pool.Pool[int], _ *pool.Worker[int], _ []pool.Handle[int]) { p.Clear() },
		"Worker.Remove": func(_ *pool.Pool[int], w *pool.Worker[int], hs []pool.Handle[int]) {
			testkit.Each(hs, func(h pool.Handle[int]) { w.Remove(h) })
		},
		"Worker.Take": func(_ *pool.Pool[int], w *pool.Worker[int], hs []pool.Handle[int]) {
			testkit.Each(hs, func(h pool.Handle[int]) { w.Take(h) })
		},
		"Drain": func(p *pool.Pool[int], _ *pool.Worker[int], _ []pool.Handle[int]) {
			for range p.Drain() {
			}
		},
		"DeleteFunc": func(p *pool.Pool[int], _ *pool.Worker[int], _ []pool.Handle[int]) {
			p.DeleteFunc(func(pool.Handle[int], *int) bool { return true })
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := testkit.Tiny(t, &pool.Options[int]{Capacity: capacity, Origin: origin, Shards: 2})
			w := p.Worker()
			issued := 0
			for {
				var hs []pool.Handle[int]
				var err error
				for len(hs) < capacity && err == nil {
					var h pool.Handle[int]
					if h, err = w.Insert(1); err == nil {
						hs = append(hs, h)
					}
				}
				if issued += len(hs); len(hs) == 0 {
					require.ErrorIs(t, err, pool.ErrExhausted)
					break
				}
				end(p, w, hs)
				require.Zero(t, p.Len())
			}
			w.Close()
			require.Equal(t, capacity*incarnations(origin), issued)
			require.Equal(t, capacity, testkit.RequireReclaimed(t, p).Exhausted)
		})
	}
}

// The value of a slot's last life is handed over whole, although the slot is
// retired at once. Moved out after the retirement it would be lost.
func TestTakeInTheLastLife(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Origin: testkit.LastGeneration, Shards: 1})
	w := p.Worker()
	defer w.Close()
	for i := range 500 {
		h, err := w.Insert(i + 1)
		require.NoError(t, err)
		v, ok := w.Take(h)
		require.True(t, ok)
		require.Equal(t, i+1, v, "Worker.Take(%v)", h)

		v, ok = p.Take(testkit.MustInsert(t, p, i+1))
		require.True(t, ok)
		require.Equal(t, i+1, v)
	}
}

// A pool without a Capacity takes new slots for those that are exhausted.
func TestExhaustedSlotsAreReplaced(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := testkit.Tiny(t, &pool.Options[int]{Origin: testkit.LastGeneration - 2, Shards: 1, Reuse: reuse})
		for i := range 1000 {
			require.True(t, p.Remove(testkit.MustInsert(t, p, i)))
		}
		require.Greater(t, testkit.RequireReclaimed(t, p).Exhausted, 400)
	}
}
