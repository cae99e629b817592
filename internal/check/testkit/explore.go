//go:build interleave

package testkit

import (
	"flag"
	"testing"

	"coatcheck/internal/check/interleave"
)

var (
	boundFlag = flag.Int("interleave.bound", -1, "explore all schedules with at most this many preemptions; -1: the usual schedules")
	drawFlag  = flag.Uint64("interleave.seed", 1, "seed of drawn schedules")
)

// Except in the full programme, a search of a scenario ends after enough schedules. Nearly all mutants that
// scenarios find are found within the first hundred, and all but three within 1,670. Most scenarios have fewer
// schedules than enough; of the others some more are drawn, because a search comes late to preemptions near
// the beginning.
const enough, drawn = 1_750, 250

// Explore runs a scenario under all schedules with two preemptions, or with as many as the flags say. It
// fails the test if one fails, or if no switch is inside an operation, unless the scenario has only one
// thread.
func Explore(t *testing.T, setup interleave.Setup, alone bool) (res interleave.Result) {
	t.Helper()
	switch {
	case *boundFlag >= 0:
		res = interleave.Search(setup, *boundFlag)
	case Full():
		res = interleave.Search(setup, 2)
	default:
		res = interleave.SearchSome(setup, 2, enough)
		if res.Failure == nil && res.AllRuns >= enough {
			res.Add(interleave.Sample(setup, drawn, *drawFlag))
		}
	}
	t.Log(res)
	if res.Failure != nil {
		t.Fatal(res.Failure)
	}
	if res.Switches == 0 && !alone {
		t.Fatal("no switch was inside an operation: the scenario explores nothing")
	}
	return res
}

// RunsTwiceTheSame replays a scenario twice, and fails the test if the runs differ: a program
// that depends on anything but its schedule cannot be searched.
func RunsTwiceTheSame(t *testing.T, name string, setup interleave.Setup) {
	t.Helper()
	schedule := interleave.Schedule{0, 0, 1, 1, 1, 0, 0, 1, 0, 1}
	first, err1 := interleave.Replay(setup, schedule)
	second, err2 := interleave.Replay(setup, schedule)
	if first != second || (err1 == nil) != (err2 == nil) {
		t.Fatalf("%s runs differently the second time:\n%s\n%s", name, first, second)
	}
}
