package dense_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// The benchmarks compare the store with baselines on the same work in one run. Rounds of
// the two alternate, so that other load hits both alike, and the ratio is the median over
// the rounds.
//
//	go test -run xxx -bench . -benchtime 1x ./pool/dense
//
// prints, for each pair, ns/op of the store, base-ns/op of the baseline, and their ratio:
// below 1 the store is faster.

// size returns how many values the large benchmarks have.
func size() int {
	if testing.Short() {
		return 10_000
	}
	return 1_000_000
}

type work = testkit.Work

var (
	on     = testkit.On
	versus = testkit.Versus
)

// small is the value of most benchmarks: 16 bytes without pointers.
type small = plain

// large has 128 bytes.
type large [8]small

var sink atomic.Uint64

// BenchmarkIterate sums a field over all values of a store in which values have died, and
// over a plain slice.
func BenchmarkIterate(b *testing.B) {
	for _, n := range []int{10_000, size()} {
		b.Run(fmt.Sprintf("values=%d", n), func(b *testing.B) { benchmarkIterate(b, n) })
	}
}

func benchmarkIterate(b *testing.B, n int) {
	s := dense.Must[small](nil)
	for i := range n + n/10 {
		_, _ = s.Create(small{uint64(i), 1})
	}
	s.Refresh()
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(s.Len())[:n/10] {
		s.Kill(s.Handles()[i])
	}
	s.Refresh()
	plain := slices.Clone(s.Values())
	sum := func(values []small) {
		var sum uint64
		for i := range values {
			sum += values[i].Twice
		}
		sink.Add(sum)
	}
	b.Run("impl=values/base=slice", func(b *testing.B) {
		for b.Loop() {
			testkit.Compare(b, 301, float64(n), func() float64 { return testkit.Timed(func() { sum(s.Values()) }) }, func() float64 { return testkit.Timed(func() { sum(plain) }) })
		}
	})
	b.Run("impl=all/base=slice", func(b *testing.B) {
		for b.Loop() {
			testkit.Compare(b, 301, float64(n), func() float64 {
				return testkit.Timed(func() {
					var sum uint64
					for _, v := range s.All() {
						sum += v.Twice
					}
					sink.Add(sum)
				})
			}, func() float64 { return testkit.Timed(func() { sum(plain) }) })
		}
	})
}

// refresher is a store with the steps of a round of BenchmarkRefresh.
type refresher struct {
	prepare func(dead []int) // kills what lies at these positions
	refresh func()
	refill  func(n int) // creates n values
}

func denseRefresher[T any](n int, opts *dense.Options[T]) refresher {
	s := dense.Must(opts)
	s.Reserve(n + n/4)
	var v T
	fill := func(n int) {
		for range n {
			_, _ = s.Create(v)
		}
		s.Refresh()
	}
	fill(n)
	return refresher{
		prepare: func(dead []int) {
			hs := s.Handles()
			for _, i := range dead {
				s.Kill(hs[i])
			}
		},
		refresh: func() { s.Refresh() },
		refill:  fill,
	}
}

func plainRefresher[T any](n int, refresh func(*plainStore[T])) refresher {
	s := new(plainStore[T])
	var v T
	fill := func(n int) {
		for range n {
			s.Create(v)
		}
	}
	fill(n)
	return refresher{
		prepare: func(dead []int) {
			for _, i := range dead {
				s.Kill(s.names[i])
			}
		},
		refresh: func() { refresh(s) },
		refill:  fill,
	}
}

func sortedRefresher[T any](n int) refresher {
	s := new(sortedStore[T])
	var v T
	fill := func(n int) {
		for range n {
			var i uint32
			if k := len(s.free); k > 0 {
				i = s.free[k-1]
				s.free = s.free[:k-1]
			} else {
				i = uint32(len(s.entries))
				s.entries = append(s.entries, entry{})
			}
			s.entries[i].generation++
			s.entries[i].at = uint32(len(s.atoms))
			s.atoms = append(s.atoms, atom[T]{value: v, name: name{i, s.entries[i].generation}})
		}
	}
	fill(n)
	return refresher{
		prepare: func(dead []int) {
			for _, i := range dead {
				s.atoms[i].dead = true
			}
		},
		refresh: s.refresh,
		refill:  fill,
	}
}

// BenchmarkRefresh kills a random share of the values and measures the Refresh alone.
// Each value of the store counts as an operation.
func BenchmarkRefresh(b *testing.B) {
	b.Run("size=16", benchmarkRefresh[small])
	if !testing.Short() {
		b.Run("size=128", benchmarkRefresh[large])
	}
}

func benchmarkRefresh[T any](b *testing.B) {
	n := size()
	pairs := []struct {
		name          string
		subject, base func() refresher
		rounds        int
	}{
		{"impl=ordered/base=pass", func() refresher { return denseRefresher[T](n, nil) },
			func() refresher { return plainRefresher(n, (*plainStore[T]).compact) }, 21},
		{"impl=unordered/base=pass", func() refresher { return denseRefresher(n, &dense.Options[T]{Unordered: true}) },
			func() refresher { return plainRefresher(n, (*plainStore[T]).swapOut) }, 21},
		{"impl=ordered/base=sort", func() refresher { return denseRefresher[T](n, nil) },
			func() refresher { return sortedRefresher[T](n) }, 5},
	}
	for _, pair := range pairs {
		for _, share := range []float64{0.0001, 0.01, 0.1, 0.5, 0.99} {
			b.Run(fmt.Sprintf("%s/dead=%v%%", pair.name, share*100), func(b *testing.B) {
				for b.Loop() {
					rnd := rand.New(rand.NewPCG(1, 1))
					subject, base := pair.subject(), pair.base()
					dead := int(float64(n) * share)
					round := func(r refresher, perm []int) float64 {
						r.prepare(perm[:dead])
						took := testkit.Timed(r.refresh)
						r.refill(dead)
						return took
					}
					var perm []int
					next := func() { perm = rnd.Perm(n) }
					next()
					round(subject, perm)
					round(base, perm)
					runtime.GC()
					testkit.Compare(b, pair.rounds, float64(n),
						func() float64 { next(); return round(subject, perm) },
						func() float64 { return round(base, perm) })
				}
			})
		}
	}
}

// BenchmarkGet looks random values up.
func BenchmarkGet(b *testing.B) {
	for _, n := range []int{10_000, size()} {
		s, plain := dense.Must[small](nil), new(plainStore[small])
		order := rand.New(rand.NewPCG(1, 1)).Perm(n)
		hs, names := make([]pool.Handle[small], n), make([]name, n)
		for _, i := range order {
			hs[i], _ = s.Create(small{uint64(i), 1})
			names[i] = plain.Create(small{uint64(i), 1})
		}
		s.Refresh()
		rw := &rwMutexStore[small]{plainStore: *plain}
		get := func(n int) {
			var sum uint64
			for i := range n {
				if v, ok := s.Get(hs[i%len(hs)]); ok {
					sum += v.Twice
				}
			}
			sink.Add(sum)
		}
		b.Run(fmt.Sprintf("impl=dense/base=plain/live=%d", n), func(b *testing.B) {
			versus(b, get, func(n int) {
				var sum uint64
				for i := range n {
					if v, ok := plain.Get(names[i%len(names)]); ok {
						sum += v.Twice
					}
				}
				sink.Add(sum)
			})
		})
		for _, g := range []int{1, 2} {
			b.Run(fmt.Sprintf("impl=dense/base=rwmutex/live=%d/goroutines=%d", n, g), func(b *testing.B) {
				versus(b, on(g, func() work { return get }), on(g, func() work {
					return func(n int) {
						var sum uint64
						for i := range n {
							if v, ok := rw.Get(names[i%len(names)]); ok {
								sum += v.Twice
							}
						}
						sink.Add(sum)
					}
				}))
			})
		}
	}
}

// BenchmarkCreateKill creates 10,000 values a goroutine and kills them again. Starting
// the goroutines and the Refresh that follows are part of the work.
func BenchmarkCreateKill(b *testing.B) {
	for _, g := range []int{1, 2} {
		b.Run(fmt.Sprintf("impl=dense/base=mutex/goroutines=%d", g), func(b *testing.B) {
			s, m := dense.Must[small](nil), new(mutexStore[small])
			versus(b, phases(g, func(v small) pool.Handle[small] { h, _ := s.Create(v); return h }, s.Kill, func() { s.Refresh() }),
				phases(g, m.Create, m.Kill, m.compact))
		})
	}
}

// phases is the work of BenchmarkCreateKill. Each goroutine counts an operation a value.
func phases[H any](g int, create func(small) H, kill func(H) bool, end func()) work {
	const batch = 10_000
	names := make([][batch]H, g)
	return func(n int) {
		for ; n > 0; n -= batch {
			k := min(n, batch)
			var wg sync.WaitGroup
			for own := range names {
				wg.Add(1)
				go func() {
					defer wg.Done()
					hs := names[own][:k]
					for i := range hs {
						hs[i] = create(small{uint64(i), 1})
					}
					for _, h := range hs {
						kill(h)
					}
				}()
			}
			wg.Wait()
			end()
		}
	}
}
