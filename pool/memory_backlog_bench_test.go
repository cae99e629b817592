//go:build !race

package pool_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"coatcheck/internal/check/testkit"
	"coatcheck/internal/turns"
	"coatcheck/pool"
)

// What calls cost beside many guards, and while many slots wait. Each figure should be the same for
// all numbers of its line:
//
//	go test -run '^$' -bench Backlog -benchtime 200x ./pool
//
// Most calls change what they measure, so pools are built again, at times that do not count.

// rebuilt measures an operation that a pool allows so many times. build makes the pool anew.
func rebuilt(b *testing.B, times int, build func() (op func())) {
	var op func()
	for left := 0; b.Loop(); left-- {
		if left == 0 {
			b.StopTimer()
			op, left = build(), times
			b.StartTimer()
		}
		op()
	}
}

// longest measures rounds of calls, each in a pool that build makes. It reports the longest call of
// a round as max-ns: the median over the rounds, since a call may be interrupted.
func longest(b *testing.B, calls int, build func() (op func())) {
	var all []float64
	for b.Loop() {
		b.StopTimer()
		op, most := build(), time.Duration(0)
		b.StartTimer()
		for range calls {
			start := time.Now()
			op()
			most = max(most, time.Since(start))
		}
		all = append(all, float64(most))
	}
	b.ReportMetric(turns.Median(all), "max-ns")
}

var waitings = []int{10_000, 80_000, 1_000_000}

// backlog returns a pool of which n slots were removed under a guard, which is unpinned, and extra
// values are live. It has no other slots if it has a Capacity.
func backlog(b *testing.B, o pool.Options[int], n, extra int) (p *pool.Pool[int], live []pool.Handle[int]) {
	if o.Capacity > 0 {
		o.Capacity = n + extra
	}
	p = pool.Must(&o)
	hs := testkit.Fill(b, p, n+extra, testkit.Number)
	g := p.Pin()
	p.RemoveBatch(hs[:n])
	g.Unpin()
	return p, hs[n:]
}

func succeeds(b *testing.B, ok bool) {
	if !ok {
		b.Fatal("a call failed")
	}
}

// pins pins n guards, and returns how to unpin the oldest, and all that are left.
func pins(p *pool.Pool[int], n int) (oldest, all func()) {
	gs := make([]pool.Guard[int], n)
	for i := range gs {
		gs[i] = p.Pin()
	}
	oldest = func() { gs[0].Unpin(); gs = gs[1:] }
	return oldest, func() {
		for len(gs) > 0 {
			oldest()
		}
	}
}

func zero(v *int) { *v = 0 }

// besideYoung returns a bounded pool of which n slots were removed under a guard that has ended, and
// a few more under one that stays.
func besideYoung(b *testing.B, o pool.Options[int], n int) *pool.Pool[int] {
	const few = 200
	o.Capacity = n + few
	p := pool.Must(&o)
	hs := testkit.Fill(b, p, n+few, testkit.Number)
	old := p.Pin()
	p.RemoveBatch(hs[:n])
	p.Pin() // the young one
	p.RemoveBatch(hs[n:])
	old.Unpin()
	return p
}

// BenchmarkBacklogYoungGuard is an insertion and a removal in a bounded pool, after an old guard has
// ended under which many slots were removed, while a young guard keeps a few.
func BenchmarkBacklogYoungGuard(b *testing.B) {
	const before = 4096 // those that come first may be kept apart from the others
	for _, reset := range []func(*int){nil, zero} {
		for _, n := range waitings {
			b.Run(fmt.Sprintf("Reset=%t/waiting=%d", reset != nil, n), func(b *testing.B) {
				rebuilt(b, n-before, func() func() {
					p := besideYoung(b, pool.Options[int]{Shards: 1, Reset: reset}, n)
					pair := func() { succeeds(b, p.Remove(testkit.MustInsert(b, p, 1))) }
					for range before {
						pair()
					}
					return pair
				})
			})
		}
	}
}

// BenchmarkBacklogInsert is 4,096 insertions where many slots wait whose guard has ended, with and
// without a young guard beside.
func BenchmarkBacklogInsert(b *testing.B) {
	for _, o := range []pool.Options[int]{{}, {Reset: zero}, {Reuse: pool.FIFO}} {
		for _, young := range []bool{false, true} {
			for _, n := range []int{10_000, 98_000, 200_000} {
				b.Run(fmt.Sprintf("%s/Reset=%t/young=%t/waiting=%d", testkit.NameOf(o.Reuse), o.Reset != nil, young, n), func(b *testing.B) {
					o.Capacity, o.Shards = n, 1
					longest(b, 4096, func() func() {
						var p *pool.Pool[int]
						if young {
							p = besideYoung(b, o, n)
						} else {
							p, _ = backlog(b, o, n, 0)
						}
						return func() { testkit.MustInsert(b, p, 1) }
					})
				})
			}
		}
	}
}

// BenchmarkBacklogGuardsEnd is the end of the oldest guard, and the insertion that takes the one slot
// that waited for no other.
func BenchmarkBacklogGuardsEnd(b *testing.B) {
	for _, n := range []int{64, 1024, 10_000} {
		b.Run(fmt.Sprintf("guards=%d", n), func(b *testing.B) {
			rebuilt(b, n, func() func() {
				p := pool.Must(&pool.Options[int]{Capacity: n, Shards: 1})
				var gs []*pool.Guard[int]
				for _, h := range testkit.Fill(b, p, n, testkit.Number) {
					g := p.Pin()
					gs = append(gs, &g)
					succeeds(b, p.Remove(h))
				}
				return func() {
					gs[0].Unpin()
					gs = gs[1:]
					testkit.MustInsert(b, p, 1)
				}
			})
		})
	}
}

// BenchmarkBacklogRefusal is an insertion that is refused in a pool without a Capacity, since so many
// slots wait for a guard that was forgotten.
func BenchmarkBacklogRefusal(b *testing.B) {
	for _, o := range []pool.Options[int]{{MaxLimbo: 10_000}, {MaxLimbo: 80_000}, {MaxLimbo: 1_000_000}, {}} {
		b.Run(fmt.Sprintf("MaxLimbo=%d", o.MaxLimbo), func(b *testing.B) {
			o.Shards = 1
			p := pool.Must(&o)
			g := p.Pin()
			defer g.Unpin()
			for {
				h, err := p.Insert(1)
				if err != nil {
					break
				}
				p.Remove(h)
			}
			b.ReportMetric(float64(p.Stats().Limbo), "waiting")
			for b.Loop() {
				_, err := p.Insert(1)
				succeeds(b, errors.Is(err, pool.ErrStalled))
			}
		})
	}
}

// BenchmarkBacklogRemove is 256 removals where many slots wait whose guard has ended.
func BenchmarkBacklogRemove(b *testing.B) {
	const calls = 256
	for _, o := range []pool.Options[int]{{}, {Reuse: pool.FIFO}, {Reuse: pool.FIFO, Capacity: 1}} {
		for _, n := range []int{10_000, 50_000, 200_000} {
			b.Run(fmt.Sprintf("%s/Capacity=%t/waiting=%d", testkit.NameOf(o.Reuse), o.Capacity > 0, n), func(b *testing.B) {
				o.Shards = 1
				longest(b, calls, func() func() {
					p, hs := backlog(b, o, n, calls)
					return func() {
						succeeds(b, p.Remove(hs[0]))
						hs = hs[1:]
					}
				})
			})
		}
	}
}

// BenchmarkBacklogSlowReset is 4,096 insertions while many slots wait for their Reset, and one Reset
// takes long in another goroutine. It reports the time of one as ns/slot.
func BenchmarkBacklogSlowReset(b *testing.B) {
	const slow, calls = -1, 4096
	for _, n := range waitings {
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			end := func() {}
			rebuilt(b, n/calls, func() func() {
				end()
				entered, gate, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
				p := pool.Must(&pool.Options[int]{Reset: func(v *int) {
					if *v == slow {
						close(entered)
						<-gate
					}
					*v = 0
				}})
				succeeds(b, p.Remove(testkit.MustInsert(b, p, slow)))
				go func() {
					defer close(left)
					_ = p.Synchronize(context.Background())
				}()
				<-entered
				end = func() { close(gate); <-left }
				hs := testkit.Fill(b, p, n, testkit.Number)
				g := p.Pin()
				p.RemoveBatch(hs)
				g.Unpin()
				return func() { testkit.Fill(b, p, calls, testkit.Number) }
			})
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/calls, "ns/slot")
			end()
		})
	}
}

// BenchmarkBacklogRefusalBesideGuards is an insertion that is refused in a full pool, since its slots
// wait for guards.
func BenchmarkBacklogRefusalBesideGuards(b *testing.B) {
	for _, shards := range []int{1, 64} {
		for _, n := range []int{64, 2000, 10_000} {
			b.Run(fmt.Sprintf("shards=%d/guards=%d", shards, n), func(b *testing.B) {
				p := pool.Must(&pool.Options[int]{Capacity: 1000, Shards: shards})
				hs := testkit.Fill(b, p, 1000, testkit.Number)
				_, unpin := pins(p, n)
				defer unpin()
				p.RemoveBatch(hs)
				for b.Loop() {
					_, err := p.Insert(1)
					succeeds(b, errors.Is(err, pool.ErrStalled))
				}
			})
		}
	}
}

// BenchmarkBacklogOtherShard is an insertion whose shard has a single slot, which waits for guards,
// and that finds its slot in another shard.
func BenchmarkBacklogOtherShard(b *testing.B) {
	const slots = 20_000
	for _, n := range []int{64, 1024, 10_000} {
		b.Run(fmt.Sprintf("guards=%d", n), func(b *testing.B) {
			end := func() {}
			rebuilt(b, slots, func() func() {
				end()
				p := pool.Must(&pool.Options[int]{Capacity: slots + 1, Shards: 16})
				own := testkit.MustInsert(b, p, 1)
				var hs [16][]pool.Handle[int]
				testkit.Together(len(hs), func(k int) { // each in a shard that chance chooses
					hs[k] = testkit.Fill(b, p, slots/len(hs), testkit.Number)
				})
				testkit.Together(len(hs), func(k int) { p.RemoveBatch(hs[k]) })
				testkit.RequireReclaimed(b, p)
				_, end = pins(p, n)
				succeeds(b, p.Remove(own))
				return func() { testkit.MustInsert(b, p, 1) }
			})
			end()
		})
	}
}
