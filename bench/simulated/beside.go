//go:build simulate

package main

import (
	"fmt"
	"io"
	"strings"

	"coatcheck/bench/report"
	"coatcheck/internal/check/turns"
	"coatcheck/internal/simulate"
	"coatcheck/internal/simulate/programs"
)

// beside simulates what was measured and prints both. The cost of an operation apart from
// its accesses is fitted to one processor; the growth of throughput is predicted.
func beside(out io.Writer, file string, all []programs.Program, costs simulate.Costs, seed uint64) error {
	figures, err := report.ReadFile(file)
	if err != nil {
		return err
	}
	measured := map[string]float64{} // medians in nanoseconds
	for _, s := range figures.Series {
		measured[s.Name] = 1e9 * turns.Median(s.Rounds["sec/op"])
	}
	fmt.Fprintf(out, "| program | goroutines | ns/op on one | beside accesses | growth measured | growth predicted | off by |\n|%s\n", strings.Repeat("---|", 7))
	for i := range all {
		p := &all[i]
		real := func(n int) float64 { return measured[fmt.Sprintf("%s/goroutines=%d", p.Name(), n)] }
		simulated := func(n int) float64 { return programs.Simulate(p, n, costs, seed, programs.Steady).Nanoseconds }
		if real(1) == 0 {
			continue
		}
		p.Work = 0
		p.Work = max(0, real(1)-simulated(1))
		for n := 2; n <= 256; n *= 2 {
			if real(n) == 0 {
				continue
			}
			growth, predicted := real(1)/real(n), simulated(1)/simulated(n)
			fmt.Fprintf(out, "| %s | %d | %.4g | %.3g | %.2f | %.2f | %+.0f %% |\n", p.Name(), n, real(1), p.Work, growth, predicted, 100*(predicted/growth-1))
		}
	}
	return nil
}
