package pool_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// feeder keeps work coming for calls that promise to end: whenever one of them runs user code, the
// feeder removes its oldest value and inserts another one. It gives up after a number of steps, so a
// call that only the feeder's end ends does so too, and is found out.
type feeder struct {
	pool  *pool.Pool[int]
	hs    []pool.Handle[int]
	steps int
	most  int
}

// step feeds the pool, as long as the call has not gone beyond its bound.
func (f *feeder) step() {
	if f.steps++; f.steps > f.most || len(f.hs) == 0 {
		return
	}
	h := f.hs[0]
	f.hs = f.hs[1:]
	f.pool.Remove(h)
	f.insert()
}

func (f *feeder) insert() {
	if h, err := f.pool.Insert(1); err == nil {
		f.hs = append(f.hs, h)
	}
}

// fed are the calls that promise to end, whatever others do meanwhile. Those with a callback call
// step in it.
var fed = map[string]func(f *feeder){
	"Synchronize": func(f *feeder) { _ = f.pool.Synchronize(context.Background()) },
	"Trim":        func(f *feeder) { f.pool.Trim() },
	"Insert":      func(f *feeder) { f.insert() },
	"Remove": func(f *feeder) {
		for range min(64, len(f.hs)) { // of which one reclaims
			h := f.hs[0]
			f.hs = f.hs[1:]
			f.pool.Remove(h)
		}
	},
	"RemoveBatch": func(f *feeder) {
		hs := f.hs[:len(f.hs)/2]
		f.hs = f.hs[len(f.hs)/2:]
		f.pool.RemoveBatch(hs)
	},
	"Clear": func(f *feeder) { f.pool.Clear() },
	"Drain": func(f *feeder) {
		for range f.pool.Drain() {
			f.step()
		}
	},
	"DeleteFunc": func(f *feeder) {
		f.pool.DeleteFunc(func(pool.Handle[int], *int) bool {
			f.step()
			return true
		})
	},
	"All": func(f *feeder) {
		for range f.pool.All() {
			f.step()
		}
	},
	"Each": func(f *feeder) {
		_ = f.pool.Each(context.Background(), 1, func(pool.Handle[int], *int) error {
			f.step()
			return nil
		})
	},
	"WriteTo": func(f *feeder) {
		_, _ = f.pool.WriteTo(writerFunc(func(b []byte) (int, error) {
			f.step()
			return len(b), nil
		}))
	},
	"Worker": func(f *feeder) {
		w := f.pool.Worker()
		for range min(50, len(f.hs)) {
			h := f.hs[0]
			f.hs = f.hs[1:]
			w.Remove(h)
			if h, err := w.Insert(1); err == nil {
				f.hs = append(f.hs, h)
			}
		}
		w.Close()
	},
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

var _ io.Writer = writerFunc(nil)

// TestCallsEndWhileOthersGoOn: a call that promises to end does so after a bounded number of steps,
// even if each of its Resets and callbacks, and each look at its context, removes a value and inserts
// another one.
func TestCallsEndWhileOthersGoOn(t *testing.T) {
	rnd := testkit.Rand(t)
	for _, live := range []int{1, 100, 3000} {
		for _, waiting := range []int{1, 70, 200, 3000} {
			for _, o := range []pool.Options[int]{{}, {Shards: 1}, {Capacity: 2 * (live + waiting)}, {MaxLimbo: live + waiting, Shards: 2}} {
				for _, o.Reuse = range testkit.Reuses {
					for name, call := range fed {
						if testkit.Race && rnd.IntN(16) > 0 {
							continue // it has one goroutine, and without the detector all of them run
						}
						f := &feeder{most: math.MaxInt}
						o.Reset = func(*int) { f.step() }
						t.Run(fmt.Sprintf("%s/live=%d/waiting=%d/%s", name, live, waiting, describe(&o)), func(t *testing.T) {
							f.pool = pool.Must(&o)
							f.hs = testkit.Fill(t, f.pool, live, testkit.Number)
							g := f.pool.Pin()
							for range waiting {
								f.step()
							}
							g.Unpin()
							f.steps, f.most = 0, 64*(live+waiting)+20_000
							call(f)
							require.LessOrEqual(t, f.steps, f.most, "steps of the call, which ends with those alone")
						})
					}
				}
			}
		}
	}
}
