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

// The benchmarks compare the store with a baseline on the same work in one run. Rounds of
// the two alternate, so that other load hits both alike, and the ratio is the median over
// the rounds.
//
//	go test -run xxx -bench . -benchtime 1x ./pool/dense
//
// prints, for each pair, ns/op of the store, base-ns/op of the baseline, and their ratio:
// below 1 the store is faster. The values are small, so that what the store keeps beside
// each of them counts most.

// size returns how many values the large benchmarks have.
func size() int {
	if testing.Short() {
		return 10_000
	}
	return 1_000_000
}

var sink atomic.Uint64

// name is a baseline's handle.
type name struct{ index, generation uint32 }

// entry is what a name leads to.
type entry struct{ generation, at uint32 }

// plainStore is a dense store for one goroutine, as a good engineer writes it in an
// afternoon: values side by side with their names and a flag for the dead, and a slot map
// from names to positions.
type plainStore struct {
	values  []int
	names   []name
	dead    []bool
	entries []entry
	free    []uint32

	mu sync.RWMutex // of those who share it
}

func (s *plainStore) Create(v int) name {
	var n name
	if k := len(s.free); k > 0 {
		n.index = s.free[k-1]
		s.free = s.free[:k-1]
	} else {
		n.index = uint32(len(s.entries))
		s.entries = append(s.entries, entry{})
	}
	e := &s.entries[n.index]
	e.generation++
	e.at = uint32(len(s.values))
	n.generation = e.generation
	s.values = append(s.values, v)
	s.names = append(s.names, n)
	s.dead = append(s.dead, false)
	return n
}

func (s *plainStore) Get(n name) (*int, bool) {
	if int(n.index) >= len(s.entries) {
		return nil, false
	}
	e := s.entries[n.index]
	if e.generation != n.generation {
		return nil, false
	}
	return &s.values[e.at], true
}

func (s *plainStore) Kill(n name) bool {
	e := s.entries[n.index]
	if e.generation != n.generation || s.dead[e.at] {
		return false
	}
	s.dead[e.at] = true
	return true
}

func (s *plainStore) leave(n name) {
	s.entries[n.index].generation++
	s.free = append(s.free, n.index)
}

func (s *plainStore) truncate(n int) {
	clear(s.dead)
	s.values, s.names, s.dead = s.values[:n], s.names[:n], s.dead[:n]
}

// compact removes the dead in one pass and keeps the order.
func (s *plainStore) compact() {
	to := 0
	for from := range s.values {
		if s.dead[from] {
			s.leave(s.names[from])
			continue
		}
		if to != from {
			s.values[to], s.names[to] = s.values[from], s.names[from]
			s.entries[s.names[to].index].at = uint32(to)
		}
		to++
	}
	s.truncate(to)
}

// swapOut removes the dead in one pass, replacing each by the last value.
func (s *plainStore) swapOut() {
	n := len(s.values)
	for i := 0; i < n; {
		if !s.dead[i] {
			i++
			continue
		}
		s.leave(s.names[i])
		n--
		if i < n {
			s.values[i], s.names[i], s.dead[i] = s.values[n], s.names[n], s.dead[n]
			s.entries[s.names[i].index].at = uint32(i)
		}
	}
	s.truncate(n)
}

// BenchmarkIterate sums all values of a store in which values have died, by All and by
// Values, which is a slice.
func BenchmarkIterate(b *testing.B) {
	for _, n := range []int{10_000, size()} {
		s := dense.Must[int](nil)
		for i := range n + n/10 {
			_, _ = s.Create(i)
		}
		s.Refresh()
		for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(s.Len())[:n/10] {
			s.Kill(s.Handles()[i])
		}
		s.Refresh()
		all := func() {
			sum := 0
			for _, v := range s.All() {
				sum += *v
			}
			sink.Add(uint64(sum))
		}
		values := func() {
			sum := 0
			for _, v := range s.Values() {
				sum += v
			}
			sink.Add(uint64(sum))
		}
		b.Run(fmt.Sprintf("impl=all/base=values/values=%d", n), func(b *testing.B) {
			for b.Loop() {
				testkit.Compare(b, 301, float64(n), func() float64 { return testkit.Timed(all) }, func() float64 { return testkit.Timed(values) })
			}
		})
	}
}

// refresher is a store with the steps of a round of BenchmarkRefresh.
type refresher struct {
	kill    func(at int) // what lies there
	create  func(v int)
	refresh func()
}

// refill creates n values.
func (r refresher) refill(n int) {
	for i := range n {
		r.create(i)
	}
	r.refresh()
}

// round kills the values at these positions, and returns how long it takes to refresh.
func (r refresher) round(dead []int) float64 {
	testkit.Each(dead, r.kill)
	took := testkit.Timed(r.refresh)
	r.refill(len(dead))
	return took
}

// BenchmarkRefresh kills a random share of the values and measures the Refresh alone.
// Each value of the store counts as an operation.
func BenchmarkRefresh(b *testing.B) {
	n := size()
	for _, pair := range []struct {
		name string
		opts dense.Options[int]
		base func(*plainStore)
	}{
		{"impl=ordered/base=pass", dense.Options[int]{}, (*plainStore).compact},
		{"impl=unordered/base=pass", dense.Options[int]{Unordered: true}, (*plainStore).swapOut},
	} {
		for _, share := range []float64{0.0001, 0.01, 0.1, 0.5, 0.99} {
			b.Run(fmt.Sprintf("%s/dead=%v%%", pair.name, share*100), func(b *testing.B) {
				for b.Loop() {
					rnd := rand.New(rand.NewPCG(1, 1))
					s, plain := dense.Must(&pair.opts), new(plainStore)
					s.Reserve(n + n/4)
					subject := refresher{func(at int) { s.Kill(s.Handles()[at]) }, func(v int) { _, _ = s.Create(v) }, func() { s.Refresh() }}
					base := refresher{func(at int) { plain.Kill(plain.names[at]) }, func(v int) { plain.Create(v) }, func() { pair.base(plain) }}
					dead := rnd.Perm(n)[:int(float64(n)*share)]
					for _, r := range []refresher{subject, base} {
						r.refill(n)
						r.round(dead)
					}
					runtime.GC()
					testkit.Compare(b, 21, float64(n), func() float64 {
						dead = rnd.Perm(n)[:len(dead)]
						return subject.round(dead)
					}, func() float64 { return base.round(dead) })
				}
			})
		}
	}
}

// BenchmarkGet looks random values up.
func BenchmarkGet(b *testing.B) {
	for _, n := range []int{10_000, size()} {
		s, plain := dense.Must[int](nil), new(plainStore)
		hs, names := make([]pool.Handle[int], n), make([]name, n)
		for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(n) {
			hs[i], _ = s.Create(i)
			names[i] = plain.Create(i)
		}
		s.Refresh()
		get := func(n int) {
			sum := 0
			for i := range n {
				if v, ok := s.Get(hs[i%len(hs)]); ok {
					sum += *v
				}
			}
			sink.Add(uint64(sum))
		}
		b.Run(fmt.Sprintf("impl=dense/base=plain/live=%d", n), func(b *testing.B) {
			testkit.Versus(b, get, func(n int) {
				sum := 0
				for i := range n {
					if v, ok := plain.Get(names[i%len(names)]); ok {
						sum += *v
					}
				}
				sink.Add(uint64(sum))
			})
		})
		locked := func(n int) {
			sum := 0
			for i := range n {
				plain.mu.RLock()
				v, ok := plain.Get(names[i%len(names)])
				plain.mu.RUnlock()
				if ok {
					sum += *v
				}
			}
			sink.Add(uint64(sum))
		}
		for _, g := range []int{1, 2} {
			b.Run(fmt.Sprintf("impl=dense/base=rwmutex/live=%d/goroutines=%d", n, g), func(b *testing.B) {
				testkit.Versus(b, testkit.On(g, func() testkit.Work { return get }), testkit.On(g, func() testkit.Work { return locked }))
			})
		}
	}
}

// BenchmarkCreateKill creates 10,000 values a goroutine and kills them again. Starting
// the goroutines and the Refresh that follows are part of the work.
func BenchmarkCreateKill(b *testing.B) {
	for _, g := range []int{1, 2} {
		b.Run(fmt.Sprintf("impl=dense/base=mutex/goroutines=%d", g), func(b *testing.B) {
			s, plain := dense.Must[int](nil), new(plainStore)
			testkit.Versus(b, phases(g, func(v int) pool.Handle[int] { h, _ := s.Create(v); return h }, s.Kill, func() { s.Refresh() }),
				phases(g, func(v int) name {
					plain.mu.Lock()
					defer plain.mu.Unlock()
					return plain.Create(v)
				}, func(n name) bool {
					plain.mu.Lock()
					defer plain.mu.Unlock()
					return plain.Kill(n)
				}, plain.compact))
		})
	}
}

// phases is the work of BenchmarkCreateKill. Each goroutine counts an operation a value.
func phases[H any](g int, create func(int) H, kill func(H) bool, end func()) testkit.Work {
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
						hs[i] = create(i)
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
