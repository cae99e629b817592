//go:build interleave

package pool_test

import (
	"flag"
	"runtime/debug"
	"testing"
	"time"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/length"
)

// These tests run the exported methods of this package, and with them those of
// shard and epoch, under all schedules with a few preemptions:
//
//	go test -tags interleave -run Interleave -v ./pool -interleave.bound 2
//
// A failure prints the interleaving and its schedule, which -interleave.replay
// repeats.
var (
	boundFlag  = flag.Int("interleave.bound", -1, "explore all schedules with so many preemptions; -1: with two, and all in the full programme alone")
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
				res = search(setup)
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

// enough is how many schedules of a scenario are searched at the usual length. Three in
// four scenarios have fewer; the others have 2 million together.
const enough = 10_000

// search explores a scenario's schedules with two preemptions. Where there are more than
// enough, half as many are drawn in place of the rest, because a search comes late to
// preemptions near the beginning.
func search(setup interleave.Setup) interleave.Result {
	if *boundFlag >= 0 {
		return interleave.Search(setup, *boundFlag)
	}
	if length.Full() {
		return interleave.Search(setup, 2)
	}
	res := interleave.SearchSome(setup, 2, enough)
	if res.Failure != nil || res.AllRuns < enough {
		return res
	}
	drawn := interleave.Sample(setup, enough/2, *seedFlag)
	res.Runs += drawn.Runs
	res.AllRuns += drawn.AllRuns
	res.Switches += drawn.Switches
	res.Took += drawn.Took
	res.Failure = drawn.Failure
	return res
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
