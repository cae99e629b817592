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

// Explore runs a scenario under the schedules that the flags choose, or those of usual. It
// fails the test if one fails, or if no switch is inside an operation, unless the scenario
// has only one thread.
func Explore(t *testing.T, setup interleave.Setup, alone bool, usual func(setup interleave.Setup, seed uint64) interleave.Result) (res interleave.Result) {
	t.Helper()
	if *boundFlag >= 0 {
		res = interleave.Search(setup, *boundFlag)
	} else {
		res = usual(setup, *drawFlag)
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

// Preemptions returns a usual for Explore: all schedules with at most n preemptions.
func Preemptions(n int) func(interleave.Setup, uint64) interleave.Result {
	return func(setup interleave.Setup, _ uint64) interleave.Result { return interleave.Search(setup, n) }
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
