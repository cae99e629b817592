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

// If a page cannot be allocated, the insertion panics, and nothing else happens: the other
// slots stay in use, no mutex and no token stays locked, and a later insertion allocates the
// page.
func TestGrowthThatFailsLosesNothing(t *testing.T) {
	for _, reuse := range testkit.Reuses {
		o := pool.Options[bulky]{Reuse: reuse, Shards: 1, Origin: testkit.ReuseOrigin}
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
				require.True(t, p.Contains(first), "the value should be live")
				// Slots that are given back are used meanwhile.
				require.True(t, p.Remove(first), "the value should be live")
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
