//go:build !race

package poolhttp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// at returns a sample taken that long after noon.
func at(after time.Duration, live, free int) sample {
	return sampled(noon.Add(after), pool.Stats{Live: live, Free: free})
}

func TestSamplesAreStacked(t *testing.T) {
	s := sampled(noon, pool.Stats{Live: 1, Reserved: 2, Cached: 4, Limbo: 8, Exhausted: 16, Free: 32})
	require.Equal(t, [len(layers)]int{1, 3, 7, 15, 31, 63}, s.top)
	require.Equal(t, 31, s.used())
	require.Equal(t, 63, s.total())
}

// TestHistoryIsBounded: a history stays small, however often and long samples are taken,
// and its last sample is the newest.
func TestHistoryIsBounded(t *testing.T) {
	var h history
	for i := range 10_000 {
		got := h.add(at(time.Duration(i)*100*time.Millisecond, i, 0))
		require.Equal(t, i, got[len(got)-1].used())
	}
	require.Equal(t, int(window/apart), len(h))
	require.LessOrEqual(t, h[len(h)-1].taken.Sub(h[0].taken), window)
	got := h.add(at(10_000*100*time.Millisecond, 1, 0))
	require.Equal(t, int(window/apart)+1, len(got), "also one that is as old as the chart")
	require.Len(t, h.add(at(time.Hour, 1, 0)), 2, "all others but the last are too old")
}

// TestChartStepsAndGaps: a step lasts until the next sample, and there is a gap where no
// samples were taken.
func TestChartStepsAndGaps(t *testing.T) {
	c := draw(history{at(0, 50, 50), at(60*time.Second, 100, 0), at(180*time.Second, 25, 75), at(298*time.Second, 25, 75)})
	require.Equal(t, 100, c.Most)
	require.False(t, c.Cut, "the curve should not be cut")
	require.Equal(t, []area{
		{"free", "M0.0 120V0.0H120.0V120zM120.0 120V0.0H124.0V120zM360.0 120V0.0H364.0V120zM596.0 120V0.0H600.0V120z"},
		{"live", "M0.0 120V60.0H120.0V120zM120.0 120V0.0H124.0V120zM360.0 120V90.0H364.0V120zM596.0 120V90.0H600.0V120z"},
	}, c.Areas, "nothing lies between these")
}

// TestChartEnds: a sample is shown for 70 seconds and no longer, and what is older than the chart begins at its edge.
func TestChartEnds(t *testing.T) {
	for apart, width := range map[time.Duration]string{70 * time.Second: "H596.0", 71 * time.Second: "H458.0"} {
		c := draw(history{at(-apart, 1, 0), at(0, 1, 0)})
		require.Contains(t, c.Areas[0].Path, width, "a sample %v before the last one", apart)
	}
	c := draw(history{at(-time.Hour, 1, 0), at(0, 1, 0)})
	require.Equal(t, "M0.0 120V0.0H0.0V120zM596.0 120V0.0H600.0V120z", c.Areas[0].Path)
}

// TestChartLeavesFreeSlotsOut: a few live slots can be seen among the thousands of a
// page, and the chart says that there are more.
func TestChartLeavesFreeSlotsOut(t *testing.T) {
	c := draw(history{at(0, 90, 8000)})
	require.Equal(t, 180, c.Most)
	require.True(t, c.Cut, "the curve should be cut")
	require.Equal(t, "M596.0 120V0.0H600.0V120z", c.Areas[0].Path, "no higher than the chart")

	c = draw(history{at(0, 0, 8000)})
	require.Equal(t, 8000, c.Most)
	require.False(t, c.Cut, "the curve should not be cut")
	require.Empty(t, draw(history{at(0, 0, 0)}).Areas, "an empty pool")
}

func TestNumbersForPeople(t *testing.T) {
	require.Equal(t, []int{1, 1, 100, 110, 8200, 130_000_000}, []int{ceil(0), ceil(1), ceil(100), ceil(101), ceil(8192), ceil(123_456_789)})
	require.Equal(t, []string{"0", "999", "1,000", "1,234,567"}, []string{grouped(0), grouped(uint64(999)), grouped(1000), grouped(1234567)})
	require.Equal(t, []string{"0 B", "1023 B", "1.0 KiB", "64.0 KiB", "1.0 MiB", "3.5 GiB"}, []string{inBytes(0), inBytes(1023), inBytes(1024), inBytes(64 << 10), inBytes(1 << 20), inBytes(7 << 29)})
	require.Equal(t, []string{"0 %", "< 0.01 %", "0.01 %", "12.50 %", "99.99 %", "100 %"}, []string{share(0), share(1e-9), share(0.0001), share(0.125), share(0.999999), share(1)})
	require.Equal(t, []string{"< 1s", "1s", "1m1s"}, []string{age(time.Second - 1), age(time.Second), age(61*time.Second + 1)})
}
