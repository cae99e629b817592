//go:build simulate && amd64

package programs

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/simulate"
)

// counted is the expected counts of an operation on a number of processors.
type counted struct {
	processors        int
	locked, transfers float64
}

// The counts of operations, for goroutines whose stacks are side by side. A change of one
// must be entered here: one more locked instruction or transfer is easily added and does not
// show on two cores.
var counts = map[string][]counted{
	"Counter/sharded": {{1, 1, 0}, {2, 1, 0}, {16, 1, 0}, {64, 1, 0}},
	"Counter/shared":  {{1, 1, 0}, {2, 1, 1}, {16, 1, 1}, {64, 1, 1}},
	"Pair/pool":       {{1, 3.16, 0}, {2, 3.16, 0}, {16, 3.16, 0}, {64, 3.16, 0.01}},
	"Pair/worker":     {{1, 1, 0}, {2, 1, 0}, {16, 1, 0}, {64, 1, 0.05}},
	"Churn/pool":      {{1, 3.16, 0}, {2, 3.16, 0}, {16, 3.11, 0.03}, {64, 3.13, 0.07}},
	"Churn/worker":    {{1, 1, 0}, {2, 1, 0}, {16, 1, 0}, {64, 1.01, 0.13}},
	"Get/pool":        {{1, 0, 0}, {2, 0, 0}, {16, 0, 0}, {64, 0, 0}},
	"Get/guard":       {{1, 0.02, 0}, {2, 0.02, 0}, {16, 0.02, 0}, {64, 0.02, 0}},
	"Mix/pool":        {{1, 0.22, 0}, {2, 0.2, 0.22}, {16, 0.21, 1.27}, {64, 0.21, 1.95}},
	"Pin/pool":        {{1, 1, 0}, {2, 1, 0}, {16, 1, 0}, {64, 1, 0}},
	"Handover/pool":   {{1, 3.19, 0}, {2, 3.19, 1.96}, {16, 3.11, 1.91}, {64, 3.2, 1.85}},
	"Handover/worker": {{1, 1.19, 0}, {2, 1.18, 1.49}, {16, 1.15, 1.49}, {64, 1.13, 1.49}},
	"FIFO/fifo":       {{1, 3.33, 0}, {2, 3.2, 0}, {16, 3.2, 0}, {64, 3.2, 0}},
}

func costs() simulate.Costs {
	c := simulate.Server()
	c.Scattered = false
	return c
}

// Where processors contend, one access more or less changes their later order, so counts
// may differ by some hundredths. They must not grow.
func TestCounts(t *testing.T) {
	for _, p := range All() {
		for _, want := range counts[p.ID+"/"+p.Impl] {
			t.Run(fmt.Sprintf("%s/%s/%d", p.ID, p.Impl, want.processors), func(t *testing.T) {
				f := Simulate(&p, want.processors, costs(), 1, Brief)
				locked, transfers := float64(f.Locked)/float64(f.Operations), float64(f.Transfers)/float64(f.Operations)
				require.InDelta(t, want.locked, locked, 0.02+0.1*want.locked, "locked instructions")
				require.InDelta(t, want.transfers, transfers, 0.05+0.2*want.transfers, "lines that moved")
			})
		}
	}
}

// A run is deterministic.
func TestSimulationsRepeat(t *testing.T) {
	for _, p := range All() {
		if p.ID == "Pair" {
			require.Equal(t, Simulate(&p, 4, simulate.Server(), 1, Brief), Simulate(&p, 4, simulate.Server(), 1, Brief), p.Name())
		}
	}
}

// The controls scale as expected: a shared counter does not, and counters of their own do.
func TestControlsScaleAsKnown(t *testing.T) {
	for _, p := range All() {
		if p.ID == "Counter" {
			growth := Simulate(&p, 1, simulate.Server(), 1, Brief).Nanoseconds / Simulate(&p, 64, simulate.Server(), 1, Brief).Nanoseconds
			if p.Impl == "shared" {
				require.Less(t, growth, 1.0)
			} else {
				require.InDelta(t, 64, growth, 1)
			}
		}
	}
}
