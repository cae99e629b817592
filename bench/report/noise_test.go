package report

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

var (
	timeUnit = unit{name: unitTime}
	sizeUnit = unit{name: "B/value"}
)

func TestIdenticalAndOverlappingRoundsAreNoise(t *testing.T) {
	a := summarize([]float64{10, 11, 12, 13, 14, 15, 16})
	assert.Equal(t, level, compare(a, a, timeUnit).outcome)
	b := summarize([]float64{16, 10, 13, 12, 15, 11, 14})
	assert.Equal(t, level, compare(a, b, timeUnit).outcome)
}

func TestSeparateRoundsDiffer(t *testing.T) {
	a, b := summarize([]float64{10, 11, 10, 11}), summarize([]float64{12, 13, 12, 13})
	d := compare(a, b, timeUnit)
	assert.Equal(t, ahead, d.outcome)
	assert.Equal(t, behind, compare(b, a, timeUnit).outcome)
	assert.Equal(t, behind, compare(a, b, unit{name: unitRate, more: true}).outcome)
	assert.InDelta(t, 10.5/12.5, d.ratio, 1e-9)
	assert.LessOrEqual(t, d.lo, d.ratio)
	assert.GreaterOrEqual(t, d.hi, d.ratio)
}

// A drift of a factor of two would hide 5 % from a test that does not pair the rounds.
func TestDriftOfBothHidesNothing(t *testing.T) {
	var as, bs []float64
	for _, drift := range []float64{10, 14, 20, 12, 18, 11, 16} {
		as, bs = append(as, drift), append(bs, 1.05*drift)
	}
	a, b := summarize(as), summarize(bs)
	d := compare(b, a, timeUnit)
	assert.NotEqual(t, level, d.outcome)
	assert.InDelta(t, 1.05, d.lo, 1e-9)
	assert.InDelta(t, 1.05, d.hi, 1e-9)
	bs[3] = as[3] * 0.99
	assert.Equal(t, level, compare(summarize(bs), a, timeUnit).outcome, "one round fell the other way")
}

func TestFewRoundsNeedALargeDifference(t *testing.T) {
	one := func(v float64) figure { return summarize([]float64{v}) }
	assert.Equal(t, level, compare(one(10), one(19), timeUnit).outcome)
	assert.NotEqual(t, level, compare(one(10), one(21), timeUnit).outcome)
	assert.Equal(t, level, compare(one(100), one(109), sizeUnit).outcome)
	assert.NotEqual(t, level, compare(one(100), one(111), sizeUnit).outcome)
	three := summarize([]float64{10, 11, 12})
	assert.NotEqual(t, level, compare(three, summarize([]float64{14, 15, 16}), timeUnit).outcome)
	assert.Equal(t, level, compare(three, summarize([]float64{12, 13, 14}), timeUnit).outcome)
}

func TestRatiosOfZero(t *testing.T) {
	assert.Equal(t, 1.0, ratio(0, 0))
	assert.Equal(t, 0.0, ratio(0, 5))
	for _, c := range [][2]float64{{5, 0}, {-1, 5}, {5, -1}} {
		assert.True(t, math.IsNaN(ratio(c[0], c[1])), "%v", c)
	}
	zero, some := summarize([]float64{0, 0, 0, 0}), summarize([]float64{1, 1, 1, 1})
	assert.NotEqual(t, level, compare(some, zero, timeUnit).outcome)
	assert.Equal(t, level, compare(zero, zero, timeUnit).outcome)
}

func TestSummariesKeepRoundsInOrder(t *testing.T) {
	a, b := []float64{3, 1, 2, 5}, []float64{1, 2, 3, 4}
	compare(summarize(a), summarize(b), timeUnit)
	assert.Equal(t, []float64{3, 1, 2, 5}, a)
	d := compare(summarize(a), summarize(b), timeUnit)
	assert.InDelta(t, 0.5, d.lo, 1e-9)
	assert.InDelta(t, 3, d.hi, 1e-9)
}

func TestMedianAndItsInterval(t *testing.T) {
	f := summarize([]float64{5, 1, 4, 2, 3})
	assert.Equal(t, 3.0, f.mid)
	assert.Equal(t, 1.0, f.lo, "too few rounds for 95 %%: all that was seen")
	assert.Equal(t, 5.0, f.hi)
	assert.Equal(t, "±67%", f.spreadText())
	assert.Empty(t, summarize([]float64{5}).spreadText())
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		unit string
		v    float64
		want string
	}{
		{"sec/op", 13.7e-9, "13.7 ns"}, {"sec/op", 0.53e-9, "0.530 ns"}, {"sec/op", 0, "0 s"}, {"p99-sec", 1.9e-3, "1.90 ms"},
		{"sec/op", 2, "2.00 s"}, {"B/value", 24.09, "24.1 B"}, {"B/value", 2 << 20, "2.00 MiB"}, {"ops/s", 81.23e6, "81.2M"},
		{"allocs/op", 3, "3.00"}, {"allocs/op", 0.25, "0.250"}, {"widgets", -5, "-5.00"},
	} {
		assert.Equal(t, c.want, unit{name: c.unit}.format(c.v), "%v %s", c.v, c.unit)
	}
	for v, want := range map[float64]string{0.1349: "0.13", 1: "1.00", 27.2: "27", 0.0023: "0.0023", 1.38: "1.38"} {
		assert.Equal(t, want, times(v))
	}
	for v, want := range map[string]string{"1000": "1,000", "1000000": "1,000,000", "16B": "16B", "999": "999", "4096B": "4,096B", "": "", "pool": "pool"} {
		assert.Equal(t, want, number(v))
	}
}
