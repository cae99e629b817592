package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"

	"coatcheck/bench/apps"
	"coatcheck/bench/measure"
)

type flags struct {
	measure.Options
	out, from string
	readme    bool
	app       string    // a program to run in this process, or ""
	load      apps.Load // of it
	profile   string
	spin      bool
	args      []string // as they were given
}

// parse parses the arguments. On -h it prints the help to out and returns flag.ErrHelp.
func parse(args []string, out io.Writer) (*flags, error) {
	a := &flags{args: args}
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.BoolVar(&a.Quick, "quick", false, "every case once, with a few hundred operations, to see that it works: a line for each question, and no figures")
	set.IntVar(&a.Rounds, "rounds", 7, "turns of each case")
	set.StringVar(&a.out, "out", "", "write the figures to this `directory`, in a file that is named after the processor; by default to a new temporary one")
	set.StringVar(&a.from, "from", "", "measure nothing, report the figures of this `file`")
	set.BoolVar(&a.readme, "readme", false, "rewrite the tables of the documents, by all files in the directory of the figures, and the chart; run it in bench")
	set.StringVar(&a.app, "app", "", "run one `program` in this process, such as ForkJoin/pool, and print its figures")
	set.IntVar(&a.load.Goroutines, "goroutines", runtime.GOMAXPROCS(0), "goroutines of -app")
	set.BoolVar(&a.load.Quick, "tiny", false, "let -app do little")
	set.StringVar(&a.profile, "cpuprofile", "", "write a profile of the processor of -app to this `file`")
	set.BoolVar(&a.spin, "spin", false, "spin until standard input ends: what runs beside busy programs")
	set.Func("only", "only the questions whose ID, or the cases whose full name, matches this `regexp`:\n-only 'Churn|Read', -only 'impl=(pool|mutex)/'", func(text string) (err error) {
		a.Only, err = regexp.Compile(text)
		return err
	})
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, "bench measures the pool beside what programs use in its place.\n\n")
		set.SetOutput(out)
		set.PrintDefaults()
	case err != nil:
	case set.NArg() > 0:
		err = fmt.Errorf("%q is not a flag", set.Arg(0))
	case a.app == "" && (a.profile != "" || a.load.Quick):
		err = errors.New("-cpuprofile and -tiny are for -app")
	case a.load.Goroutines < 1:
		err = fmt.Errorf("-goroutines %d: at least one", a.load.Goroutines)
	case a.Rounds < 1:
		err = fmt.Errorf("-rounds %d: at least one", a.Rounds)
	case a.from != "" && a.Only != nil:
		err = errors.New("-only chooses what is measured, and -from measures nothing")
	case a.Quick && (a.readme || a.from != "" || a.out != ""):
		err = errors.New("-quick has no figures for -readme, -from and -out")
	case a.readme:
		if _, missing := os.Stat("../README.md"); missing != nil {
			err = fmt.Errorf("-readme is for the directory bench: %w", missing)
		}
	}
	return a, err
}
