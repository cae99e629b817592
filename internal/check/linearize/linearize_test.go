package linearize

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	historiesFlag = flag.Int("histories", 0, "how many histories to judge, spread evenly over all layouts; 0: the default")
	threadsFlag   = flag.Int("threads", 8, "threads of a history")
	opsFlag       = flag.Int("ops", DefaultOps, "operations of a thread")
	seedFlag      = flag.Uint64("seed", 0, "seed of a layout's first history; the next ones count on. 0 draws it")
	outFlag       = flag.String("out", "", "where a failure leaves its visualisation; empty: the system's folder for temporary files")
)

// histories returns how many histories each of n layouts gets.
func histories(n int) int {
	switch h := *historiesFlag; {
	case h > 0:
		return (h + n - 1) / n
	case testing.Short():
		return (DefaultHistories/10 + n - 1) / n
	case raceEnabled:
		return (DefaultHistories/5 + n - 1) / n
	}
	return (DefaultHistories + n - 1) / n
}

func seed() uint64 {
	if *seedFlag != 0 {
		return *seedFlag
	}
	return uint64(rand.Uint32())
}

// round is how many histories are made before garbage may be collected.
const round = 25

func TestLinearizable(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // pools of large values come and go
	var all Work
	begin := time.Now()
	each := histories(len(Layouts))
	for _, l := range Layouts {
		t.Run(l.Name, func(t *testing.T) {
			begin := time.Now()
			first := seed()
			var w Work
			for done := 0; done < each; done += round {
				Quiet(func() {
					for i := done; i < min(done+round, each); i++ {
						work, refutation := plan(l, first+uint64(i)).Run(Pool).Judge()
						w.Add(work)
						if refutation != nil {
							leave(t, refutation)
						}
					}
				})
			}
			all.Add(w)
			t.Logf("%v; %v", &w, time.Since(begin).Round(time.Millisecond))
		})
	}
	t.Logf("%v; %v", &all, time.Since(begin).Round(time.Millisecond))
	requireWork(t, &all)
}

// plan is a history of the size that was asked for.
func plan(l Layout, seed uint64) Plan { return Plan{l, *threadsFlag, *opsFlag, seed} }

// leave fails the test with what a reader of the failure wants.
func leave(t *testing.T, r *Refutation) {
	t.Helper()
	names, err := r.Leave(*outFlag)
	if err != nil {
		t.Error(err)
	}
	p := r.History.Plan
	t.Fatalf("%v\nsee %q\nrepeat with -run 'Linearizable/^%s$' -histories 1 -seed %d -threads %d -ops %d (goroutines may need it many times)",
		r, names, p.Layout.Name, p.Seed, p.Threads, p.Ops)
}

// requireWork fails a test that has put nothing to the test. A run of a few
// histories, or of small ones, is one that looks for something.
func requireWork(t *testing.T, w *Work) {
	t.Helper()
	if *threadsFlag < 8 || *opsFlag < DefaultOps || w.Histories < len(Layouts) {
		return
	}
	for e, n := range w.Effects {
		require.NotZero(t, n, "no operation had effect %d", e)
	}
	if runtime.GOMAXPROCS(0) < 2 && !virtual {
		return // goroutines meet only where one is preempted
	}
	require.GreaterOrEqual(t, float64(w.Contended), LeastContended*float64(w.Histories), "threads have hardly met")
}
