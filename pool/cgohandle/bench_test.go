//go:build cgo

package cgohandle_test

import (
	"fmt"
	"math/rand/v2"
	"runtime/cgo"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coatcheck/pool/cgohandle"
)

// The benchmarks put Handle, and a Table, beside runtime/cgo.Handle, on the same work,
// in one run: rounds of either alternate, so that whatever else the machine does hits
// both alike, and the ratio is the median over the rounds.
//
//	go test -run xxx -bench . -benchtime 1x ./pool/cgohandle
//
// prints, for each pair, ns/op of ours, base-ns/op of the original, and their ratio:
// below 1 ours is faster. An operation is a look-up, or a Delete with a New.

const roundTime = 4 * time.Millisecond

// rounds is the number of rounds; -short only sees that everything runs.
func rounds() int {
	if testing.Short() {
		return 1
	}
	return 31
}

// work does n operations.
type work func(n int)

// versus measures subject against base and reports both and their ratio.
func versus(b *testing.B, subject, base work) {
	b.ReportAllocs()
	for b.Loop() {
		ns, nb := calibrate(subject), calibrate(base)
		rounds := rounds()
		subjects, bases, ratios := make([]float64, rounds), make([]float64, rounds), make([]float64, rounds)
		for i := range rounds {
			subjects[i], bases[i] = measure(subject, ns), measure(base, nb)
			ratios[i] = subjects[i] / bases[i]
		}
		b.ReportMetric(median(subjects), "ns/op")
		b.ReportMetric(median(bases), "base-ns/op")
		b.ReportMetric(median(ratios), "ratio")
	}
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

func median(xs []float64) float64 {
	slices.Sort(xs)
	return xs[len(xs)/2]
}

// session is what the handles name. Both sides hold a pointer to it, which goes into
// an any without an allocation.
type session struct{ id uint64 }

var sink atomic.Uint64

// side is one side of a comparison. Its loops are spelt out for each, so that the verbs
// are called as users call them. names are handles in no order of the table's, and at is
// how far a loop is round them: it goes on in the next round, or a million would be a
// few thousand.
type side struct {
	create  func(*session) uintptr
	destroy func(uintptr)
	look    func(names []uintptr, at, n int) (sum uint64)
	replace func(names []uintptr, at, n int, s *session)
}

func ofHandles() side {
	return side{
		create:  func(s *session) uintptr { return uintptr(cgohandle.New(s)) },
		destroy: func(h uintptr) { cgohandle.Handle(h).Delete() },
		look: func(names []uintptr, at, n int) (sum uint64) {
			for range n {
				sum += cgohandle.Handle(names[at]).Value().(*session).id
				if at++; at == len(names) {
					at = 0
				}
			}
			return sum
		},
		replace: func(names []uintptr, at, n int, s *session) {
			for range n {
				cgohandle.Handle(names[at]).Delete()
				names[at] = uintptr(cgohandle.New(s))
				if at++; at == len(names) {
					at = 0
				}
			}
		},
	}
}

func ofTable() side {
	t := cgohandle.NewTable[*session]()
	return side{
		create:  t.New,
		destroy: t.Delete,
		look: func(names []uintptr, at, n int) (sum uint64) {
			for range n {
				sum += t.Value(names[at]).id
				if at++; at == len(names) {
					at = 0
				}
			}
			return sum
		},
		replace: func(names []uintptr, at, n int, s *session) {
			for range n {
				t.Delete(names[at])
				names[at] = t.New(s)
				if at++; at == len(names) {
					at = 0
				}
			}
		},
	}
}

func ofOriginal() side {
	return side{
		create:  func(s *session) uintptr { return uintptr(cgo.NewHandle(s)) },
		destroy: func(h uintptr) { cgo.Handle(h).Delete() },
		look: func(names []uintptr, at, n int) (sum uint64) {
			for range n {
				sum += cgo.Handle(names[at]).Value().(*session).id
				if at++; at == len(names) {
					at = 0
				}
			}
			return sum
		},
		replace: func(names []uintptr, at, n int, s *session) {
			for range n {
				cgo.Handle(names[at]).Delete()
				names[at] = uintptr(cgo.NewHandle(s))
				if at++; at == len(names) {
					at = 0
				}
			}
		},
	}
}

// works returns what a side does with live handles, each goroutine with its part of
// them, which is one at least.
func works(b *testing.B, s side, live, goroutines int) (look, replace work) {
	rnd := rand.New(rand.NewPCG(1, 2))
	names, at := make([][]uintptr, goroutines), make([]int, goroutines)
	for g := range names {
		names[g] = make([]uintptr, max(1, live/goroutines))
		sessions := make([]session, len(names[g]))
		for i := range names[g] {
			sessions[i].id = uint64(i)
			names[g][i] = s.create(&sessions[i])
		}
		rnd.Shuffle(len(names[g]), func(i, j int) { names[g][i], names[g][j] = names[g][j], names[g][i] })
	}
	b.Cleanup(func() {
		for _, names := range names {
			for _, h := range names {
				s.destroy(h)
			}
		}
	})
	on := func(do func(names []uintptr, at, n int)) work {
		return func(n int) {
			var wg sync.WaitGroup
			for g := range names {
				wg.Add(1)
				go func() {
					defer wg.Done()
					do(names[g], at[g], n)
					at[g] = (at[g] + n) % len(names[g])
				}()
			}
			wg.Wait()
		}
	}
	look = on(func(names []uintptr, at, n int) { sink.Add(s.look(names, at, n)) })
	replace = on(func(names []uintptr, at, n int) { s.replace(names, at, n, new(session)) })
	return look, replace
}

func BenchmarkAgainstOriginal(b *testing.B) {
	for _, impl := range []struct {
		name string
		side func() side
	}{{"handle", ofHandles}, {"table", ofTable}} {
		for _, live := range []int{1, 100, 10_000, 1_000_000} {
			if testing.Short() && live > 10_000 {
				continue // takes seconds to fill
			}
			for _, goroutines := range []int{1, 2} {
				where := fmt.Sprintf("impl=%s/base=cgo/live=%d/goroutines=%d", impl.name, live, goroutines)
				b.Run("op=look/"+where, func(b *testing.B) {
					ours, _ := works(b, impl.side(), live, goroutines)
					base, _ := works(b, ofOriginal(), live, goroutines)
					versus(b, ours, base)
				})
				b.Run("op=replace/"+where, func(b *testing.B) {
					_, ours := works(b, impl.side(), live, goroutines)
					_, base := works(b, ofOriginal(), live, goroutines)
					versus(b, ours, base)
				})
			}
		}
	}
}
