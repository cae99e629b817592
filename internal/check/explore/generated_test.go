//go:build interleave

package explore_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"time"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
)

// Scenarios are written by hand. These programs are drawn:
//
//	go test -tags interleave -run Generated ./internal/check/explore -timeout 0 -generate 10m -generate.seed 1 -v
//
// Each runs under some schedules with few preemptions, against the same invariants.
// One that fails is printed as a scenario, which fails under the schedule that is printed with
// it; then it is made as small as it can be. A run ends before
// go test's -timeout, which is ten minutes if nothing else is said.
var shrinkFlag = flag.Duration("generate.shrink", time.Minute, "make a program that fails smaller for so long")

func TestInterleaveGenerated(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	limit, seed := testkit.Generate()
	least := 1
	switch {
	case limit == 0 && testing.Short():
		least = 30
	case limit == 0:
		least = 300
	}
	var sum interleave.Result
	begin := time.Now()
	if end, ok := t.Deadline(); ok { // with time to make the program smaller
		limit = min(limit, time.Until(end)*9/10-*shrinkFlag)
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	var p *program
	n := 0
	for ; sum.Failure == nil && (time.Since(begin) < limit || n < least); n++ {
		p = draw(rnd)
		hangs := time.AfterFunc(hangLimit, func() { panic(fmt.Sprintf("program %d of seed %d hangs:\n%s", n+1, seed, p.String())) })
		sum.Add(interleave.Sample(p.setup, 60, rnd.Uint64()))
		hangs.Stop()
	}
	t.Logf("%d programs of seed %d", n, seed)
	sum.Took = time.Since(begin)
	t.Log(sum)
	if sum.Failure != nil {
		sum.Failure.Runs = sum.AllRuns
		if *shrinkFlag > 0 {
			t.Logf("program %d of seed %d: %v\nschedule: %s\n%s", n, seed, sum.Failure.Err, sum.Failure.Schedule, p.String())
			p, sum.Failure = shrink(p, seed, sum.Failure)
		}
		t.Fatalf("program %d of seed %d:\n%v\n%s", n, seed, sum.Failure, p.String())
	}
	if sum.Switches == 0 {
		t.Fatal("no switch fell inside an operation: the programs explore nothing")
	}
}

// hangLimit is how long a program may take. It has a few schedules, each of
// which ends after a number of steps; only a loop without steps does not end.
const hangLimit = 5 * time.Minute
