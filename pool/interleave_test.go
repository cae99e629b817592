//go:build interleave

package pool

import (
	"flag"
	"runtime/debug"
	"testing"
	"time"

	"coatcheck/internal/check/interleave"
)

// These tests run the exported methods of this package, and with them those of
// shard and epoch, under all schedules with a few preemptions:
//
//	go test -tags interleave -run Interleave -v ./pool -interleave.bound 2
//
// A failure prints the interleaving and its schedule, which -interleave.replay
// repeats.
var (
	boundFlag  = flag.Int("interleave.bound", 2, "explore all schedules with so many preemptions")
	pctFlag    = flag.Int("interleave.pct", 0, "in place of that, draw so many schedules for each scenario")
	depthFlag  = flag.Int("interleave.depth", 3, "depth of the bugs that drawn schedules look for")
	seedFlag   = flag.Uint64("interleave.seed", 1, "seed of the first drawn schedule")
	replayFlag = flag.String("interleave.replay", "", "run one scenario under this schedule and print it")
)

func TestInterleave(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	var runs int
	var took time.Duration
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			setup := func(r *interleave.Run) { s.setup(&world{r: r}) }
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
				res = interleave.PCT(setup, *pctFlag, *depthFlag, *seedFlag)
			default:
				res = interleave.Search(setup, *boundFlag)
			}
			runs += res.AllRuns
			took += res.Took
			t.Log(res)
			if res.Failure != nil {
				t.Fatal(res.Failure)
			}
			if res.Switches == 0 {
				t.Fatal("no switch fell inside an operation: the scenario explores nothing")
			}
		})
	}
	t.Logf("%d schedules in %v", runs, took.Round(time.Millisecond))
}

// TestInterleaveRepeats replays what it draws: a program that depends on anything
// but its schedule could not be searched.
func TestInterleaveRepeats(t *testing.T) {
	for _, s := range scenarios {
		if first, second, same := replayTwice(func(r *interleave.Run) { s.setup(&world{r: r}) }); !same {
			t.Errorf("%s runs differently the second time:\n%s\n%s", s.name, first, second)
		}
	}
}

// replayTwice runs a program twice under one schedule, and reports whether the records, and
// whether it failed, are the same.
func replayTwice(setup interleave.Setup) (first, second string, same bool) {
	schedule := interleave.Schedule{0, 0, 1, 1, 1, 0, 0, 1, 0, 1}
	first, err1 := interleave.Replay(setup, schedule)
	second, err2 := interleave.Replay(setup, schedule)
	return first, second, first == second && (err1 == nil) == (err2 == nil)
}
