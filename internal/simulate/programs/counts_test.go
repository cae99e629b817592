//go:build simulate && amd64

package programs

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/simulate"
)

// counted is what an operation costs on so many processors, in what can be counted.
type counted struct {
	processors        int
	locked, transfers float64
}

// These are what operations cost now, with goroutines whose stacks lie side by side. Who
// changes one says in the table by how much: a locked instruction more, or a line that
// moves, is easily added and not seen on two cores.
var counts = map[string][]counted{
	"Counter/sharded": {{1, 1, 0}, {2, 1, 0}, {16, 1, 0}, {64, 1, 0}},
	"Counter/shared":  {{1, 1, 0}, {2, 1, 1}, {16, 1, 1}, {64, 1, 1}},
	"Pair/pool":       {{1, 3.16, 0}, {2, 3.16, 0}, {16, 3.16, 0}, {64, 3.15, 0.1}},
	"Pair/worker":     {{1, 1, 0}, {2, 1, 0}, {16, 1, 0.01}, {64, 1, 0.08}},
	"Churn/pool":      {{1, 3.16, 0}, {2, 3.16, 0}, {16, 3.15, 0}, {64, 3.15, 0.04}},
	"Churn/worker":    {{1, 1, 0}, {2, 1, 0}, {16, 1, 0}, {64, 1, 0}},
	"Get/pool":        {{1, 0, 0}, {2, 0, 0.01}, {16, 0, 0.01}, {64, 0, 0.02}},
	"Get/guard":       {{1, 0.02, 0}, {2, 0.02, 0.01}, {16, 0.02, 0.01}, {64, 0.02, 0.02}},
	"Mix/pool":        {{1, 0.21, 0}, {2, 0.2, 0.26}, {16, 0.21, 1.28}, {64, 0.2, 2.22}},
	"Pin/pool":        {{1, 1, 0}, {2, 1, 0}, {16, 1, 0}, {64, 1, 0}},
	"Handover/pool":   {{1, 3.19, 0}, {2, 3.19, 1.89}, {16, 5.99, 13.64}, {64, 4.89, 10.83}},
	"Handover/worker": {{1, 1.67, 0}, {2, 1.68, 1.51}, {16, 3.25, 7.35}, {64, 1.83, 4.03}},
	"FIFO/fifo":       {{1, 3.32, 0}, {2, 3.33, 0.65}, {16, 4.6, 8.76}, {64, 4.69, 8.83}},
}

func costs() simulate.Costs {
	c := simulate.Server()
	c.Scattered = false
	return c
}

// Where processors contend, one access more or less changes who is first from then on, so
// that counts may differ by some hundredths. What they must not do is grow.
func TestCounts(t *testing.T) {
	for _, p := range All() {
		for _, want := range counts[p.ID+"/"+p.Impl] {
			t.Run(fmt.Sprintf("%s/%s/%d", p.ID, p.Impl, want.processors), func(t *testing.T) {
				f := Simulate(&p, want.processors, costs(), 1)
				locked, transfers := float64(f.Locked)/float64(f.Operations), float64(f.Transfers)/float64(f.Operations)
				require.InDelta(t, want.locked, locked, 0.02+0.1*want.locked, "locked instructions")
				require.InDelta(t, want.transfers, transfers, 0.02+0.2*want.transfers, "lines that moved")
			})
		}
	}
}

// A run is the same each time that it is repeated.
func TestSimulationsRepeat(t *testing.T) {
	for _, p := range All() {
		if p.ID == "Pair" {
			require.Equal(t, Simulate(&p, 4, simulate.Server(), 1), Simulate(&p, 4, simulate.Server(), 1), p.Name())
		}
	}
}

// The controls scale as is known of them: a counter that all share does not, and counters
// of their own do.
func TestControlsScaleAsKnown(t *testing.T) {
	for _, p := range All() {
		if p.ID == "Counter" {
			growth := Simulate(&p, 1, simulate.Server(), 1).Nanoseconds / Simulate(&p, 64, simulate.Server(), 1).Nanoseconds
			if p.Impl == "shared" {
				require.Less(t, growth, 1.0)
			} else {
				require.InDelta(t, 64, growth, 1)
			}
		}
	}
}
