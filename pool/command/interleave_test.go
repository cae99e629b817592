//go:build interleave

package command

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
)

// These tests run the exported methods of this package, on a real pool, under all
// schedules with a few preemptions:
//
//	go test -tags interleave -run Interleave -v ./pool/command -interleave.bound 2
//
// A failure prints the interleaving and its schedule, which -interleave.replay
// repeats.
func TestInterleave(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			setup, off := betweenRuns(s)
			defer off()
			testkit.Explore(t, setup, len(s.threads) == 1, testkit.Preemptions(2))
		})
	}
}

func TestInterleaveRepeats(t *testing.T) {
	for _, s := range scenarios {
		setup, off := betweenRuns(s)
		testkit.RunsTwiceTheSame(t, s.name, setup)
		off()
	}
}

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

// draw draws a scenario. A thread may use a handle that another gets, perhaps before it
// has it.
func draw(rnd *rand.Rand) *scenario {
	s := &scenario{name: "generated", buffers: 1 + rnd.IntN(3)}
	handles := 0
	calls := func(n, kinds int) string {
		var all []string
		for range n {
			i, h := rnd.IntN(s.buffers), fmt.Sprint("h", rnd.IntN(max(handles, 1)))
			switch kind := rnd.IntN(kinds); {
			case kind < 3:
				all = append(all, fmt.Sprintf("h%d = insert %d", handles, i))
				handles++
			case kind < 6:
				all = append(all, fmt.Sprintf("remove %d %s", i, h))
			case kind < 9: // all buffers, in any order
				all = append(all, "apply "+strings.Trim(fmt.Sprint(rnd.Perm(s.buffers)), "[]"))
			case kind == 9:
				all = append(all, fmt.Sprintf("discard %d", i))
				s.drops = true
			case kind == 10:
				all = append(all, "removeNow "+h)
			default:
				all = append(all, "read "+h)
			}
		}
		return strings.Join(all, "; ")
	}
	for ; handles < 2 && rnd.IntN(2) == 0; handles++ {
		s.before += fmt.Sprintf("h%d = put; ", handles)
	}
	s.before += calls(rnd.IntN(4), 6) // the results of an Apply are not checked there
	for range 2 + rnd.IntN(2) {
		s.threads = append(s.threads, calls(1+rnd.IntN(3), 12))
	}
	return s
}

// String returns the source of the scenario.
func (s *scenario) String() string {
	return fmt.Sprintf("{name: %q, buffers: %d, drops: %v, before: %q,\n\tthreads: %#v},\n", s.name, s.buffers, s.drops, s.before, s.threads)
}

// TestInterleaveGenerated runs generated scenarios under some schedules each:
//
//	go test -tags interleave -run Generated -v ./pool/command -generate 1m -generate.seed 1
func TestInterleaveGenerated(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // see betweenRuns
	n := 0
	limit, seed := testkit.Generate()
	interleave.Draw(t, limit, seed, func(rnd *rand.Rand) (interleave.Setup, fmt.Stringer) {
		if n++; n%10 == 0 {
			runtime.GC()
		}
		s := draw(rnd)
		return func(r *interleave.Run) { s.setup(newWorld(r)) }, s
	})
}
