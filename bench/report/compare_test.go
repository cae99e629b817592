package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCompareNameByName(t *testing.T) {
	old := read(t, append(append(append(rounds("Q/impl=a", 10), rounds("Q/impl=b", 20)...), rounds("Q/impl=c", 30)...), rounds("Q/impl=gone", 1)...)...)
	new := read(t, append(append(append(rounds("Q/impl=a", 5), rounds("Q/impl=b", 20)...), rounds("Q/impl=c", 60)...), rounds("Q/impl=fresh", 1)...)...)
	c := Compare(old, new)
	require.Len(t, c.Deltas, 3)
	var deltas []string
	for _, d := range c.Deltas {
		deltas = append(deltas, d.Name+" "+d.delta())
	}
	assert.Equal(t, []string{"Q/impl=a-2 -50.0%", "Q/impl=b-2 ~", "Q/impl=c-2 +100.0%"}, deltas)
	assert.Equal(t, []string{"Q/impl=gone-2"}, c.OnlyOld)
	assert.Equal(t, []string{"Q/impl=fresh-2"}, c.OnlyNew)
	require.Len(t, c.Means, 1)
	assert.InDelta(t, 1, c.Means[0].Ratio, 1e-9, "half and double")
	assert.Equal(t, "time/op: geomean +0.0% of 3 figures; 1 better, 1 worse, 1 within the noise", c.Means[0].summary())

	var b strings.Builder
	require.NoError(t, c.Text(&b, Style{}))
	assert.Regexp(t, `Q/impl=a-2 +10.1 ns ±0% +5.03 ns ±0% +-50.0% +p=0.002 n=6`, b.String())
	assert.Contains(t, b.String(), "1 only in the old file, as Q/impl=gone-2")
}

func TestCompareKnowsWhatIsBetter(t *testing.T) {
	four := func(unit string, v string) []string {
		var lines []string
		for range 4 {
			lines = append(lines, "BenchmarkQ/impl=a 1 "+v+" "+unit)
		}
		return lines
	}
	c := Compare(read(t, four("MB/s", "10")...), read(t, four("MB/s", "20")...))
	assert.Equal(t, 1, c.Means[0].Better)
	c = Compare(read(t, four("B/value", "10")...), read(t, four("B/value", "20")...))
	assert.Equal(t, 1, c.Means[0].Worse)
	c = Compare(read(t, append([]string{"Unit points better=higher"}, four("points", "10")...)...), read(t, append([]string{"Unit points better=higher"}, four("points", "20")...)...))
	assert.Equal(t, 1, c.Means[0].Better)
}

func TestCompareWithNothingInCommon(t *testing.T) {
	c := Compare(read(t, "BenchmarkA/impl=x 1 1 ns/op"), read(t, "BenchmarkB/impl=x 1 0 ns/op"))
	var b strings.Builder
	require.NoError(t, c.Text(&b, Style{}))
	assert.Contains(t, b.String(), "no figure in common")
	c = Compare(read(t, "BenchmarkB/impl=x 1 0 ns/op"), read(t, "BenchmarkB/impl=x 1 0 ns/op"))
	assert.Empty(t, c.Means, "nothing has no geometric mean")
	require.NoError(t, c.Text(&b, Style{}))
}
