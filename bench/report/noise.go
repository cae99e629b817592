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
	Mid, Lo, Hi float64
	rounds      []float64 // in the order of the file
	unit        unit
}

const confidence = 0.95

// summarize returns the figure of one or more rounds.
func summarize(rounds []float64, u unit) figure {
	s := sample(rounds)
	sum := benchmath.AssumeNothing.Summary(s, confidence)
	// The interval of too few rounds is unbounded.
	lo := max(sum.Lo, s.Values[0])
	hi := min(sum.Hi, s.Values[len(s.Values)-1])
	return figure{sum.Center, lo, hi, rounds, u}
}

// sample returns the rounds for benchmath, which sorts its argument. The copy keeps the
// order, which tells which rounds were side by side.
func sample(rounds []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(rounds), &benchmath.DefaultThresholds)
}

// Text formats the median: "12.3 ns".
func (f figure) Text() string { return f.unit.text(f.Mid) }

// Spread formats the wider half of the interval as a part of the median: "±3%", or "" if
// there is none.
func (f figure) Spread() string {
	part := max(f.Hi-f.Mid, f.Mid-f.Lo) / math.Abs(f.Mid)
	switch {
	case len(f.rounds) == 1 || f.Mid == 0:
		return ""
	case part > 9.99:
		return "±>999%"
	}
	return fmt.Sprintf("±%.0f%%", 100*part)
}

// verdict is the outcome of a comparison for its first figure. It is also a class of the
// style sheet.
type verdict string

const (
	level  verdict = "" // within the noise
	ahead  verdict = "ahead"
	behind verdict = "behind"
)

// comparison is that of two figures: the ratio of the first to the second, with the interval
// of the rounds' ratios, and the verdict. All three are NaN if there is no ratio.
type comparison struct {
	ratio, lo, hi float64
	verdict
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
func compare(a, b figure) (c comparison) {
	n := min(len(a.rounds), len(b.rounds))
	ratios := make([]float64, n)
	below, above := 0, 0
	for i := range n {
		ratios[i] = ratio(a.rounds[i], b.rounds[i])
		if a.rounds[i] < b.rounds[i] {
			below++
		} else if a.rounds[i] > b.rounds[i] {
			above++
		}
	}
	c.ratio = ratio(a.Mid, b.Mid)
	c.lo, c.hi = c.ratio, c.ratio
	if !slices.ContainsFunc(ratios, math.IsNaN) {
		r := summarize(ratios, unit{})
		c.lo, c.hi = min(r.Lo, c.ratio), max(r.Hi, c.ratio)
	}
	differ := n >= every && (below == n || above == n)
	if n < few {
		by := apart
		if a.unit.time() && n < 2 {
			by = apartOnce
		}
		differ = (a.Lo > b.Hi || b.Lo > a.Hi) && math.Abs(a.Mid-b.Mid) > by*min(math.Abs(a.Mid), math.Abs(b.Mid))
	} else if !differ {
		test := benchmath.AssumeNothing.Compare(sample(a.rounds), sample(b.rounds))
		differ = test.P < test.Alpha
	}
	switch {
	case !differ:
	case a.unit.ahead(a.Mid, b.Mid):
		c.verdict = ahead
	default:
		c.verdict = behind
	}
	return c
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
func (c comparison) String() string {
	text := times(c.ratio)
	if c.verdict == level && !math.IsNaN(c.ratio) {
		text = "~" + text
	}
	return text
}
