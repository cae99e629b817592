//go:build interleave

package explore_test

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
)

// Scenarios are written by hand. These programs are drawn:
//
//	go test -tags interleave -run Generated ./internal/check/explore -timeout 0 -generate 10m -generate.seed 1 -v
//
// Each runs under some schedules with few preemptions, against the same invariants. One that
// fails is printed as a scenario, which fails under the schedule that is printed with it; then
// it is made as small as it can be.
func TestInterleaveGenerated(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	testkit.Draw(t, func(rnd *rand.Rand) (interleave.Setup, *program) {
		p := draw(rnd)
		return p.setup, p
	}, shrink)
}
