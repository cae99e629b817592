//go:build !simulate

package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"coatcheck/internal/simulate/programs"
)

// run measures each program with each number of goroutines, in rounds, so that whatever
// slows the machine down hits all of them.
func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("simulated", flag.ExitOnError)
	var (
		numbers = flags.String("goroutines", "1,2,4,8,16", "run with these numbers of goroutines")
		rounds  = flags.Int("rounds", 9, "measure each that often")
		long    = flags.Duration("time", 30*time.Millisecond, "measure for that long")
		only    = flags.String("only", ".", "run the programs that match")
	)
	flags.Parse(args)
	matches, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "goos: %s\ngoarch: %s\ncores: %d\ngo: %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	type opened struct {
		*programs.Runner
		name string
	}
	var runners []opened
	all := programs.All()
	for i := range all {
		for _, number := range strings.Split(*numbers, ",") {
			n, err := strconv.Atoi(number)
			if err != nil {
				return err
			}
			if p := &all[i]; matches.MatchString(p.Name()) {
				runners = append(runners, opened{programs.NewRunner(p, n), fmt.Sprintf("Benchmark%s/goroutines=%d", p.Name(), n)})
			}
		}
	}
	for round := range *rounds + 1 {
		for _, r := range runners {
			f := r.Measure(*long)
			if round > 0 { // the first warms up
				fmt.Fprintf(out, "%s %d %.4g ns/op\n", r.name, max(1, f.Operations), f.Nanoseconds)
			}
		}
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round, *rounds)
	}
	for _, r := range runners {
		r.Close()
	}
	return nil
}
