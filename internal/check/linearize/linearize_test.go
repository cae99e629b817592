package linearize

import (
	"flag"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

var (
	historiesFlag = flag.Int("histories", 0, "number of histories, spread evenly over all layouts; 0: the default")
	threadsFlag   = flag.Int("threads", 8, "threads of a history")
	opsFlag       = flag.Int("ops", DefaultOps, "operations of a thread")
)

// histories returns the number of histories of each of n layouts.
func histories(n int) int {
	switch h := *historiesFlag; {
	case h > 0:
		return (h + n - 1) / n
	case testing.Short():
		return (DefaultHistories/10 + n - 1) / n
	case testkit.Race:
		return (DefaultHistories/5 + n - 1) / n
	}
	return (DefaultHistories + n - 1) / n
}

func TestLinearizable(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // pools of large values come and go
	var all Work
	begin := time.Now()
	each := histories(len(Layouts))
	for _, l := range Layouts {
		t.Run(l.Name, func(t *testing.T) {
			begin := time.Now()
			first := testkit.Seed(t)
			var w Work
			for i := range each {
				work, refutation := plan(l, first+uint64(i)).Run(Pool).Judge()
				w.Add(work)
				if refutation != nil {
					p := refutation.History.Plan
					t.Fatalf("%v\nrepeat with -run 'Linearizable/^%s$' -histories 1 -seed %d -threads %d -ops %d (goroutines may need it many times)",
						refutation, p.Layout.Name, p.Seed, p.Threads, p.Ops)
				}
			}
			all.Add(w)
			t.Logf("%v; %v", &w, time.Since(begin).Round(time.Millisecond))
		})
	}
	t.Logf("%v; %v", &all, time.Since(begin).Round(time.Millisecond))
	requireWork(t, &all)
}

// plan returns a plan of the size that the flags set.
func plan(l Layout, seed uint64) Plan { return Plan{l, *threadsFlag, *opsFlag, seed} }

// requireWork fails a run that tested nothing. Runs of few or small histories pass.
func requireWork(t *testing.T, w *Work) {
	t.Helper()
	if *threadsFlag < 8 || *opsFlag < DefaultOps || w.Histories < len(Layouts) {
		return
	}
	for e, n := range w.Effects {
		require.NotZero(t, n, "no operation had effect %d", e)
	}
	if runtime.GOMAXPROCS(0) < 2 {
		return // operations overlap only where a goroutine is preempted
	}
	require.GreaterOrEqual(t, float64(w.Contended), LeastContended*float64(w.Histories), "operations hardly overlapped")
}
