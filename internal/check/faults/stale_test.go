package faults_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// The zero handle names nothing: not in an empty pool, not in one whose slot 0
// was never used (its word is zero in fresh memory), lives, or is vacant.
func TestZeroHandleIsRefused(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		for _, origin := range []uint32{0, 1} {
			p := testkit.Tiny(t, &pool.Options[int]{Reuse: reuse, Origin: origin, Shards: 1})
			testkit.RequireRefused(t, p, 0)
			p = testkit.Tiny(t, &pool.Options[int]{Reuse: reuse, Origin: origin, Shards: 1, Capacity: 9, Preallocate: true})
			testkit.RequireRefused(t, p, 0)
			hs := testkit.Fill(t, p, 9, testkit.Number)
			testkit.RequireRefused(t, p, 0)
			require.Equal(t, 9, p.RemoveBatch(hs))
			testkit.RequireRefused(t, p, 0)
			testkit.RequireReclaimed(t, p)
			testkit.RequireRefused(t, p, 0)
		}
	}
}

// states brings slots of p into every state: live, retired under
// a guard, reclaimed, reserved, and in a Worker's reach.
func states(t *testing.T, p *pool.Pool[int]) (live map[pool.Handle[int]]bool, release func()) {
	live = map[pool.Handle[int]]bool{}
	hs := testkit.Fill(t, p, 24, testkit.Number)
	for _, h := range hs[:12] {
		live[h] = true
	}
	p.RemoveBatch(hs[12:16])
	testkit.RequireReclaimed(t, p)
	h := testkit.MustInsert(t, p, 1)
	live[h] = true
	w := p.Worker()
	for range 3 {
		h, err := w.Insert(1)
		require.NoError(t, err)
		live[h] = true
	}
	w.Remove(hs[0])
	delete(live, hs[0])
	r, err := p.Reserve()
	require.NoError(t, err)
	g := p.Pin()
	p.RemoveBatch(hs[16:])
	return live, func() { w.Close(); g.Unpin(); r.Cancel() }
}

// Look-ups compare every bit of a handle, whatever state the slot is in. It catches an index
// that is not compared, a link that points to its own slot, and a vacant word with an odd
// generation.
func TestForgedHandleIsRefused(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := testkit.Tiny(t, &pool.Options[int]{Reuse: reuse, Origin: 5, Shards: 2})
		live, release := states(t, p)
		limit := uint64(p.Stats().Allocated)
		tried := 0
		try := func(word uint64) {
			h := pool.Handle[int](word)
			tried++
			if _, ok := p.Get(h); ok != live[h] || p.Contains(h) != live[h] {
				t.Fatalf("Get(%v) answers %v, live is %v", h, ok, live[h])
			}
			if live[h] {
				return
			}
			if p.Remove(h) || p.RemoveBatch([]pool.Handle[int]{h}) != 0 {
				t.Fatalf("forged %v removed something", h)
			}
			if _, ok := p.Take(h); ok {
				t.Fatalf("forged %v took something", h)
			}
		}
		for index := range limit + 4 {
			for generation := range uint64(16) { // even ones among them
				word := generation<<32 | index
				try(word)
				for bit := range 64 {
					try(word ^ 1<<bit)
				}
			}
			for _, generation := range []uint64{1 << 31, testkit.LastGeneration - 1, testkit.LastGeneration, testkit.LastGeneration + 1, math.MaxUint32} {
				try(generation<<32 | index)
			}
		}
		for _, index := range []uint64{1 << 31, 1<<32 - 1024, math.MaxUint32 - 1, math.MaxUint32} {
			for generation := range uint64(16) {
				try(generation<<32 | index)
			}
		}
		require.Greater(t, tried, 20_000)
		for h := range live {
			require.True(t, p.Remove(h))
		}
		release()
		st := testkit.RequireReclaimed(t, p)
		require.Equal(t, st.Allocated, st.Free)
	}
}

func TestForgedHandleIsRefusedByEveryVerb(t *testing.T) {
	p := testkit.Tiny(t, &pool.Options[int]{Origin: 5})
	live, release := states(t, p)
	for h := range live {
		for _, forged := range []pool.Handle[int]{h + 1<<32, h - 1<<32, h + 2<<32, h - 2<<32, h ^ 1<<63, h | math.MaxUint32, h ^ 1<<20} {
			if !live[forged] {
				testkit.RequireRefused(t, p, forged)
			}
		}
	}
	release()
}

// A handle stays stale whatever happens to its slot.
func TestStaleHandleNeverRevives(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		p := testkit.Tiny(t, &pool.Options[int]{Reuse: reuse, Shards: 2, Capacity: 6, Reset: func(*int) {}})
		var stale []pool.Handle[int]
		everSeen := map[pool.Handle[int]]bool{}
		insert := func(f func() pool.Handle[int]) pool.Handle[int] {
			h := f()
			require.Falsef(t, everSeen[h], "%v was issued twice", h)
			everSeen[h] = true
			return h
		}
		w := p.Worker()
		for round := range 60 {
			var hs []pool.Handle[int]
			for i := range 6 {
				hs = append(hs, insert(func() pool.Handle[int] {
					if i%2 == 0 {
						h, err := w.Insert(i)
						require.NoError(t, err)
						return h
					}
					return testkit.MustInsert(t, p, i)
				}))
			}
			for _, h := range stale {
				require.Falsef(t, p.Contains(h), "stale %v in round %d", h, round)
				require.Falsef(t, p.Remove(h), "stale %v in round %d", h, round)
			}
			switch round % 7 {
			case 0:
				p.Clear()
			case 1:
				for range p.Drain() {
				}
			case 2:
				p.DeleteFunc(func(pool.Handle[int], *int) bool { return true })
			case 3:
				p.RemoveBatch(hs)
			case 4:
				for _, h := range hs {
					_, ok := w.Take(h)
					require.True(t, ok)
				}
			case 5:
				for _, h := range hs {
					require.True(t, w.Remove(h))
				}
				w.Flush()
			case 6:
				for _, h := range hs {
					require.True(t, p.Remove(h))
				}
				r, err := p.Reserve()
				require.NoError(t, err)
				everSeen[r.Handle()] = true
				stale = append(stale, r.Handle())
				r.Cancel()
				testkit.Apart(func() {
					_, _ = p.InsertFunc(func(h pool.Handle[int], _ *int) {
						everSeen[h] = true
						stale = append(stale, h)
						panic("no")
					})
				})
			}
			stale = append(stale, hs...)
		}
		w.Close()
		for _, h := range stale[:12] {
			testkit.RequireRefused(t, p, h)
		}
	}
}

// Two pools of one T refuse each other's handles, though they have the same
// indices.
func TestForeignHandleIsRefused(t *testing.T) {
	a, b := pool.Must[int](nil), pool.Must[int](nil)
	hs := testkit.Fill(t, a, 100, testkit.Number)
	testkit.Fill(t, b, 100, testkit.Number)
	testkit.RequireRefused(t, b, hs[7])
	for _, h := range hs {
		require.False(t, b.Contains(h))
	}
}
