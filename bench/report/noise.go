package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"
)

// unit is a unit of figures, in base units: "sec/op" for what charts call "ns/op".
type unit struct {
	name string
	more bool // more is better
}

const unitTime = "sec/op"

// time reports whether figures are times.
func (u unit) time() bool { return strings.HasSuffix(u.name, unitTime) }

// label returns the unit without a scale, since figures may be in ns or in ms: "time/op"
// for "sec/op". The question Pair alone has rates.
func (u unit) label() string {
	return strings.NewReplacer("ops/s", "pairs a second", "sec", "time", "B", "bytes").Replace(u.name)
}

// text formats a value with a prefix and its symbol: "12.3 ns", "24.1 B", "81.2M".
func (u unit) text(v float64) string {
	symbol := ""
	switch {
	case u.time():
		symbol = "s"
	case strings.Contains(u.name, "B/") || strings.HasSuffix(u.name, "-B"):
		symbol = "B"
	}
	s := benchunit.Scaler{Factor: 1}
	switch a := math.Abs(v); {
	case a == 0:
	case u.time() && a < 1e-9:
		s = benchunit.Scaler{Prec: 3, Factor: 1e-9, Prefix: "n"} // 0.530 ns rather than 530 ps
	case !u.time() && a < 1:
		s.Prec = 3
	default:
		s = benchunit.CommonScale([]float64{a}, benchunit.ClassOf(u.name))
		s.Prec = max(0, s.Prec-1)
	}
	number := strconv.FormatFloat(v/s.Factor, 'f', s.Prec, 64)
	if symbol != "" {
		number += " "
	}
	return number + s.Prefix + symbol
}

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

// few is the fewest rounds in which the U test can find a difference. every is how many
// rounds must all agree to be as improbable.
const (
	few   = 4
	every = 6
)

// differ reports whether two figures differ beyond the noise: if the Mann–Whitney U test says so
// (p < 0.05), or if six or more rounds all agree, which chance does once in 32 times. Cases of a
// group take turns, so the n-th rounds of both ran side by side, and agreement finds differences
// that a drift of both hides from the U test. With fewer than four rounds no test can tell. Then
// the ranges must be disjoint and the medians a tenth apart, times of a single round a factor of two.
func differ(a, b figure) bool {
	n := min(len(a.rounds), len(b.rounds))
	if n < few {
		apart := 0.1
		if n == 1 && a.unit.time() {
			apart = 1
		}
		return (a.lo > b.hi || b.lo > a.hi) && math.Abs(a.mid-b.mid) > apart*min(a.mid, b.mid)
	}
	below, above := 0, 0
	for i := range n {
		if a.rounds[i] < b.rounds[i] {
			below++
		} else if a.rounds[i] > b.rounds[i] {
			above++
		}
	}
	test := benchmath.AssumeNothing.Compare(sample(a.rounds), sample(b.rounds))
	return test.P < test.Alpha || n >= every && max(below, above) == n
}

// behind reports whether a is worse than b beyond the noise.
func behind(a, b figure) bool { return differ(a, b) && a.unit.more == (a.mid < b.mid) }

// times formats a ratio: "0.13", "1.38", "27", "0.0023". That of two zeros is 1.
func times(a, b float64) string {
	r := a / b
	switch {
	case a == 0 && b == 0:
		r = 1
	case b == 0:
		return "–"
	}
	switch {
	case r >= 9.995:
		return strconv.FormatFloat(r, 'f', 0, 64)
	case r < 0.0095 && r > 0:
		return strconv.FormatFloat(r, 'g', 2, 64)
	}
	return strconv.FormatFloat(r, 'f', 2, 64)
}

// number returns a parameter's value with commas in the number at its beginning.
func number(v string) string {
	digits := len(v) - len(strings.TrimLeft(v, "0123456789"))
	for at := digits - 3; at > 0; at -= 3 {
		v = v[:at] + "," + v[at:]
	}
	return v
}
