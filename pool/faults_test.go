package pool_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// DeleteFunc is left by a panic or Goexit in the middle. Its pin is back. What it removed until
// then stays removed, also what was in a chain not yet retired, and nothing else.
func TestLeavingMidwayKeepsWhatWasRemoved(t *testing.T) {
	const capacity = 200
	for _, leave := range []func(){runtime.Goexit, func() { panic("meant") }} {
		for _, most := range []int{0, 63, 64, 65, capacity - 1} {
			p := tiny(t, &pool.Options[int]{Capacity: capacity, Shards: 2})
			hs := testkit.Fill(t, p, capacity, testkit.Number)
			gone := map[pool.Handle[int]]bool{}
			testkit.Apart(func() {
				p.DeleteFunc(func(h pool.Handle[int], _ *int) bool {
					if len(gone) == most {
						leave() // h stays
					}
					gone[h] = true
					return true
				})
			})
			for _, h := range hs {
				require.Equal(t, !gone[h], p.Contains(h), "left after %d", most)
			}
			require.Zero(t, p.Stats().Pinned)
			require.Equal(t, capacity-most, testkit.RequireReclaimed(t, p).Live)
			testkit.Fill(t, p, most, testkit.Number)
		}
	}
}

// Two pools of one T refuse each other's handles, though they have the same indices.
func TestForeignHandleIsRefused(t *testing.T) {
	a, b := pool.Must[int](nil), pool.Must[int](nil)
	hs := testkit.Fill(t, a, 100, testkit.Number)
	testkit.Fill(t, b, 100, testkit.Number)
	for _, h := range hs {
		require.False(t, b.Contains(h))
	}
	require.Zero(t, b.RemoveBatch(hs))
}

// If a page cannot be allocated, the insertion panics, and nothing else happens: the other
// slots stay in use, no mutex and no token stays locked, and a later insertion allocates the
// page.
func TestGrowthThatFailsLosesNothing(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		o := pool.Options[bulky]{Reuse: reuse, Shards: 1}
		for verb, insert := range inserters[bulky]() {
			t.Run(testkit.NameOf(reuse)+" "+verb, func(t *testing.T) {
				p, err := pool.NewTiny(&o, 2)
				require.NoError(t, err)
				w := p.Worker()
				first := testkit.MustInsert(t, p, bulky{9})
				restore := pool.FailGrowth(p)
				failed := func() bool {
					v := testkit.Recovered(func() {
						_, err := insert(p, w, bulky{1})
						assert.NoError(t, err)
					})
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
