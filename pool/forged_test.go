package pool_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// siege is a pool with slots in every state, in which all that can stall does: a guard is
// pinned, and a Reset does not return, on a goroutine that has the token of its shard. A call
// that waited for anything would wait for ever.
type siege struct {
	p      *pool.Pool[int]
	w      *pool.Worker[int]
	g      pool.Guard[int]
	live   map[pool.Handle[int]]bool
	lift   func() // ends the siege
	words  []uint64
	values []int
	stats  pool.Stats
}

func newSiege(t *testing.T, reuse pool.Reuse, origin uint32) *siege {
	t.Helper()
	const mark = -1
	entered, gate, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := &siege{live: map[pool.Handle[int]]bool{}}
	s.p = tiny(t, &pool.Options[int]{Reuse: reuse, Shards: 2, Origin: origin, Reset: func(v *int) {
		if *v == mark {
			close(entered)
			<-gate
		}
		*v = 0
	}})
	hs := testkit.Fill(t, s.p, 60, testkit.Number)
	require.Equal(t, 10, s.p.RemoveBatch(hs[:10]))
	testkit.RequireReclaimed(t, s.p) // vacant in their second life
	again := testkit.Fill(t, s.p, 5, testkit.Number)
	s.w = s.p.Worker()
	for range 5 {
		h, err := s.w.Insert(3)
		require.NoError(t, err)
		again = append(again, h)
	}
	r, err := s.p.Reserve()
	require.NoError(t, err)
	require.True(t, s.p.Remove(testkit.MustInsert(t, s.p, mark)))
	go func() {
		defer close(left)
		assert.NoError(t, s.p.Synchronize(context.Background()))
	}()
	testkit.Within(t, func() { <-entered })
	s.g = s.p.Pin()
	require.Equal(t, 20, s.p.RemoveBatch(hs[10:30]))
	for _, h := range hs[30:35] {
		require.True(t, s.w.Remove(h))
	}
	for _, h := range append(hs[35:], again...) {
		s.live[h] = true
	}
	s.words, s.values = pool.Image(s.p)
	s.stats = s.p.Stats()
	require.Len(t, s.live, s.stats.Live)
	s.lift = func() {
		close(gate)
		s.g.Unpin() // Synchronize waits for it, too
		testkit.Within(t, func() { <-left })
		s.w.Close()
		r.Cancel()
		for h := range s.live {
			require.True(t, s.p.Remove(h), "%v", h)
		}
		st := testkit.RequireReclaimed(t, s.p)
		require.Equal(t, st.Allocated, st.Free+st.Exhausted)
	}
	return s
}

// unharmed requires that nothing was written after the siege began.
func (s *siege) unharmed(t *testing.T) {
	t.Helper()
	words, values := pool.Image(s.p)
	require.Equal(t, s.words, words)
	require.Equal(t, s.values, values)
	require.Equal(t, s.stats, s.p.Stats())
}

// readers are the verbs that look a handle up, without an allocation of their own. Each
// reports whether there was a value.
func (s *siege) readers() map[string]func(h pool.Handle[int]) bool {
	nothing := func(*int) {}
	return map[string]func(h pool.Handle[int]) bool{
		"Contains":  func(h pool.Handle[int]) bool { return s.p.Contains(h) },
		"Get":       func(h pool.Handle[int]) bool { _, ok := s.p.Get(h); return ok },
		"View":      func(h pool.Handle[int]) bool { return s.p.View(h, nothing) },
		"Ptr.Live":  func(h pool.Handle[int]) bool { return s.p.Ptr(h).Live() },
		"Ptr.Get":   func(h pool.Handle[int]) bool { _, ok := s.p.Ptr(h).Get(); return ok },
		"Ptr.Under": func(h pool.Handle[int]) bool { v, ok := s.p.Ptr(h).Under(&s.g); return ok || v != nil },
		"Ptr.View":  func(h pool.Handle[int]) bool { return s.p.Ptr(h).View(nothing) },
		"Guard.Get": func(h pool.Handle[int]) bool { v, ok := s.g.Get(h); return ok || v != nil },
	}
}

// removers are the same for verbs that remove, and Hold, which writes if it succeeds.
func (s *siege) removers() map[string]func(h pool.Handle[int]) bool {
	one := make([]pool.Handle[int], 1)
	return map[string]func(h pool.Handle[int]) bool{
		"Hold":          func(h pool.Handle[int]) bool { _, ok := s.p.Hold(h); return ok },
		"Remove":        func(h pool.Handle[int]) bool { return s.p.Remove(h) },
		"Take":          func(h pool.Handle[int]) bool { v, ok := s.p.Take(h); return ok || v != 0 },
		"RemoveBatch":   func(h pool.Handle[int]) bool { one[0] = h; return s.p.RemoveBatch(one) != 0 },
		"Ptr.Remove":    func(h pool.Handle[int]) bool { return s.p.Ptr(h).Remove() },
		"Worker.Remove": func(h pool.Handle[int]) bool { return s.w.Remove(h) },
		"Worker.Take":   func(h pool.Handle[int]) bool { v, ok := s.w.Take(h); return ok || v != 0 },
	}
}

// origins are first generations: the least, one in the middle, and one whose
// slots have two lives, so that Spent is among the words.
var origins = []uint32{1, 0x5A5A5A5B, testkit.LastGeneration - 2}

// Every bit of every live handle is flipped, and every pair of bits, whatever
// states the other slots are in. A comparison that leaves out a bit would accept one.
func TestBitFlipsOfLiveHandlesMiss(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		for _, origin := range origins {
			s := newSiege(t, reuse, origin)
			testkit.Within(t, func() {
				readers, removers := s.readers(), s.removers()
				try := func(forged pool.Handle[int]) {
					for name, read := range readers {
						if read(forged) != s.live[forged] {
							t.Fatalf("%s(%v) hits: %v", name, forged, !s.live[forged])
						}
					}
					if s.live[forged] {
						return // the same generation of another slot
					}
					for name, remove := range removers {
						if remove(forged) {
							t.Fatalf("%s(%v) hits", name, forged)
						}
					}
				}
				pairs := !testing.Short()
				for h := range s.live {
					require.True(t, s.p.Contains(h))
					for i := range 64 {
						try(h ^ 1<<i)
						for j := 0; pairs && j < i; j++ {
							try(h ^ 1<<i ^ 1<<j)
						}
					}
					pairs = pairs && testkit.Full() // of one handle usually
				}
				s.unharmed(t)
			})
			s.lift()
		}
	}
}

func TestForgedHandlesAllocateNothing(t *testing.T) {
	if testkit.Watched {
		t.Skip("the race detector allocates")
	}
	for _, reuse := range testkit.Reuses {
		s := newSiege(t, reuse, 7)
		var forged []pool.Handle[int]
		for h := range s.live {
			forged = append(forged, h^1<<33, h^1<<32, h^1<<63, h|math.MaxUint32, ^h)
		}
		forged = append(forged, 0, 1, math.MaxUint64, testkit.LastGeneration<<32)
		verbs := s.readers()
		for name, remove := range s.removers() {
			verbs[name] = remove
		}
		for name, verb := range verbs {
			hits := 0
			allocs := testing.AllocsPerRun(20, func() {
				for _, h := range forged {
					if verb(h) {
						hits++
					}
				}
			})
			assert.Zero(t, allocs, name)
			assert.Zero(t, hits, name)
		}
		s.unharmed(t)
		s.lift()
	}
}

// A pool of two or three slots with a few lives each lives through all of them.
// At each step the test passes it every handle that was, is or could be issued, and all
// handles near them. A map knows which one is live. Any error in a word, a link or a
// generation shows here.
func TestEveryHandleOfATinyLayout(t *testing.T) {
	rnd := testkit.Rand(t)
	for _, o := range []pool.Options[int]{
		{Capacity: 2, Shards: 1}, {Capacity: 3, Shards: 1}, {Capacity: 5, Shards: 2},
		{Capacity: 2, Shards: 1, Reuse: pool.FIFO}, {Capacity: 3, Shards: 1, Reuse: pool.FIFO},
		{Capacity: 64, Shards: 1}, // the least that lets a Worker keep slots
	} {
		for _, lives := range []uint32{1, 2, 5} {
			if o.Capacity == 64 && lives == 5 && testkit.Watched {
				continue
			}
			o.Origin = testkit.LastGeneration - 2*(lives-1)
			p := tiny(t, &o)
			w := p.Worker()
			live := map[pool.Handle[int]]int{}
			issued := map[pool.Handle[int]]bool{}
			tried := 0
			sweep := func() {
				before, values := pool.Image(p)
				limit := uint64(len(before))
				generations := []uint64{0, 1, 2, 3, 1<<31 - 1, 1 << 31}
				for g := uint64(o.Origin) - 3; g <= math.MaxUint32; g++ {
					generations = append(generations, g)
				}
				for _, g := range generations {
					for index := range limit + 3 {
						if index >= limit {
							index = math.MaxUint32 - (index - limit) // None among them
						}
						h := pool.Handle[int](g<<32 | index)
						want, ok := live[h]
						got, is := p.Get(h)
						if is != ok || got != want || p.Contains(h) != ok {
							t.Fatalf("Get(%v) returns %d, %v; want %d, %v", h, got, is, want, ok)
						}
						tried++
						if ok {
							continue
						}
						if v, is := p.Take(h); is || v != 0 {
							t.Fatalf("forged %v took %d", h, v)
						}
						if p.Remove(h) || w.Remove(h) || p.RemoveBatch([]pool.Handle[int]{h}) != 0 {
							t.Fatalf("forged %v removed something", h)
						}
					}
				}
				after, valuesAfter := pool.Image(p)
				require.Equal(t, before, after)
				require.Equal(t, values, valuesAfter)
			}
			for next := 1; ; next++ {
				insert := p.Insert
				if next%2 == 0 {
					insert = w.Insert
				}
				h, err := insert(next)
				if err == nil {
					require.Falsef(t, issued[h], "%v was issued twice", h)
					issued[h] = true
					live[h] = next
				} else if len(live) == 0 && errors.Is(err, pool.ErrExhausted) {
					break
				}
				sweep()
				for h := range live {
					if err != nil || rnd.IntN(3) == 0 {
						require.True(t, p.Remove(h))
						delete(live, h)
					}
				}
			}
			sweep()
			w.Close()
			testkit.RequireReclaimed(t, p)
			if o.Reuse == pool.LIFO { // FIFO keeps some back
				require.Len(t, issued, o.Capacity*int(lives))
			}
			require.Greater(t, tried, 100)
		}
	}
}

// The zero handle names nothing: not in an empty pool, not in one whose slot 0
// was never used (its word is zero in fresh memory), lives, or is vacant.
func TestZeroHandleIsRefused(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		for _, origin := range []uint32{0, 1} {
			p := tiny(t, &pool.Options[int]{Reuse: reuse, Origin: origin, Shards: 1})
			requireRefused(t, p, 0)
			p = tiny(t, &pool.Options[int]{Reuse: reuse, Origin: origin, Shards: 1, Capacity: 9, Preallocate: true})
			requireRefused(t, p, 0)
			hs := testkit.Fill(t, p, 9, testkit.Number)
			requireRefused(t, p, 0)
			require.Equal(t, 9, p.RemoveBatch(hs))
			requireRefused(t, p, 0)
			testkit.RequireReclaimed(t, p)
			requireRefused(t, p, 0)
		}
	}
}

// Two pools of one T refuse each other's handles, though they have the same
// indices.
func TestForeignHandleIsRefused(t *testing.T) {
	a, b := pool.Must[int](nil), pool.Must[int](nil)
	hs := testkit.Fill(t, a, 100, testkit.Number)
	testkit.Fill(t, b, 100, testkit.Number)
	requireRefused(t, b, hs[7])
	for _, h := range hs {
		require.False(t, b.Contains(h))
	}
}
