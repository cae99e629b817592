//go:build simulate

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"coatcheck/bench/report"
	"coatcheck/internal/simulate"
	"coatcheck/internal/simulate/programs"
)

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("simulated", flag.ExitOnError)
	costs := simulate.Server()
	costs.Flags(flags)
	numbers := flags.String("processors", "1,2,4,8,16,32,64,128", "simulate these `numbers` of processors")
	only := flags.String("only", ".", "simulate the programs that match a `regexp`")
	seed := flags.Uint64("seed", 1, "the seed of random choices")
	real := flags.String("beside", "", "compare with the measurements in this `file`")
	dir := flags.String("out", "", "write figures, a report and a chart to this `directory`")
	from := flags.String("from", "", "simulate nothing, report the figures of this `file`")
	flags.Parse(args)
	if *from != "" {
		figures, err := os.ReadFile(*from)
		if err != nil {
			return err
		}
		return write(*dir, figures)
	}
	matches, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(programs.All(), func(p programs.Program) bool { return !matches.MatchString(p.Name()) })
	if *real != "" {
		return beside(out, *real, all, costs, *seed)
	}
	var figures bytes.Buffer
	both := io.MultiWriter(out, &figures)
	fmt.Fprintf(both, "cpu: simulated\ncommand: go -C bench run -tags simulate ./simulated %s\n", strings.Join(args, " "))
	for i := range all {
		p := &all[i]
		for _, number := range strings.Split(*numbers, ",") {
			n, err := strconv.Atoi(number)
			if err != nil {
				return err
			}
			f := programs.Simulate(p, n, costs, *seed, programs.Steady)
			per := func(count int) float64 { return float64(count) / float64(f.Operations) }
			fmt.Fprintf(both, "Benchmark%s%s/goroutines=%d %d %.4g ns/op %.4g transfers/op %.4g misses/op %.4g locked/op %.4g loads/op %.4g parks/op\n",
				prefix, p.Name(), n, f.Operations, f.Nanoseconds, per(f.Transfers), per(f.Misses), per(f.Locked), per(f.Loads), per(f.Parks))
		}
	}
	if *dir == "" {
		return nil
	}
	return write(*dir, figures.Bytes())
}

// prefix marks each name as that of a simulated figure.
const prefix = "Simulated"

// write writes the figures, the report and the chart to a directory.
func write(dir string, figures []byte) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	file := filepath.Join(dir, "simulated.txt")
	if err := os.WriteFile(file, figures, 0o666); err != nil {
		return err
	}
	f, err := report.Read(bytes.NewReader(figures), file)
	if err != nil {
		return err
	}
	var page, picture bytes.Buffer
	if err := report.HTML(&page, f, questions); err != nil {
		return err
	}
	if err := report.File(&picture, f, &questions[0]); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "simulated.html"), page.Bytes(), 0o666),
		os.WriteFile(filepath.Join(dir, "many-processors.svg"), picture.Bytes(), 0o666))
}
