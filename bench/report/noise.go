package report

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// figure is one contestant's figure under one set of parameters: the median of its
// rounds, with the interval in which the median lies at 95 %, or all rounds where
// they are too few for one.
type figure struct {
	mid, lo, hi float64
	rounds      []float64 // in the order of the file; none for what is derived from medians
}

const confidence = 0.95

// summarize returns the figure of rounds, of which there is one at least.
func summarize(rounds []float64) figure {
	s := sample(rounds)
	sum := benchmath.AssumeNothing.Summary(s, confidence)
	// Too few rounds: the interval of 95 % is unbounded, what was seen is not.
	lo := max(sum.Lo, s.Values[0])
	hi := min(sum.Hi, s.Values[len(s.Values)-1])
	return figure{sum.Center, lo, hi, rounds}
}

// sample is rounds as benchmath wants them. It sorts what it is given, and then
// nobody would know any more which rounds were side by side.
func sample(rounds []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(rounds), &benchmath.DefaultThresholds)
}

// spread is half the interval's width as a part of the median, NaN without one.
func (f figure) spread() float64 {
	if len(f.rounds) == 1 || f.mid == 0 || len(f.rounds) == 0 && f.lo == f.hi {
		return math.NaN()
	}
	return max(f.hi-f.mid, f.mid-f.lo) / math.Abs(f.mid)
}

// spreadText writes the spread: "±3%", nothing for a single round.
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

// outcome is how a comparison ended for its first figure.
type outcome int

const (
	level outcome = iota // within the noise
	ahead
	behind
)

// verdict is the comparison of two figures.
type verdict struct {
	ratio, lo, hi float64 // the first's to the second's; NaN where there is none
	outcome
}

// few is how many rounds on each side the U test needs to see any difference at
// all; every is how many rounds that agree without exception are as rare as that.
const (
	few   = 4
	every = 6
)

// By how much medians of few rounds must differ, as a part of the smaller, to be
// called different: one timing alone can be off by a lot, one count or size can't.
const (
	apart     = 0.1
	apartOnce = 1
)

// compare compares a with b.
//
// Cases of a group take turns, so the n-th rounds of both ran side by side and the
// spread of a ratio is that of the rounds' ratios. They differ beyond the noise if
// the U test says so (p < 0.05), or if each of six rounds or more fell the same
// way, which chance does once in 32 times: drift that hits both hides a difference
// from the first and not from the second. With fewer rounds than four no test can
// tell; then all of one's must lie beyond all of the other's, and the medians be
// apart by a tenth, times of a single round by a factor of two.
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

// differ reports whether a and b do beyond the noise.
func differ(a, b figure, u unit, paired bool) bool {
	switch n := min(len(a.rounds), len(b.rounds)); {
	case u.exact:
		return a.mid != b.mid
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

// ratio is a/b where that means something: of what is not negative, to what is not
// zero. Nothing to nothing is 1.
func ratio(a, b float64) float64 {
	switch {
	case a == 0 && b == 0:
		return 1
	case a < 0 || b <= 0:
		return math.NaN()
	}
	return a / b
}

// String writes the ratio: "0.13", "1.38", "27"; with a "~" where it is within the
// noise.
func (v verdict) String() string {
	text := times(v.ratio)
	if v.outcome == level && !math.IsNaN(v.ratio) {
		text = "~" + text
	}
	return text
}
