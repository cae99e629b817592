package testkit

import (
	"testing"
	"time"

	"coatcheck/internal/turns"
)

// Benchmarks measure a subject and a base with the same work. Their rounds alternate, so that
// other load on the machine affects both, and the ratio is the median over the rounds. They
// report ns/op of the subject, base-ns/op of the base, and the ratio: below 1 the subject is
// faster. In -short there is one round, which only shows that the benchmark works.
const (
	rounds    = 31
	roundTime = 4 * time.Millisecond
)

// Work does n operations.
type Work func(n int)

// Versus measures subject against base.
func Versus(b *testing.B, subject, base Work) {
	counted := func(w Work) func(n int) int {
		return func(n int) int { w(n); return n }
	}
	VersusCounted(b, counted(subject), counted(base))
}

// VersusCounted is Versus for work that does at least n operations and returns their number.
func VersusCounted(b *testing.B, subject, base func(n int) int) {
	b.ReportAllocs()
	for b.Loop() {
		Compare(b, rounds, 1, round(subject), round(base))
	}
}

// round returns a function that runs a round of w and returns the cost of an operation. It
// warms up first.
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
	b.ReportMetric(turns.Median(took[0])/per, "ns/op")
	b.ReportMetric(turns.Median(took[1])/per, "base-ns/op")
	b.ReportMetric(turns.Median(ratios), "ratio")
}

// Timed returns the time of f in nanoseconds.
func Timed(f func()) float64 {
	start := time.Now()
	f()
	return float64(time.Since(start))
}
