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
