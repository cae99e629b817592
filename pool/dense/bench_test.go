package dense_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// The benchmarks put the store beside what it is measured against, on the same work, in
// one run: rounds of either alternate, so that whatever else the machine does hits both
// alike, and the ratio is the median over the rounds.
//
//	go test -run xxx -bench . -benchtime 1x ./pool/dense
//
// prints, for each pair, ns/op of the store, base-ns/op of the baseline, and their ratio:
// below 1 the store is faster.

const roundTime = 4 * time.Millisecond

// rounds is the number of rounds; -short only sees that everything runs.
func rounds(n int) int {
	if testing.Short() {
		return 1
	}
	return n
}

// size is how many values the large benchmarks have.
func size() int {
	if testing.Short() {
		return 10_000
	}
	return 1_000_000
}

// work does n operations.
type work func(n int)

// on runs the same work on g goroutines, each with its own state, and counts one
// operation for each of their n.
func on(g int, each func() work) work {
	works := make([]work, g)
	for i := range works {
		works[i] = each()
	}
	return func(n int) {
		var wg sync.WaitGroup
		for _, w := range works {
			wg.Add(1)
			go func() { defer wg.Done(); w(n) }()
		}
		wg.Wait()
	}
}

// versus measures subject against base and reports both and their ratio.
func versus(b *testing.B, subject, base work) {
	b.ReportAllocs()
	for b.Loop() {
		ns, nb := calibrate(subject), calibrate(base)
		compare(b, rounds(31), 1, func() float64 { return measure(subject, ns) }, func() float64 { return measure(base, nb) })
	}
}

// compare reports the medians of alternating rounds, in units of per operations.
func compare(b *testing.B, rounds int, per float64, subject, base func() float64) {
	subjects, bases, ratios := make([]float64, rounds), make([]float64, rounds), make([]float64, rounds)
	for i := range rounds {
		subjects[i], bases[i] = subject(), base()
		ratios[i] = subjects[i] / bases[i]
	}
	b.ReportMetric(median(subjects)/per, "ns/op")
	b.ReportMetric(median(bases)/per, "base-ns/op")
	b.ReportMetric(median(ratios), "ratio")
}

// calibrate returns how many operations make a round, after warming up.
func calibrate(w work) int {
	for n := 1; ; n *= 2 {
		if measure(w, n)*float64(n) >= float64(roundTime) {
			return n
		}
	}
}

func measure(w work, n int) float64 {
	start := time.Now()
	w(n)
	return float64(time.Since(start)) / float64(n)
}

func timed(f func()) float64 {
	start := time.Now()
	f()
	return float64(time.Since(start))
}

func median(xs []float64) float64 {
	slices.Sort(xs)
	return xs[len(xs)/2]
}

// small is the value of most benchmarks: 16 bytes without pointers.
type small struct{ id, payload uint64 }

// large has 128 bytes.
type large [8]small

var sink atomic.Uint64

// BenchmarkIterate sums a field over all values of a store that has seen deaths, and
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
			sum += values[i].payload
		}
		sink.Add(sum)
	}
	b.Run("impl=values/base=slice", func(b *testing.B) {
		for b.Loop() {
			compare(b, rounds(301), float64(n), func() float64 { return timed(func() { sum(s.Values()) }) }, func() float64 { return timed(func() { sum(plain) }) })
		}
	})
	b.Run("impl=all/base=slice", func(b *testing.B) {
		for b.Loop() {
			compare(b, rounds(301), float64(n), func() float64 {
				return timed(func() {
					var sum uint64
					for _, v := range s.All() {
						sum += v.payload
					}
					sink.Add(sum)
				})
			}, func() float64 { return timed(func() { sum(plain) }) })
		}
	})
}

// refresher is a store with what a round of BenchmarkRefresh does to it.
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

// BenchmarkRefresh kills a random share of the values and measures the Refresh alone, a
// value of the store being an operation.
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
						took := timed(r.refresh)
						r.refill(dead)
						return took
					}
					var perm []int
					next := func() { perm = rnd.Perm(n) }
					next()
					round(subject, perm)
					round(base, perm)
					runtime.GC()
					compare(b, rounds(pair.rounds), float64(n),
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
					sum += v.payload
				}
			}
			sink.Add(sum)
		}
		b.Run(fmt.Sprintf("impl=dense/base=plain/live=%d", n), func(b *testing.B) {
			versus(b, get, func(n int) {
				var sum uint64
				for i := range n {
					if v, ok := plain.Get(names[i%len(names)]); ok {
						sum += v.payload
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
								sum += v.payload
							}
						}
						sink.Add(sum)
					}
				}))
			})
		}
	}
}

// BenchmarkCreateKill creates 10,000 values a goroutine and kills them again; starting the
// goroutines and the Refresh that follows are part of the work.
func BenchmarkCreateKill(b *testing.B) {
	for _, g := range []int{1, 2} {
		b.Run(fmt.Sprintf("impl=dense/base=mutex/goroutines=%d", g), func(b *testing.B) {
			s, m := dense.Must[small](nil), new(mutexStore[small])
			versus(b, phases(g, func(v small) pool.Handle[small] { h, _ := s.Create(v); return h }, s.Kill, func() { s.Refresh() }),
				phases(g, m.Create, m.Kill, m.compact))
		})
	}
}

// phases is the work of BenchmarkCreateKill, in which each goroutine counts one operation
// for each value.
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
