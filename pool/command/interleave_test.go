//go:build interleave

package command

import (
	"flag"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"coatcheck/internal/check/interleave"
)

// These tests run the exported methods of this package, on a real pool, under all
// schedules with a few preemptions:
//
//	go test -tags interleave -run Interleave -v ./pool/command -interleave.bound 2
//
// A failure prints the interleaving and its schedule, which -interleave.replay
// repeats.
var (
	boundFlag  = flag.Int("interleave.bound", 2, "explore all schedules with so many preemptions")
	pctFlag    = flag.Int("interleave.pct", 0, "in place of that, draw so many schedules for each scenario")
	depthFlag  = flag.Int("interleave.depth", 3, "depth of the bugs that drawn schedules look for")
	pctSeed    = flag.Uint64("interleave.seed", 1, "seed of the first drawn schedule")
	replayFlag = flag.String("interleave.replay", "", "run one scenario under this schedule and print it")
)

// betweenRuns restricts garbage collection to the time between runs, until off is called.
// A collection during a run would add steps: it clears the block that the Reserver keeps
// for the next insertion.
func betweenRuns(s scenario) (setup func(*interleave.Run), off func()) {
	percent := debug.SetGCPercent(-1)
	n := 0
	return func(r *interleave.Run) {
			if n++; n%500 == 0 { // some megabytes
				runtime.GC()
			}
			s.setup(newWorld(r))
		}, func() {
			debug.SetGCPercent(percent)
		}
}

func TestInterleave(t *testing.T) {
	var runs int
	var took time.Duration
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			setup, off := betweenRuns(s)
			defer off()
			var res interleave.Result
			switch {
			case *replayFlag != "":
				schedule, err := interleave.ParseSchedule(*replayFlag)
				if err != nil {
					t.Fatal(err)
				}
				record, err := interleave.Replay(setup, schedule)
				t.Logf("%v\n%s", err, record)
				return
			case *pctFlag > 0:
				res = interleave.PCT(setup, *pctFlag, *depthFlag, *pctSeed)
			default:
				res = interleave.Search(setup, *boundFlag)
			}
			runs += res.AllRuns
			took += res.Took
			t.Log(res)
			if res.Failure != nil {
				t.Fatal(res.Failure)
			}
			if res.Switches == 0 && !s.alone {
				t.Fatal("no switch fell inside an operation: the scenario explores nothing")
			}
		})
	}
	t.Logf("%d schedules in %v", runs, took.Round(time.Millisecond))
}

// TestInterleaveRepeats replays generated schedules: a program that depended on anything
// but its schedule could not be explored.
func TestInterleaveRepeats(t *testing.T) {
	for _, s := range scenarios {
		setup, off := betweenRuns(s)
		first, err1 := interleave.Replay(setup, interleave.Schedule{0, 0, 1, 1, 1, 0, 0, 1, 0, 1})
		second, err2 := interleave.Replay(setup, interleave.Schedule{0, 0, 1, 1, 1, 0, 0, 1, 0, 1})
		if first != second || (err1 == nil) != (err2 == nil) {
			t.Errorf("%s runs differently the second time:\n%s\n%s", s.name, first, second)
		}
		off()
	}
}
