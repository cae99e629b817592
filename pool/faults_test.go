package pool_test

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/epoch"
	"coatcheck/internal/check/testkit"
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// A loop removes, and is left by a panic or Goexit in the middle. Its pin is back. What it
// removed until then stays removed, also what was in a chain not yet retired, and nothing else.
func TestLeavingMidwayKeepsWhatWasRemoved(t *testing.T) {
	const capacity = 200
	for _, leave := range []func(){runtime.Goexit, func() { panic("meant") }} {
		for _, after := range []int{1, 64, 65, capacity} {
			for way, loop := range map[string]func(p *pool.Pool[int], visit func(pool.Handle[int])) error{
				"DeleteFunc": func(p *pool.Pool[int], visit func(pool.Handle[int])) error {
					p.DeleteFunc(func(h pool.Handle[int], _ *int) bool { visit(h); return true })
					return nil
				},
				"Drain": func(p *pool.Pool[int], visit func(pool.Handle[int])) error {
					for h := range p.Drain() {
						visit(h)
					}
					return nil
				},
				"Each": func(p *pool.Pool[int], visit func(pool.Handle[int])) error {
					return p.Each(context.Background(), 1, func(h pool.Handle[int], _ *int) error { p.Remove(h); visit(h); return nil })
				},
			} {
				p := tiny(t, &pool.Options[int]{Capacity: capacity, Shards: 2})
				hs := testkit.Fill(t, p, capacity, testkit.Number)
				gone := map[pool.Handle[int]]bool{}
				testkit.Apart(func() {
					_ = loop(p, func(h pool.Handle[int]) {
						if way == "DeleteFunc" && len(gone)+1 == after {
							leave() // h stays
						}
						if gone[h] = true; len(gone) == after {
							leave()
						}
					})
				})
				what := fmt.Sprintf("%s left after %d", way, after)
				for _, h := range hs {
					require.Equal(t, !gone[h], p.Contains(h), what)
				}
				require.Zero(t, p.Stats().Pinned, what)
				require.Equal(t, capacity-len(gone), testkit.RequireReclaimed(t, p).Live, what)
				testkit.Fill(t, p, len(gone), testkit.Number)
			}
		}
	}
}

// Copies of one guard are unpinned at once. An Unpin that comes after another panics;
// two at the same moment may both pass (DESIGN.md, Stores). The pin ends once, and no later
// pin ends with it.
func TestRacingUnpinsOfCopiesEndOnePin(t *testing.T) {
	const copies = 4
	p := pool.Must[int](nil)
	for range testkit.Long(2000) {
		g := p.Pin()
		var ended atomic.Int64
		var racing, all sync.WaitGroup
		racing.Add(copies)
		all.Add(copies)
		for range copies {
			var c pool.Guard[int]
			copyGuard(&c, &g)
			go func() {
				defer all.Done()
				v := testkit.Recovered(c.Unpin)
				if v == nil {
					ended.Inc()
				} else if text, _ := v.(string); !strings.HasPrefix(text, "pool: Unpin of a guard that is not pinned (unpinned before, through a copy, or a zero Guard)") {
					t.Errorf("panic %v", v)
				}
				racing.Done()
				racing.Wait() // a pin that begins while copies race may be ended by one
				other := p.Pin()
				runtime.Gosched()
				if v := testkit.Recovered(other.Unpin); v != nil {
					t.Errorf("a copy ended another's pin: %v", v)
				}
			}()
		}
		all.Wait()
		require.Positive(t, ended.Load())
		require.NotNil(t, testkit.Recovered(g.Unpin), "the guard itself comes last")
		require.Zero(t, p.Stats().Pinned)
	}
}

// At the last epoch a guard delays everything that is removed, for the epoch cannot
// tell any more what was removed before it was pinned. While none is pinned, nothing
// changes.
func TestEpochAtItsLimitReusesNothingUnderAGuard(t *testing.T) {
	for _, o := range []pool.Options[int]{{Capacity: 150, Shards: 2}, {Capacity: 150, Shards: 2, Reuse: pool.FIFO}, {MaxLimbo: 200, Shards: 2}} {
		p := tiny(t, &o)
		w := p.Worker()
		for _, via := range []verbs.Shared[int]{p, w} {
			live := testkit.MustInsert(t, p, 7)
			pool.SetEpoch(p, epoch.Limit)
			seen := map[uint32]bool{}
			again := func() error {
				h, err := via.Insert(1)
				if err == nil {
					require.True(t, via.Remove(h))
					require.False(t, p.Stats().Pinned > 0 && seen[h.Index()], "%v: its slot was removed under the guard", h)
					seen[h.Index()] = true
				}
				return err
			}
			for range 500 {
				require.NoError(t, again())
			}
			clear(seen)
			g := p.Pin()
			for again() == nil {
			}
			require.ErrorIs(t, again(), pool.ErrStalled)
			require.Greater(t, len(seen), 32)
			st := testkit.RequireConserved(t, p)
			require.EqualValues(t, uint64(epoch.Limit), st.Epoch)
			require.Zero(t, st.OldestPin)
			v, ok := g.Get(live)
			require.True(t, ok && *v == 7)
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			require.ErrorIs(t, p.Synchronize(ctx), context.DeadlineExceeded)
			cancel()
			g.Unpin()
			for range 500 {
				require.NoError(t, again())
			}
			require.Equal(t, 1, p.Clear())
			w.Flush()
			require.NoError(t, p.Synchronize(t.Context()))
			require.EqualValues(t, uint64(epoch.Limit), p.Stats().Epoch)
		}
		w.Close()
	}
}

// Every bit of live handles is flipped, and every pair of bits, in pools to which drawn operations
// have led. A comparison that leaves out a bit would accept one. Nothing is written.
func TestBitFlipsOfLiveHandlesMiss(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // see fuzzRawHandles
	rnd := testkit.Rand(t)
	flipped := 0
	for _, o := range rawConfigs(resetPlain) {
		mc := newMachine(t, plainKind, o, rnd.IntN)
		for range 60 {
			mc.step()
			mc.watch()
		}
		for h := range mc.live {
			for i := range 64 {
				mc.refuse(rnd.IntN(64), h^1<<i)
				for j := 0; j < i && flipped%8 == 0; j++ {
					mc.refuse(rnd.IntN(64), h^1<<i^1<<j)
				}
			}
			flipped++
			break // the first in a random order
		}
		mc.runAll(func() bool { return false })
	}
	require.Greater(t, flipped, 10)
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

// If a page cannot be allocated, the insertion panics, and nothing else happens: the other
// slots stay in use, no mutex and no token stays locked, and a later insertion allocates the
// page.
func TestGrowthThatFailsLosesNothing(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		o := pool.Options[bulky]{Reuse: reuse, Shards: 1}
		for verb, use := range map[string]func(p *pool.Pool[bulky], w *pool.Worker[bulky]) error{
			"Insert":            func(p *pool.Pool[bulky], _ *pool.Worker[bulky]) error { _, err := p.Insert(bulky{1}); return err },
			"InsertFunc":        func(p *pool.Pool[bulky], _ *pool.Worker[bulky]) error { _, err := p.InsertFunc(setBulky); return err },
			"Worker.Insert":     func(_ *pool.Pool[bulky], w *pool.Worker[bulky]) error { _, err := w.Insert(bulky{1}); return err },
			"Worker.InsertFunc": func(_ *pool.Pool[bulky], w *pool.Worker[bulky]) error { _, err := w.InsertFunc(setBulky); return err },
			"Reserve": func(p *pool.Pool[bulky], _ *pool.Worker[bulky]) error {
				r, err := p.Reserve()
				if err == nil {
					*r.Value() = bulky{1}
					r.Commit()
				}
				return err
			},
		} {
			t.Run(testkit.NameOf(reuse)+" "+verb, func(t *testing.T) {
				p, err := pool.NewTiny(&o, 2)
				require.NoError(t, err)
				w := p.Worker()
				first := testkit.MustInsert(t, p, bulky{9})
				restore := pool.FailGrowth(p)
				failed := func() bool {
					v := testkit.Recovered(func() { assert.NoError(t, use(p, w)) })
					if v == nil {
						return false
					}
					err, ok := v.(runtime.Error)
					require.Truef(t, ok, "panic %v", v)
					require.ErrorContains(t, err, "makeslice")
					return true
				}
				testkit.Within(t, func() {
					for n := 0; !failed(); n++ {
						require.Less(t, n, 8, "it does not fail: this test tests nothing")
					}
					require.True(t, failed(), "again")
				})
				testkit.Within(t, func() {
					testkit.Together(3, func(int) {
						assert.NotNil(t, testkit.Recovered(func() { _, _ = p.InsertFunc(setBulky) }), "there was room")
					})
				})
				testkit.RequireConserved(t, p)
				live := p.Len()
				require.Positive(t, live)
				require.True(t, p.Contains(first))
				// Slots that are given back are used meanwhile.
				require.True(t, p.Remove(first))
				require.NoError(t, p.Synchronize(context.Background()))
				_, err = p.InsertFunc(setBulky)
				require.NoError(t, err)

				restore()
				for range 6 {
					require.False(t, failed(), "there is memory again")
				}
				require.GreaterOrEqual(t, p.Len(), live+6)
				w.Close()
				p.Clear()
				st := testkit.RequireReclaimed(t, p)
				require.Equal(t, st.Allocated, st.Free)
			})
		}
	}
}

func setBulky(_ pool.Handle[bulky], v *bulky) { v[0] = 1 }
