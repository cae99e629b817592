//go:build interleave

package command

import (
	"runtime"
	"runtime/debug"
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
			testkit.Explore(t, setup, s.alone, testkit.Preemptions(2))
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
