package report

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// figure is a contestant's figure under one set of parameters: the median of its rounds
// and its 95 % confidence interval, or the range of rounds that are too few for one.
type figure struct {
	mid, lo, hi float64
	rounds      []float64 // in the order of the file
}

const confidence = 0.95

// summarize returns the figure of one or more rounds.
func summarize(rounds []float64) figure {
	s := sample(rounds)
	sum := benchmath.AssumeNothing.Summary(s, confidence)
	// The interval of too few rounds is unbounded.
	lo := max(sum.Lo, s.Values[0])
	hi := min(sum.Hi, s.Values[len(s.Values)-1])
	return figure{sum.Center, lo, hi, rounds}
}

// sample returns the rounds for benchmath, which sorts its argument. The copy keeps the
// order, which tells which rounds were side by side.
func sample(rounds []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(rounds), &benchmath.DefaultThresholds)
}

// spread returns the wider half of the interval as a part of the median, or NaN.
func (f figure) spread() float64 {
	if len(f.rounds) == 1 || f.mid == 0 {
		return math.NaN()
	}
	return max(f.hi-f.mid, f.mid-f.lo) / math.Abs(f.mid)
}

// spreadText formats the spread: "±3%", or "" for a single round.
func (f figure) spreadText() string {
	s := f.spread()
	switch {
	case math.IsNaN(s):
		return ""
	case s > 9.99:
		return "±>999%"
	}
	return fmt.Sprintf("±%.0f%%", 100*s)
}

// outcome is the outcome of a comparison for its first figure.
type outcome int

const (
	level outcome = iota // within the noise
	ahead
	behind
)

// verdict is the comparison of two figures.
type verdict struct {
	ratio, lo, hi float64 // of the first to the second; NaN if there is none
	outcome
}

// few is the fewest rounds in which the U test can find a difference. every is how many
// rounds must all agree to be as improbable.
const (
	few   = 4
	every = 6
)

// The least difference between medians of few rounds, as a part of the smaller one. A single
// time can be off by a lot, a single count or size cannot.
const (
	apart     = 0.1
	apartOnce = 1
)

// compare compares a with b.
//
// Cases of a group take turns, so the n-th rounds of both ran side by side, and the spread
// of a ratio is that of the rounds' ratios. Two figures differ beyond the noise if the U
// test says so (p < 0.05), or if six or more rounds all agree, which chance does once in
// 32 times; the latter finds differences that a drift of both hides from the U test. With
// fewer than four rounds no test can tell; then the ranges must be disjoint and the
// medians a tenth apart, times of a single round a factor of two.
func compare(a, b figure, u unit) verdict {
	v := verdict{ratio: ratio(a.mid, b.mid)}
	v.lo, v.hi = v.ratio, v.ratio
	paired := len(a.rounds) == len(b.rounds) && len(a.rounds) > 0
	if paired && b.mid > 0 {
		rs := make([]float64, len(a.rounds))
		for i := range rs {
			rs[i] = ratio(a.rounds[i], b.rounds[i])
		}
		if !slices.ContainsFunc(rs, math.IsNaN) {
			f := summarize(rs)
			v.lo, v.hi = min(f.lo, v.ratio), max(f.hi, v.ratio)
		}
	} else if b.lo > 0 {
		v.lo, v.hi = ratio(a.lo, b.hi), ratio(a.hi, b.lo)
	}
	if !differ(a, b, u, paired) {
		return v
	}
	v.outcome = behind
	if u.ahead(a.mid, b.mid) {
		v.outcome = ahead
	}
	return v
}

// differ reports whether a and b differ beyond the noise.
func differ(a, b figure, u unit, paired bool) bool {
	switch n := min(len(a.rounds), len(b.rounds)); {
	case n < few:
		by := apart
		if u.time() && n < 2 {
			by = apartOnce
		}
		return (a.lo > b.hi || b.lo > a.hi) && math.Abs(a.mid-b.mid) > by*min(math.Abs(a.mid), math.Abs(b.mid))
	case paired && n >= every && (allBelow(a.rounds, b.rounds) || allBelow(b.rounds, a.rounds)):
		return true
	}
	c := benchmath.AssumeNothing.Compare(sample(a.rounds), sample(b.rounds))
	return c.P < c.Alpha
}

// allBelow reports whether each of as is less than its b.
func allBelow(as, bs []float64) bool {
	for i := range as {
		if as[i] >= bs[i] {
			return false
		}
	}
	return true
}

// ratio returns a/b, 1 if both are zero, or NaN if a is negative or b is not positive.
func ratio(a, b float64) float64 {
	switch {
	case a == 0 && b == 0:
		return 1
	case a < 0 || b <= 0:
		return math.NaN()
	}
	return a / b
}

// String formats the ratio, with a "~" if it is within the noise.
func (v verdict) String() string {
	text := times(v.ratio)
	if v.outcome == level && !math.IsNaN(v.ratio) {
		text = "~" + text
	}
	return text
}
