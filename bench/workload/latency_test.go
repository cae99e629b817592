package workload

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/turns"
)

func TestLatenciesAreThoseOfTheLastTurn(t *testing.T) {
	r := &timing{Run: turns.Crew{func(n int) (int, error) { return n, nil }}, watches: []*stopwatch{{newHistogram()}, {newHistogram()}}, turn: newHistogram()}
	took := func(watch, n int, d time.Duration) {
		for range n {
			r.watches[watch].record(time.Since(began) - d)
		}
	}
	took(0, 990, time.Second)
	took(1, 10, time.Minute)
	_, _ = r.Do(1)
	s := r.Sample()
	require.InEpsilon(t, time.Second, s["p50-ns"], 0.02)
	require.InEpsilon(t, time.Second, s["p99-ns"], 0.02)
	require.InEpsilon(t, time.Minute, s["p99.9-ns"], 0.02)
	took(1, 1, 2*time.Second)
	_, _ = r.Do(1)
	require.InEpsilon(t, 2*time.Second, r.Sample()["p99-ns"], 0.02)
	require.InEpsilon(t, time.Minute, r.Metrics()["max-ns"], 0.02, "of all turns")
	took(0, 1, 2*time.Hour)
	_, _ = r.Do(1)
	require.InEpsilon(t, time.Hour, r.Sample()["p99.9-ns"], 0.02, "the most that is counted")
}
