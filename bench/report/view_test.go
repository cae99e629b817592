package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"coatcheck/bench/suite"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rounds are six lines of a benchmark around a time in ns.
func rounds(name string, ns float64) []string {
	var lines []string
	for i := range 6 {
		lines = append(lines, fmt.Sprintf("Benchmark%s-2 100 %g ns/op", name, ns*(1+float64(i)/500)))
	}
	return lines
}

func question(charts ...suite.Chart) suite.Question {
	return suite.Question{ID: "Q", Title: "What?", About: "So.", Charts: charts, Roles: map[string]suite.Role{
		"pool": suite.Ours, "worker": suite.Ours, "cas": suite.Floor, "loop": suite.Control,
	}}
}

// constructed are figures of one question with these times, by impl and parameters.
func constructed(t *testing.T, q suite.Question, times map[string]float64) (*Figures, *view) {
	t.Helper()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(times)) {
		lines = append(lines, rounds("Q/impl="+name, times[name])...)
	}
	f := read(t, lines...)
	return f, f.view(&q, q.Charts[0])
}

func TestSentenceNamesTheWinner(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op"})
	for _, c := range []struct {
		pool, worker, mutex, syncmap float64
		want                         []string
	}{
		{10, 5, 20, 90, []string{"worker is fastest: 5.03 ns", "0.25 times", "of mutex, the best of the others"}},
		{10, 30, 4, 90, []string{"mutex is fastest: 4.02 ns", "pool, the best of ours", "2.50 times as much"}},
	} {
		_, v := constructed(t, q, map[string]float64{"pool": c.pool, "worker": c.worker, "mutex": c.mutex, "syncmap": c.syncmap})
		s := v.sentence()
		for _, want := range c.want {
			assert.Contains(t, s, want)
		}
	}
	// The same rounds in another order are level.
	f := read(t, "BenchmarkQ/impl=pool 1 10 ns/op", "BenchmarkQ/impl=pool 1 12 ns/op", "BenchmarkQ/impl=pool 1 11 ns/op", "BenchmarkQ/impl=pool 1 13 ns/op",
		"BenchmarkQ/impl=mutex 1 12 ns/op", "BenchmarkQ/impl=mutex 1 11 ns/op", "BenchmarkQ/impl=mutex 1 13 ns/op", "BenchmarkQ/impl=mutex 1 10 ns/op")
	s := f.view(&q, q.Charts[0]).sentence()
	assert.Contains(t, s, "within the noise of each other")
	assert.NotContains(t, s, "fastest")
}

func TestSentenceOfRatesTurnsRound(t *testing.T) {
	_, v := constructed(t, question(suite.Chart{Unit: "ops/s", More: true}), map[string]float64{"pool": 10, "mutex": 20})
	assert.Contains(t, v.sentence(), "pool is fastest: 99.5M, 2.00 times the 49.8M of mutex")
}

func TestSentenceCountsOutcomes(t *testing.T) {
	_, v := constructed(t, question(suite.Chart{Unit: "ns/op", X: "live"}), map[string]float64{
		"pool/live=10": 30, "mutex/live=10": 20, "pool/live=1000": 10, "mutex/live=1000": 40, "pool/live=200": 5, "mutex/live=200": 10,
	})
	s := v.sentence()
	assert.Contains(t, s, "Of 3 comparisons with the best of the others the best of ours is ahead in 2, behind in 1")
	assert.Contains(t, s, "from 0.25 times mutex at live 1,000 (pool 10.1 ns, mutex 40.2 ns) to 1.50 times mutex at live 10")
	assert.Equal(t, "live 10|live 200|live 1,000", strings.Join([]string{v.label(v.cells[0]), v.label(v.cells[1]), v.label(v.cells[2])}, "|"),
		"numbers are in the order of numbers")
}

func TestSentenceWithoutTheOthers(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op"})
	_, v := constructed(t, q, map[string]float64{"pool": 10, "cas": 5})
	assert.Contains(t, v.sentence(), "pool takes 10.1 ns, 2.00 times the 5.03 ns of the floor, cas.")
	_, v = constructed(t, q, map[string]float64{"pool": 10})
	assert.Contains(t, v.sentence(), "nothing to compare")
	_, v = constructed(t, q, map[string]float64{"mutex": 10})
	assert.Contains(t, v.sentence(), "mutex takes 10.1 ns; there is nothing to compare")
}

func TestSentenceSaysWhatTheWinnerMisses(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op"})
	lines := append(append(rounds("Q/impl=pool", 10), rounds("Q/impl=new", 2)...), rounds("Q/impl=mutex", 20)...)
	lines = append(lines, "BenchmarkMisuse/impl=new/goroutines=1 1 0 stale-caught", "BenchmarkMisuse/impl=mutex/goroutines=1 1 1 stale-caught")
	f := read(t, lines...)
	assert.Contains(t, f.view(&q, q.Charts[0]).sentence(), "new misses stale handles; of those that do not, mutex is best at 20.1 ns, a ratio of 0.50.")
}

func TestLossesAreExactlyThoseBeyondTheNoise(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op", X: "live"}, suite.Chart{Kind: suite.Lines, Unit: "ops/s", More: true, X: "live"})
	f, _ := constructed(t, q, map[string]float64{
		"pool/live=1": 10, "worker/live=1": 50, "mutex/live=1": 8, "new/live=1": 2, "cgo/live=1": 11, "cas/live=1": 1,
		"pool/live=2": 10, "worker/live=2": 6, "mutex/live=2": 9, "syncmap/live=2": 10,
		"worker/live=3": 60, "mutex/live=3": 40, "loop/live=3": 1,
		"mutex/live=4": 1,
	})
	ls, of := f.losses([]suite.Question{q})
	var got []string
	for _, l := range ls {
		got = append(got, fmt.Sprintf("%s %s %s %s", l.what(), l.ours.impl, l.theirs.impl, l.by()))
	}
	assert.Equal(t, []string{"Q, live 1 pool new 5.00", "Q, live 3 worker mutex 1.50", "Q, live 1 pool mutex 1.25"}, got)
	assert.Equal(t, 6, of, "floors, controls and what stands alone are no comparison, and a rate is its time's")
}

func TestLossesOfRates(t *testing.T) {
	q := question(suite.Chart{Unit: "ops/s", More: true})
	f, _ := constructed(t, q, map[string]float64{"pool": 20, "mutex": 10, "cgo": 40})
	ls, _ := f.losses([]suite.Question{q})
	require.Len(t, ls, 1)
	assert.Equal(t, "mutex", ls[0].theirs.impl)
	assert.Equal(t, "2.00", ls[0].by())
}

func TestNothingLost(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op"})
	f, _ := constructed(t, q, map[string]float64{"pool": 10, "mutex": 20})
	var b strings.Builder
	require.NoError(t, Text(&b, f, []suite.Question{q}, Style{}))
	assert.Contains(t, b.String(), "Nowhere: in none of 1 comparisons")
}

func TestEfficiencyIsOursByTheControls(t *testing.T) {
	q := question(suite.Chart{Kind: suite.Lines, Unit: "efficiency", More: true, X: "goroutines"})
	// The control gains 1.6 where the pool gains 1.2 and the mutex loses half.
	f, v := constructed(t, q, map[string]float64{
		"loop/goroutines=1": 16, "loop/goroutines=2": 10, "pool/goroutines=1": 12, "pool/goroutines=2": 10,
		"mutex/goroutines=1": 10, "mutex/goroutines=2": 20,
	})
	require.Len(t, v.cells, 2)
	pool, _ := v.cells[1].row("pool")
	mutex, _ := v.cells[1].row("mutex")
	assert.InDelta(t, 0.75, pool.mid, 1e-6)
	assert.InDelta(t, 0.5/1.6, mutex.mid, 1e-6)
	assert.Less(t, pool.lo, pool.mid)
	_, has := v.cells[1].row("loop")
	assert.False(t, has)
	assert.Contains(t, v.sentence(), "At goroutines 2 the speed-up of pool is 75 % of the control loop's, which shares nothing; of the others mutex has 31 %.")
	ss := f.scalings([]suite.Question{q})
	require.Len(t, ss, 1)
	require.Len(t, ss[0].rows, 2)
	speedUps := map[string]float64{"pool": 1.2, "mutex": 0.5}
	for _, r := range ss[0].rows {
		assert.InDelta(t, speedUps[r.impl], r.speedUp, 1e-6, r.impl)
		assert.InDelta(t, 1.6, r.control, 1e-6)
		assert.InDelta(t, r.efficiency.mid, r.speedUp/r.control, 1e-9, r.impl)
	}
}

func TestEfficiencyWithoutControl(t *testing.T) {
	_, v := constructed(t, question(suite.Chart{Unit: "efficiency", X: "goroutines"}), map[string]float64{"pool/goroutines=1": 1, "pool/goroutines=2": 1})
	assert.Nil(t, v)
}

func TestFloorsOfFewerParametersStandInAllCells(t *testing.T) {
	_, v := constructed(t, question(suite.Chart{Unit: "ns/op", X: "live"}), map[string]float64{"pool/live=1": 10, "pool/live=2": 10, "cas": 3})
	require.Len(t, v.cells, 2)
	for _, c := range v.cells {
		_, ok := c.row("cas")
		assert.True(t, ok)
	}
}

func TestParametersOfAContestantJoinItsName(t *testing.T) {
	_, v := constructed(t, question(suite.Chart{Unit: "ns/op", X: "pattern"}), map[string]float64{
		"pool/pattern=a/rest=0": 1, "worker/pattern=a/rest=0": 2, "fifo/pattern=a/rest=64": 3, "fifo/pattern=a/rest=4096": 4,
		"pool/pattern=b/rest=0": 1, "worker/pattern=b/rest=0": 2, "fifo/pattern=b/rest=64": 3, "fifo/pattern=b/rest=4096": 4,
	})
	require.Len(t, v.cells, 2)
	var names []string
	for _, r := range v.cells[0].rows {
		names = append(names, r.impl)
	}
	assert.ElementsMatch(t, []string{"pool", "worker", "fifo, rest 64", "fifo, rest 4,096"}, names)
	assert.Equal(t, []string{"pattern"}, v.varied)

	_, v = constructed(t, question(suite.Chart{Unit: "ns/op"}), map[string]float64{
		"pool/live=1": 1, "mutex/live=1": 2, "pool/live=2": 3, "mutex/live=2": 3,
	})
	assert.Equal(t, []string{"live"}, v.varied, "what all are measured at is nobody's own")
}

func TestWhereChooses(t *testing.T) {
	q := question(suite.Chart{Unit: "ns/op", Where: map[string]string{"live": "2"}})
	_, v := constructed(t, q, map[string]float64{"pool/live=1": 1, "pool/live=2": 7})
	require.Len(t, v.cells, 1)
	assert.InDelta(t, 7.035e-9, v.cells[0].rows[0].mid, 1e-12)
	assert.Equal(t, "live 2", v.place(v.cells[0]))
}

func TestAxesAreLogarithmicWhenFiguresLieFarApart(t *testing.T) {
	assert.False(t, logarithmic([]float64{1, 20, 24}))
	assert.True(t, logarithmic([]float64{1e-9, 1e-3}))
	assert.False(t, logarithmic([]float64{0, 5, -3}))
	assert.False(t, logarithmic(nil))
	for _, r := range [][2]float64{{1e-9, 1e-3}, {1, 1.5}, {3e-9, 7e-9}, {0.1, 1e12}} {
		var labels int
		for _, tick := range (logTicks{timeUnit, 8}).Ticks(r[0], r[1]) {
			assert.True(t, tick.Value >= r[0]*0.99 && tick.Value <= r[1]*1.01)
			if tick.Label != "" {
				labels++
			}
		}
		assert.True(t, labels >= 2 && labels <= 9, "%d labels for %v", labels, r)
	}
}
