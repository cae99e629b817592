package pool_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// A body without a way back to its loop keeps its pin, in every loop but that of
// Pool.All, whose documentation names the exception and sends to these. The
// bodies stand here in full, because the compiler must see that they never return
// before it drops what the code behind them would have used.
func TestPinOutlastsABodyWithoutAWayBack(t *testing.T) {
	type removed func(pool.Handle[stamp])
	type done func(*stamp) bool
	for name, loop := range map[string]func(p *pool.Pool[stamp], remove removed, look done){
		"Guard.All": func(p *pool.Pool[stamp], remove removed, look done) {
			g := p.Pin()
			defer g.Unpin()
			for h, v := range g.All() {
				remove(h)
				for {
					if look(v) {
						runtime.Goexit()
					}
				}
			}
		},
		"Guard.Pages": func(p *pool.Pool[stamp], remove removed, look done) {
			g := p.Pin()
			defer g.Unpin()
			for _, page := range g.Pages() {
				for h, v := range page {
					remove(h)
					for {
						if look(v) {
							runtime.Goexit()
						}
					}
				}
			}
		},
		"View": func(p *pool.Pool[stamp], remove removed, look done) {
			h := first(p)
			p.View(h, func(v *stamp) {
				remove(h)
				for {
					if look(v) {
						runtime.Goexit()
					}
				}
			})
		},
		"Each": func(p *pool.Pool[stamp], remove removed, look done) {
			_ = p.Each(context.Background(), 1, func(h pool.Handle[stamp], v *stamp) error {
				remove(h)
				for {
					if look(v) {
						runtime.Goexit()
					}
				}
			})
		},
		"DeleteFunc": func(p *pool.Pool[stamp], remove removed, look done) {
			p.DeleteFunc(func(h pool.Handle[stamp], v *stamp) bool {
				remove(h)
				for {
					if look(v) {
						runtime.Goexit()
					}
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := tiny(t, &pool.Options[stamp]{Shards: 1})
			mustInsert(t, p, stamp{id: 7})
			w := p.Worker()
			looks, reused := 0, false
			require.Nil(t, apart(func() {
				loop(p, func(h pool.Handle[stamp]) { p.Remove(h) }, func(v *stamp) bool {
					runtime.GC() // a finalizer may run
					churn(t, p, w, 10)
					looks++
					reused = reused || v.id != 7
					return looks == 20
				})
			}))
			require.Equal(t, 20, looks)
			require.False(t, reused)
			w.Close()
			requireReclaimed(t, p) // and the pin is back
		})
	}
}
