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
	unit        unit
}

// summarize returns the figure of one or more rounds.
func summarize(rounds []float64, u unit) figure {
	s := sample(rounds)
	sum := benchmath.AssumeNothing.Summary(s, 0.95)
	// The interval of too few rounds is unbounded.
	return figure{sum.Center, max(sum.Lo, s.Values[0]), min(sum.Hi, s.Values[len(s.Values)-1]), rounds, u}
}

// sample returns the rounds for benchmath, which sorts its argument. The copy keeps the
// order, which tells which rounds were side by side.
func sample(rounds []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(rounds), &benchmath.DefaultThresholds)
}

// String formats the median, and the wider half of the interval as a part of it: "12.3 ns ±3%".
func (f figure) String() string {
	text := f.unit.text(f.mid)
	if len(f.rounds) == 1 || f.mid == 0 {
		return text
	}
	return fmt.Sprintf("%s ±%.0f%%", text, 100*max(f.hi-f.mid, f.mid-f.lo)/math.Abs(f.mid))
}

type verdict int

const (
	behind verdict = iota - 1
	level          // within the noise
	ahead
)

// few is the fewest rounds in which the U test can find a difference. every is how many
// rounds must all agree to be as improbable.
const (
	few   = 4
	every = 6
)

// compare returns the verdict for a beside b, and the ratio of a to b.
//
// Two figures differ beyond the noise if the Mann–Whitney U test says so (p < 0.05), or if six
// or more rounds all agree, which chance does once in 32 times. Cases of a group take turns,
// so the n-th rounds of both ran side by side, and agreement finds differences that a drift of
// both hides from the U test. With fewer than four rounds no test can tell. Then the ranges must
// be disjoint and the medians a tenth apart, times of a single round a factor of two.
func compare(a, b figure) (v verdict, quotient float64) {
	n := min(len(a.rounds), len(b.rounds))
	below, above := 0, 0
	for i := range n {
		if a.rounds[i] < b.rounds[i] {
			below++
		} else if a.rounds[i] > b.rounds[i] {
			above++
		}
	}
	differ := n >= every && (below == n || above == n)
	if n < few {
		apart := 0.1
		if a.unit.time() && n < 2 {
			apart = 1
		}
		differ = (a.lo > b.hi || b.lo > a.hi) && math.Abs(a.mid-b.mid) > apart*min(math.Abs(a.mid), math.Abs(b.mid))
	} else if !differ {
		test := benchmath.AssumeNothing.Compare(sample(a.rounds), sample(b.rounds))
		differ = test.P < test.Alpha
	}
	switch {
	case !differ:
		v = level
	case a.unit.more == (a.mid > b.mid):
		v = ahead
	default:
		v = behind
	}
	return v, ratio(a.mid, b.mid)
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
