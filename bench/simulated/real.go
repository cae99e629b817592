//go:build !simulate

package main

import (
	"flag"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"coatcheck/internal/check/turns"
	"coatcheck/internal/simulate/programs"
)

// run measures each program with each number of goroutines, in rounds, so that whatever
// slows the machine down hits all of them.
func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("simulated", flag.ExitOnError)
	numbers := flags.String("goroutines", "1,2,4,8,16", "run with these numbers of goroutines")
	rounds := flags.Int("rounds", 9, "measure each that often")
	long := flags.Duration("time", 30*time.Millisecond, "measure for that long")
	only := flags.String("only", ".", "run the programs that match")
	flags.Parse(args)
	matches, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	var names []string
	var runners []*programs.Runner
	for _, p := range programs.All() {
		if !matches.MatchString(p.Name()) {
			continue
		}
		for _, number := range strings.Split(*numbers, ",") {
			n, err := strconv.Atoi(number)
			if err != nil {
				return err
			}
			r := programs.NewRunner(&p, n)
			defer r.Close()
			r.Measure(*long) // warms it up
			runners = append(runners, r)
			names = append(names, fmt.Sprintf("Benchmark%s/goroutines=%d", p.Name(), n))
		}
	}
	fmt.Fprintf(out, "goos: %s\ngoarch: %s\ncores: %d\ngo: %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	for _, i := range turns.Order(*rounds, len(runners)) {
		f := runners[i].Measure(*long)
		fmt.Fprintf(out, "%s %d %.4g ns/op\n", names[i], max(1, f.Operations), f.Nanoseconds)
	}
	return nil
}
