package dense_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// The benchmarks compare the store with a baseline on the same work in one run:
//
//	go test -run xxx -bench . -benchtime 1x ./pool/dense
//
// prints, for each pair, ns/op of the store, base-ns/op of the baseline, and their ratio:
// below 1 the store is faster. Package testkit tells how it is measured. The values are
// small, so that what the store keeps beside each of them counts most.

// size returns how many values the large benchmarks have.
func size() int {
	if testing.Short() {
		return 10_000
	}
	return 1_000_000
}

var sink atomic.Uint64

// plain is a dense store, as a good engineer writes it in an afternoon:
// values side by side with their names and a flag for the dead, and a slot map from names
// to positions.
type plain struct {
	values []int
	names  []name
	dead   []bool
	slots  []slot
	free   []uint32

	mu sync.RWMutex // for Get, as where goroutines share it
}

type (
	name struct{ index, generation uint32 }
	slot struct{ generation, at uint32 }
)

func (s *plain) Create(v int) name {
	n := name{index: uint32(len(s.slots))}
	if k := len(s.free); k > 0 {
		n.index, s.free = s.free[k-1], s.free[:k-1]
	} else {
		s.slots = append(s.slots, slot{})
	}
	e := &s.slots[n.index]
	e.generation++
	e.at = uint32(len(s.values))
	n.generation = e.generation
	s.values, s.names, s.dead = append(s.values, v), append(s.names, n), append(s.dead, false)
	return n
}

func (s *plain) Get(n name) (int, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if int(n.index) >= len(s.slots) || s.slots[n.index].generation != n.generation {
		return 0, false
	}
	return s.values[s.slots[n.index].at], true
}

func (s *plain) Kill(n name) { s.dead[s.slots[n.index].at] = true }

// Refresh removes the dead in one pass, and keeps the order.
func (s *plain) Refresh() {
	to := 0
	for from, n := range s.names {
		if s.dead[from] {
			s.slots[n.index].generation++
			s.free = append(s.free, n.index)
			continue
		}
		if to != from {
			s.values[to], s.names[to] = s.values[from], n
			s.slots[n.index].at = uint32(to)
		}
		to++
	}
	clear(s.dead)
	s.values, s.names, s.dead = s.values[:to], s.names[:to], s.dead[:to]
}

// BenchmarkRefresh kills a random share of the values and measures the Refresh alone, beside
// one pass of compaction. Each value of the store counts as an operation.
func BenchmarkRefresh(b *testing.B) {
	n := size()
	for _, unordered := range []bool{false, true} {
		for _, share := range []float64{0.0001, 0.01, 0.5} {
			b.Run(fmt.Sprintf("impl=dense/base=pass/unordered=%v/dead=%v%%", unordered, share*100), func(b *testing.B) {
				dead := rand.New(rand.NewPCG(1, 1)).Perm(n)[:int(float64(n)*share)]
				round := func(kill func(at int), create func(v int), refresh func()) func() float64 {
					refill := func(n int) {
						for i := range n {
							create(i)
						}
						refresh()
					}
					refill(n)
					return func() float64 {
						testkit.Each(dead, kill)
						took := testkit.Timed(refresh)
						refill(len(dead))
						return took
					}
				}
				s, p := dense.Must(&dense.Options[int]{Unordered: unordered}), new(plain)
				s.Reserve(n + n/4)
				subject := round(func(at int) { s.Kill(s.Handles()[at]) }, func(v int) { _, _ = s.Create(v) }, func() { s.Refresh() })
				pass := round(func(at int) { p.Kill(p.names[at]) }, func(v int) { p.Create(v) }, p.Refresh)
				runtime.GC()
				for b.Loop() {
					testkit.Compare(b, 21, float64(n), subject, pass)
				}
			})
		}
	}
}

// BenchmarkGet looks random values up. Goroutines share the baseline under an RWMutex.
func BenchmarkGet(b *testing.B) {
	for _, n := range []int{10_000, size()} {
		s, base := dense.Must[int](nil), new(plain)
		hs, names := make([]pool.Handle[int], n), make([]name, n)
		for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(n) {
			hs[i], _ = s.Create(i)
			names[i] = base.Create(i)
		}
		s.Refresh()
		b.Run(fmt.Sprintf("impl=dense/base=rwmutex/live=%d", n), func(b *testing.B) {
			testkit.Versus(b, func(n int) {
				sum := 0
				for i := range n {
					if v, ok := s.Get(hs[i%len(hs)]); ok {
						sum += *v
					}
				}
				sink.Add(uint64(sum))
			}, func(n int) {
				sum := 0
				for i := range n {
					if v, ok := base.Get(names[i%len(names)]); ok {
						sum += v
					}
				}
				sink.Add(uint64(sum))
			})
		})
	}
}
