//go:build !race

package dense_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool/dense"
)

// The benchmark compares the store with a baseline on the same work in one run:
//
//	go test -run '^$' -bench . -benchtime 1x ./pool/dense
//
// prints, for each pair, ns/op of the store, base-ns/op of the baseline, and their ratio:
// below 1 the store is faster. Package testkit tells how it is measured. The values are
// small, so that what the store keeps beside each of them counts most.

// size returns how many values the benchmark has.
func size() int {
	if testing.Short() {
		return 10_000
	}
	return 1_000_000
}

// plain is a store for one goroutine without generations: values side by side with their
// names, and where each name's value is.
type plain struct {
	values []int
	names  []int
	dead   []bool
	places []int
}

// refresh removes the dead in one pass, keeps the order, and creates as many behind.
func (s *plain) refresh() {
	to := 0
	var gone []int
	for from, name := range s.names {
		if s.dead[from] {
			gone = append(gone, name)
			continue
		}
		s.values[to], s.names[to] = s.values[from], name
		s.places[name] = to
		to++
	}
	clear(s.dead)
	for i, name := range gone {
		s.names[to+i], s.places[name] = name, to+i
	}
}

// BenchmarkRefresh kills a random share of the values and measures the Refresh alone, beside
// one pass of compaction. Each value of the store counts as an operation.
func BenchmarkRefresh(b *testing.B) {
	n := size()
	for _, unordered := range []bool{false, true} {
		for _, share := range []float64{0.0001, 0.01, 0.5} {
			b.Run(fmt.Sprintf("impl=dense/base=pass/unordered=%v/dead=%v%%", unordered, share*100), func(b *testing.B) {
				dead := rand.New(rand.NewPCG(1, 1)).Perm(n)[:int(float64(n)*share)]
				s := dense.Must(&dense.Options[int]{Unordered: unordered})
				p := plain{make([]int, n), make([]int, n), make([]bool, n), make([]int, n)}
				refill := func(n int) {
					for i := range n {
						_, _ = s.Create(i)
					}
					s.Refresh()
				}
				s.Grow(n + n/4)
				refill(n)
				for i := range n {
					p.names[i], p.places[i] = i, i
				}
				runtime.GC()
				for b.Loop() {
					testkit.Compare(b, 21, float64(n), func() float64 {
						testkit.Each(dead, func(at int) { s.Kill(s.Handles()[at]) })
						took := testkit.Timed(func() { s.Refresh() })
						refill(len(dead))
						return took
					}, func() float64 {
						testkit.Each(dead, func(at int) { p.dead[at] = true })
						return testkit.Timed(p.refresh)
					})
				}
			})
		}
	}
}
