//go:build interleave

package explore_test

import (
	"runtime/debug"
	"testing"
	"time"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
)

// These tests run the exported methods of package pool, and with them those of
// shard and epoch, under all schedules with a few preemptions:
//
//	go test -tags interleave -run Interleave -v ./internal/check/explore -interleave.bound 2
//
// A failure prints the interleaving and its schedule, which -interleave.replay
// repeats.
func TestInterleave(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	var runs int
	var took time.Duration
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			res := testkit.Explore(t, s.setup, false, search)
			runs += res.AllRuns
			took += res.Took
		})
	}
	t.Logf("%d schedules in %v", runs, took.Round(time.Millisecond))
}

// enough is how many schedules of a scenario are searched at the usual length. Two in
// three scenarios have fewer; the others have 2 million together.
const enough = 5_000

// search explores a scenario's schedules with two preemptions. Where there are more than
// enough, half as many are drawn in place of the rest, because a search comes late to
// preemptions near the beginning.
func search(setup interleave.Setup, seed uint64) interleave.Result {
	if testkit.Full() {
		return interleave.Search(setup, 2)
	}
	res := interleave.SearchSome(setup, 2, enough)
	if res.Failure != nil || res.AllRuns < enough {
		return res
	}
	res.Add(interleave.Sample(setup, enough/2, seed))
	return res
}

func TestInterleaveRepeats(t *testing.T) {
	for _, s := range scenarios {
		testkit.RunsTwiceTheSame(t, s.name, s.setup)
	}
}
