package report

import (
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

// verdict is the comparison of two figures.
type verdict struct {
	ratio, lo, hi float64 // the first's to the second's; NaN where there is none
	p             float64 // of Mann and Whitney; NaN with too few rounds for it
	sure          bool    // they differ beyond the noise
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
	return judge(a, b, u, len(a.rounds) == len(b.rounds) && len(a.rounds) > 0)
}

// compareRuns is compare for figures of two runs, whose rounds have nothing to do
// with each other.
func compareRuns(a, b figure, u unit) verdict { return judge(a, b, u, false) }

func judge(a, b figure, u unit, paired bool) verdict {
	v := verdict{ratio: ratio(a.mid, b.mid), p: math.NaN()}
	v.lo, v.hi = v.ratio, v.ratio
	if paired && b.mid > 0 {
		rs := make([]float64, len(a.rounds))
		for i := range rs {
			rs[i] = ratio(a.rounds[i], b.rounds[i])
		}
		if finite(rs) {
			f := summarize(rs)
			v.lo, v.hi = min(f.lo, v.ratio), max(f.hi, v.ratio)
		}
	} else if b.lo > 0 {
		v.lo, v.hi = ratio(a.lo, b.hi), ratio(a.hi, b.lo)
	}
	switch {
	case u.exact:
		v.sure = a.mid != b.mid
	case min(len(a.rounds), len(b.rounds)) < few:
		by := apart
		if u.time() && min(len(a.rounds), len(b.rounds)) < 2 {
			by = apartOnce
		}
		v.sure = (a.lo > b.hi || b.lo > a.hi) && math.Abs(a.mid-b.mid) > by*min(math.Abs(a.mid), math.Abs(b.mid))
	default:
		c := benchmath.AssumeNothing.Compare(sample(a.rounds), sample(b.rounds))
		v.p = c.P
		v.sure = c.P < c.Alpha || paired && len(a.rounds) >= every && oneSided(a.rounds, b.rounds)
	}
	return v
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

func finite(vs []float64) bool {
	for _, v := range vs {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// oneSided says whether each of as lies on the same side of its b.
func oneSided(as, bs []float64) bool {
	var less, more int
	for i := range as {
		if as[i] < bs[i] {
			less++
		} else if as[i] > bs[i] {
			more++
		}
	}
	return less == len(as) || more == len(as)
}
