package ordinary_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/inside"
	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// At most 4,096 slots are in a Worker's reach, a sixteenth of a small Capacity,
// and none under FIFO, whatever it did; Flush gives them all back.
func TestWorkersReachIsBounded(t *testing.T) {
	rnd := testkit.Rand(t)
	for _, c := range []struct {
		opts pool.Options[int]
		most int
	}{
		{pool.Options[int]{Shards: 1}, 4096},
		{pool.Options[int]{Shards: 3}, 4096},
		{pool.Options[int]{Shards: 1, Capacity: 100_000}, 4096},
		{pool.Options[int]{Shards: 1, Capacity: 1000}, 125},
		{pool.Options[int]{Shards: 1, Capacity: 200}, 25},
		{pool.Options[int]{Shards: 1, Capacity: 4}, 1},
		{pool.Options[int]{Shards: 1, Reuse: pool.FIFO}, 0},
		{pool.Options[int]{Shards: 1, Reset: func(*int) {}}, 128},
		{pool.Options[int]{Shards: 1, Origin: testkit.LastGeneration - 20}, 4096},
	} {
		p := testkit.Tiny(t, &c.opts)
		w := p.Worker()
		greatest := 0
		check := func(what string) {
			if rnd.IntN(8) > 0 {
				return
			}
			if n := p.Stats().Cached; n > c.most {
				t.Fatalf("%d slots cached after %s, want at most %d: %+v", n, what, c.most, c.opts)
			} else {
				greatest = max(greatest, n)
			}
		}
		live := 600
		if c.opts.Capacity > 0 {
			live = min(live, c.opts.Capacity/2)
		}
		var hs []pool.Handle[int]
		for len(hs) < live {
			hs = append(hs, testkit.MustInsert(t, p, 1))
		}
		check("nothing")
		for range testkit.Long(300) {
			// Runs of one operation reach the bounds.
			switch n := rnd.IntN(150); rnd.IntN(6) {
			case 0, 1:
				for ; n > 0 && len(hs) < 2*live; n-- {
					if h, err := w.Insert(1); err == nil {
						hs = append(hs, h)
					}
					check("Worker.Insert")
				}
			case 2, 3:
				for ; n > 0 && len(hs) > 0; n-- {
					require.True(t, w.Remove(hs[len(hs)-1]))
					hs = hs[:len(hs)-1]
					check("Worker.Remove")
				}
			case 4:
				for ; n > 0 && len(hs) < 2*live; n-- {
					if h, err := p.Insert(1); err == nil {
						hs = append(hs, h)
					}
				}
			case 5:
				if n%10 == 0 {
					w.Flush()
					require.Zero(t, p.Stats().Cached)
				}
			}
		}
		// A run of removals that is long enough, whatever the program was.
		for len(hs) < live {
			h, err := p.Insert(1)
			require.NoError(t, err)
			hs = append(hs, h)
		}
		for _, h := range hs {
			require.True(t, w.Remove(h))
			check("the last Worker.Remove")
		}
		if c.most > 4 && c.opts.Origin == 0 && c.opts.Reset == nil {
			require.Greaterf(t, greatest, min(c.most, 128)/3, "the Worker kept nearly nothing: %+v", c.opts)
		}
		w.Close()
		testkit.RequireReclaimed(t, p)
	}
}

// A Worker's reach grows to the slots that it uses, and shrinks when it uses fewer. A Worker
// that only removes, or whose slots wait for a guard, keeps no more than at first.
func TestWorkersReachFollowsItsUse(t *testing.T) {
	const burst = 1000
	p := pool.Must(&pool.Options[int]{Shards: 1})
	w := p.Worker()
	defer w.Close()
	var hs []pool.Handle[int]
	bursts := func(rounds, n int) {
		for range rounds {
			for i := range n {
				h, err := w.Insert(i)
				require.NoError(t, err)
				hs = append(hs, h)
			}
			for _, h := range hs {
				require.True(t, w.Remove(h))
			}
			hs = hs[:0]
		}
	}
	cached := func() int { return p.Stats().Cached }
	bursts(2, 20)
	require.LessOrEqual(t, cached(), 128)
	bursts(8, burst)
	require.GreaterOrEqual(t, cached(), burst)
	require.LessOrEqual(t, cached(), 4096)
	bursts(40_000, 1)
	require.LessOrEqual(t, cached(), 512, "one value at a time goes round")

	bursts(8, burst)
	w.Flush()
	require.Zero(t, cached())
	for range 10 {
		for _, h := range testkit.Fill(t, p, burst, testkit.Number) {
			require.True(t, w.Remove(h))
		}
		require.LessOrEqual(t, cached(), 128, "it only removes")
	}

	w.Flush()
	g := p.Pin()
	bursts(10, burst)
	require.LessOrEqual(t, cached(), 128, "nothing goes round")
	g.Unpin()
	bursts(8, 100*burst)
	require.LessOrEqual(t, cached(), 4096)
}

// Two bags and slots that were never used make the greatest reach of a new Worker.
func TestWorkersReachCountsUnusedSlots(t *testing.T) {
	for before := 0; before < 70; before += 1 + before%3 {
		p := pool.Must(&pool.Options[int]{Shards: 1})
		w := p.Worker()
		hs := testkit.Fill(t, p, 64*3+before, testkit.Number)
		_, err := w.Insert(1)
		require.NoError(t, err)
		for _, h := range hs {
			require.True(t, w.Remove(h))
			require.LessOrEqual(t, p.Stats().Cached, 128)
		}
		w.Close()
		testkit.RequireReclaimed(t, p)
	}
}

// After Flush a Worker keeps no pointer to a slot, so that Trim can give back the
// memory of all that was in its reach.
func TestFlushKeepsNoSlot(t *testing.T) {
	p := pool.Must[int](nil)
	w := p.Worker()
	defer w.Close()
	var hs []pool.Handle[int]
	for i := range 1000 {
		h, err := w.Insert(i)
		require.NoError(t, err)
		hs = append(hs, h)
	}
	for _, h := range hs {
		require.True(t, w.Remove(h))
	}
	require.Positive(t, inside.Kept(w))
	w.Flush()
	require.Zero(t, inside.Kept(w))
}
