package pool_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// chained has its own handle, in each part of a value that is longer than a word, and another's.
type chained struct {
	self [4]pool.Handle[chained]
	mark uint64
	to   pool.Handle[chained]
	was  uint64 // the mark of what to named
}

// While other goroutines insert and remove, clones have values of one life each, and no handle in a value names
// another value there than it named in the original.
func TestClonesBesideWriters(t *testing.T) {
	for _, o := range []pool.Options[chained]{{}, {Shards: 2, Capacity: 300}, {Origin: 1, Shards: 1}, {Reuse: pool.FIFO, Capacity: 300, Shards: 1}} {
		for _, copyValue := range []func(dst, src *chained){nil, func(dst, src *chained) { *dst = *src }} {
			t.Run(describe(&o), func(t *testing.T) {
				p := tiny(t, &o)
				var stop atomic.Bool
				var marks atomic.Uint64
				var wg sync.WaitGroup
				defer func() { stop.Store(true); wg.Wait() }()
				for range 3 {
					wg.Add(1)
					go func() {
						defer wg.Done()
						link(t, p, &stop, &marks)
					}()
				}
				for marks.Load() < 1000 {
					runtime.Gosched()
				}
				for range 10 + testkit.Long(400) {
					c, err := pool.CloneTiny(p, &o, copyValue, 1)
					require.NoError(t, err)
					for h, v := range c.All() {
						require.Equal(t, [4]pool.Handle[chained]{h, h, h, h}, v.self, "a value of two lives")
						if next, ok := c.Pointer(v.to); ok {
							require.Equal(t, v.was, next.mark, "%v names another value", v.to)
						}
					}
					testkit.RequireConserved(t, c)
				}
			})
		}
	}
}

// link inserts values that name the last one, and removes some, until stop.
func link(t *testing.T, p *pool.Pool[chained], stop *atomic.Bool, marks *atomic.Uint64) {
	var hs []pool.Handle[chained]
	last, lastMark := pool.Handle[chained](0), uint64(0)
	for n := 0; !stop.Load(); n++ {
		mark := marks.Add(1)
		h, err := p.InsertFunc(func(h pool.Handle[chained], v *chained) {
			*v = chained{self: [4]pool.Handle[chained]{h, h, h, h}, mark: mark, to: last, was: lastMark}
		})
		if err == nil {
			hs = append(hs, h)
			last, lastMark = h, mark
		} else if !assert.ErrorIs(t, err, pool.ErrFull) {
			return
		}
		if len(hs) > 60 || err != nil && len(hs) > 0 {
			k := n % len(hs)
			p.Remove(hs[k])
			hs[k] = hs[len(hs)-1]
			hs = hs[:len(hs)-1]
		}
	}
}

// If the function panics or exits, the original is as it was: nothing is pinned, held or locked.
func TestCloneWhoseFunctionPanics(t *testing.T) {
	for _, o := range []pool.Options[int]{{}, {Capacity: 30}, {Origin: 1, Shards: 1}} {
		p := tiny(t, &o)
		testkit.Fill(t, p, 30, testkit.Number)
		was := contents(p)
		for _, end := range []func(){func() { panic("a bad mood") }, runtime.Goexit} {
			for last := range 30 {
				done := make(chan any, 1)
				go func() {
					defer func() { done <- recover() }()
					_, _ = p.Clone(nil, func(dst, src *int) {
						if *src == last {
							end()
						}
					})
				}()
				if v := testkit.Soon(t, done); v != nil {
					require.Equal(t, "a bad mood", v)
				}
			}
		}
		require.Equal(t, was, contents(p))
		st := testkit.RequireConserved(t, p)
		require.Zero(t, st.Pinned+st.Held)
		p.Clear()
		testkit.RequireReclaimed(t, p)
	}
}
