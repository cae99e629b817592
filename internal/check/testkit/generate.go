//go:build interleave

package testkit

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"coatcheck/internal/check/interleave"
)

var (
	generateFlag = flag.Duration("generate", 0, "draw programs for this long; 0: the first few hundred, the same each time")
	programFlag  = flag.Uint64("generate.seed", 0, "seed of drawn programs; with -generate, 0 draws one")
	shrinkFlag   = flag.Duration("generate.shrink", time.Minute, "make a program that fails smaller for so long")
)

// hangLimit is how long a program may take. It has a few schedules, each of which ends after a
// number of steps; only a loop without steps does not end.
const hangLimit = 5 * time.Minute

// Draw samples programs that draw returns: 300, 30 in -short, or as many as the flags say, but
// no longer than go test's -timeout. The first that fails fails the test, with its text. If
// shrink is not nil, it is made smaller until end.
func Draw[P fmt.Stringer](t *testing.T, draw func(rnd *rand.Rand) (interleave.Setup, P),
	shrink func(p P, seed uint64, f *interleave.Failure, end time.Time) (P, *interleave.Failure)) {
	t.Helper()
	limit, seed, least := *generateFlag, *programFlag, 1
	switch {
	case limit > 0 && seed == 0:
		seed = rand.Uint64N(1 << 48)
	case limit == 0 && testing.Short():
		least = 30
	case limit == 0:
		least = 300
	}
	begin := time.Now()
	if end, ok := t.Deadline(); ok { // with time to make the program smaller
		limit = min(limit, time.Until(end)*9/10-*shrinkFlag)
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	var sum interleave.Result
	for n := 1; n <= least || time.Since(begin) < limit; n++ {
		setup, p := draw(rnd)
		hangs := time.AfterFunc(hangLimit, func() { panic(fmt.Sprintf("program %d of seed %d hangs:\n%v", n, seed, p)) })
		sum.Add(interleave.Sample(setup, 60, rnd.Uint64()))
		hangs.Stop()
		if f := sum.Failure; f != nil {
			f.Runs = sum.AllRuns
			if shrink != nil && *shrinkFlag > 0 {
				t.Logf("program %d of seed %d: %v\n%v", n, seed, f.Err, p)
				p, f = shrink(p, seed, f, time.Now().Add(*shrinkFlag))
			}
			t.Fatalf("program %d of seed %d:\n%v\n%v", n, seed, f, p)
		}
	}
	sum.Took = time.Since(begin)
	t.Logf("seed %d: %v", seed, sum)
	if sum.Switches == 0 {
		t.Fatal("no switch fell inside an operation: the programs explore nothing")
	}
}
