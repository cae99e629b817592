package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVerdicts(t *testing.T) {
	drift := []float64{10, 14, 20, 12, 18, 11, 16}
	slower := []float64{10.5, 14.7, 21, 12.6, 18.9, 11.55, 16.8}
	mixed := append([]float64{9.9}, slower[1:]...)
	time, size, rate := unit{name: unitTime}, unit{name: "B/value"}, unit{name: "ops/s", more: true}
	const level, ahead, worse = 0, 1, -1
	for _, c := range []struct {
		why  string
		a, b []float64
		unit unit
		want int
	}{
		{"the same rounds", drift, drift, time, level},
		{"separate", []float64{10, 11, 10, 11}, []float64{12, 13, 12, 13}, time, ahead},
		{"separate", []float64{12, 13, 12, 13}, []float64{10, 11, 10, 11}, time, worse},
		{"more is better", []float64{10, 11, 10, 11}, []float64{12, 13, 12, 13}, rate, worse},
		{"a drift of both hides 5 % from a test that does not pair the rounds", slower, drift, time, worse},
		{"one round fell the other way", mixed, drift, time, level},
		{"a single time within a factor of two", []float64{10}, []float64{19}, time, level},
		{"a single time beyond it", []float64{10}, []float64{21}, time, ahead},
		{"a single size within a tenth", []float64{100}, []float64{109}, size, level},
		{"a single size beyond it", []float64{100}, []float64{111}, size, ahead},
		{"three rounds whose ranges meet", []float64{10, 11, 12}, []float64{12, 13, 14}, time, level},
		{"something beside nothing", []float64{1, 1, 1, 1}, []float64{0, 0, 0, 0}, size, worse},
	} {
		a, b := summarize(c.a, c.unit), summarize(c.b, c.unit)
		assert.Equal(t, c.want != level, differ(a, b), c.why)
		assert.Equal(t, c.want == worse, behind(a, b), c.why)
	}
	assert.Equal(t, 18.0, drift[4], "the rounds keep their order")
}

func TestMedianAndItsInterval(t *testing.T) {
	f := summarize([]float64{5, 1, 4, 2, 3}, unit{})
	assert.Equal(t, []float64{3, 1, 5}, []float64{f.mid, f.lo, f.hi}, "too few rounds for 95 %%: all that was seen")
	assert.Equal(t, "3.00 ±67%", f.String())
	assert.Equal(t, "5.00", summarize([]float64{5}, unit{}).String())
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		unit string
		v    float64
		want string
	}{
		{"sec/op", 13.7e-9, "13.7 ns"}, {"sec/op", 0.53e-9, "0.530 ns"}, {"sec/op", 0, "0 s"}, {"sec/op", 1.9e-3, "1.90 ms"},
		{"B/value", 24.09, "24.1 B"}, {"left-B/value", 2 << 20, "2.00 MiB"}, {"ops/s", 81.23e6, "81.2M"}, {"allocs/op", 0.25, "0.250"},
	} {
		assert.Equal(t, c.want, unit{name: c.unit}.text(c.v), "%v %s", c.v, c.unit)
	}
	for v, want := range map[float64]string{0.1349: "0.13", 1: "1.00", 27.2: "27", 0.0023: "0.0023"} {
		assert.Equal(t, want, times(v, 1))
	}
	assert.Equal(t, []string{"1.00", "0.00", "–"}, []string{times(0, 0), times(0, 5), times(5, 0)})
	for v, want := range map[string]string{"1000": "1,000", "1000000": "1,000,000", "999": "999", "4096B": "4,096B", "pool": "pool"} {
		assert.Equal(t, want, number(v))
	}
}
