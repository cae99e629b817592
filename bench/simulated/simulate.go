//go:build simulate

package main

import (
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"coatcheck/internal/simulate"
	"coatcheck/internal/simulate/programs"
)

// run simulates the programs.
func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("simulated", flag.ExitOnError)
	costs := simulate.Server()
	costs.Flags(flags)
	var (
		numbers = flags.String("processors", "1,2,4,8,16,32,64,128", "simulate these `numbers` of processors")
		only    = flags.String("only", ".", "simulate the programs that match a `regexp`")
		seed    = flags.Uint64("seed", 1, "draw what is random by this `number`")
		real    = flags.String("beside", "", "put the simulation beside the measurements in this `file`")
	)
	flags.Parse(args)
	matches, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(programs.All(), func(p programs.Program) bool { return !matches.MatchString(p.Name()) })
	if *real != "" {
		return beside(out, *real, all, costs, *seed)
	}
	for i := range all {
		p := &all[i]
		for _, number := range strings.Split(*numbers, ",") {
			n, err := strconv.Atoi(number)
			if err != nil {
				return err
			}
			f := programs.Simulate(p, n, costs, *seed)
			per := func(count int) float64 { return float64(count) / float64(f.Operations) }
			fmt.Fprintf(out, "Benchmark%s/goroutines=%d %d %.4g ns/op %.4g transfers/op %.4g misses/op %.4g locked/op %.4g loads/op %.4g stores/op %.4g parks/op\n", p.Name(), n,
				f.Operations, f.Nanoseconds, per(f.Transfers), per(f.Misses), per(f.Locked), per(f.Loads), per(f.Stores), per(f.Parks))
		}
	}
	return nil
}
