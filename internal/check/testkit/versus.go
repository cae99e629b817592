package testkit

import (
	"testing"
	"time"

	"coatcheck/internal/check/turns"
)

// Benchmarks put a subject beside a base, on the same work, in one run: rounds of either
// alternate, so that whatever else the machine does hits both alike, and the ratio is
// the median over the rounds. They report ns/op of the subject, base-ns/op of the base,
// and their ratio: below 1 the subject is faster. In -short there is one round, to see
// that everything runs.
const (
	rounds    = 31
	roundTime = 4 * time.Millisecond
)

// Work does n operations.
type Work func(n int)

// On runs the same work on g goroutines, each with its own state, and counts one
// operation for each of their n.
func On(g int, each func() Work) Work {
	var crew turns.Crew
	for range g {
		w := each()
		crew = append(crew, func(n int) (int, error) { w(n); return n, nil })
	}
	return func(n int) {
		if _, err := crew.Do(n * g); err != nil {
			panic(err)
		}
	}
}

// Versus measures subject against base.
func Versus(b *testing.B, subject, base Work) { VersusEach(b, 1, subject, base) }

// VersusEach is Versus for operations on so many things each, of which it reports what
// one costs.
func VersusEach(b *testing.B, things int, subject, base Work) {
	counted := func(w Work) func(n int) int {
		return func(n int) int { w(n); return n * things }
	}
	VersusCounted(b, counted(subject), counted(base))
}

// VersusCounted is Versus for work that does at least n operations, and returns how
// many it did.
func VersusCounted(b *testing.B, subject, base func(n int) int) {
	b.ReportAllocs()
	for b.Loop() {
		Compare(b, rounds, 1, round(subject), round(base))
	}
}

// round returns what does a round of w, after warming up, and tells the cost of an
// operation.
func round(w func(n int) int) func() float64 {
	n, _ := turns.Calibrate(roundTime, func(n int) (int, time.Duration, error) {
		return n, time.Duration(Timed(func() { w(n) })), nil
	})
	return func() float64 {
		did := 0
		took := Timed(func() { did = w(n) })
		return took / float64(did)
	}
}

// Compare reports the medians of alternating rounds, in units of per operations.
func Compare(b *testing.B, rounds int, per float64, subject, base func() float64) {
	if testing.Short() {
		rounds = 1
	}
	var took [2][]float64
	for _, i := range turns.Order(rounds, 2) {
		took[i] = append(took[i], []func() float64{subject, base}[i]())
	}
	ratios := make([]float64, rounds)
	for i := range rounds {
		ratios[i] = took[0][i] / took[1][i]
	}
	b.ReportMetric(Median(took[0])/per, "ns/op")
	b.ReportMetric(Median(took[1])/per, "base-ns/op")
	b.ReportMetric(Median(ratios), "ratio")
}

// Timed returns how many nanoseconds f takes.
func Timed(f func()) float64 {
	start := time.Now()
	f()
	return float64(time.Since(start))
}

// Median returns the median.
func Median(xs []float64) float64 { return turns.Median(xs) }
