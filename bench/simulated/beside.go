//go:build simulate

package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"

	"coatcheck/internal/check/turns"
	"coatcheck/internal/simulate"
	"coatcheck/internal/simulate/programs"
)

// beside simulates what was measured and prints both. The cost of an operation apart from
// its accesses is fitted to one processor; the growth of throughput is predicted.
func beside(out io.Writer, file string, all []programs.Program, costs simulate.Costs, seed uint64) error {
	real, err := medians(file)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "| program | goroutines | ns/op on one | beside accesses | growth measured | growth predicted | off by |\n|---|---|---|---|---|---|---|")
	for i := range all {
		p := &all[i]
		alone := real[p.Name()][1]
		if alone == 0 {
			continue
		}
		p.Work = 0
		p.Work = max(0, alone-programs.Simulate(p, 1, costs, seed, programs.Steady).Nanoseconds)
		one := programs.Simulate(p, 1, costs, seed, programs.Steady).Nanoseconds
		for n := 2; n <= 256; n *= 2 {
			if real[p.Name()][n] == 0 {
				continue
			}
			measured, predicted := alone/real[p.Name()][n], one/programs.Simulate(p, n, costs, seed, programs.Steady).Nanoseconds
			fmt.Fprintf(out, "| %s | %d | %.4g | %.3g | %.2f | %.2f | %+.0f %% |\n", p.Name(), n, alone, p.Work, measured, predicted, 100*(predicted/measured-1))
		}
	}
	return nil
}

var benchmark = regexp.MustCompile(`(?m)^Benchmark(\S+)/goroutines=(\d+)\s+\d+\s+(\S+) ns/op`)

// medians returns the median times of a file, by program and number of goroutines.
func medians(file string) (map[string]map[int]float64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all := map[string]map[int][]float64{}
	for _, m := range benchmark.FindAllStringSubmatch(string(text), -1) {
		n, err1 := strconv.Atoi(m[2])
		v, err2 := strconv.ParseFloat(m[3], 64)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("%s: %q", file, m[0])
		}
		if all[m[1]] == nil {
			all[m[1]] = map[int][]float64{}
		}
		all[m[1]][n] = append(all[m[1]][n], v)
	}
	mid := map[string]map[int]float64{}
	for name, by := range all {
		mid[name] = map[int]float64{}
		for n, vs := range by {
			mid[name][n] = turns.Median(vs)
		}
	}
	return mid, nil
}
