package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"coatcheck/bench/measure"
)

// budget is how long a run with the default flags may take.
const budget = 105 * time.Second

const help = `bench measures the pool side by side with what people would use in its place.

    go -C bench run . [flags]

It prints tables and writes bench.txt, the figures in Go's benchmark format, and
report.html, a report with charts.

How much to measure
    -quick        every case once, with a few hundred operations: whether all of it
                  works, in some seconds. The figures mean nothing.
    -full         every size of values and stores, every number of goroutines, more
                  rounds. Takes long.
    -only REGEXP  only the questions whose name, or the cases whose full name,
                  matches: -only 'Churn|Read', -only 'impl=(pool|mutex)/'
    -cpu LIST     GOMAXPROCS, as 1,2,4: everything is measured with each of them
    -rounds N     turns that each case takes (7; 15 with -full)
    -seed N       of all that is drawn at random (1)

What to do with the figures
    -out DIR      where to write; by default a new temporary directory, whose name
                  is printed
    -from FILE    measure nothing, report the figures of this file
    -readme       rewrite the tables in README.md and ../README.md; run it in bench

The exit status is 1 when a contestant's values or counts were wrong.
`

// flags are what the program was asked for.
type flags struct {
	options measure.Options
	only    string
	out     string
	from    string
	readme  bool
	args    []string // as they were given
}

var errHelp = errors.New("help")

// parse reads the arguments. It prints the help if they ask for it.
func parse(args []string, stdout io.Writer) (*flags, error) {
	a := &flags{args: args}
	o := &a.options
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	set.BoolVar(&o.Quick, "quick", false, "")
	set.BoolVar(&o.Full, "full", false, "")
	set.IntVar(&o.Rounds, "rounds", 0, "")
	set.Uint64Var(&o.Seed, "seed", 1, "")
	set.StringVar(&a.only, "only", "", "")
	set.StringVar(&a.out, "out", "", "")
	set.StringVar(&a.from, "from", "", "")
	set.BoolVar(&a.readme, "readme", false, "")
	cpu := set.String("cpu", "", "")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stdout, help)
			return nil, errHelp
		}
		return nil, err
	}
	given := make(map[string]bool)
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return a, a.check(set.Args(), given, *cpu)
}

// check sees whether the flags make sense, and together.
func (a *flags) check(rest []string, given map[string]bool, cpu string) (err error) {
	o := &a.options
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%q is not a flag", rest[0])
	case o.Quick && o.Full:
		return errors.New("-quick and -full contradict each other")
	case o.Quick && given["rounds"]:
		return errors.New("-quick has one round; leave -rounds out")
	case given["rounds"] && o.Rounds < 1:
		return fmt.Errorf("-rounds %d: at least one", o.Rounds)
	case o.Quick && a.readme:
		return errors.New("-readme wants figures that mean something; leave -quick out")
	}
	if a.from != "" {
		for _, name := range []string{"quick", "full", "only", "cpu", "rounds", "seed"} {
			if given[name] {
				return fmt.Errorf("-from measures nothing; leave -%s out", name)
			}
		}
	}
	if a.readme {
		if _, err := os.Stat("../README.md"); err != nil {
			return fmt.Errorf("-readme is for the directory bench: %w", err)
		}
	}
	if a.only != "" {
		if o.Only, err = regexp.Compile(a.only); err != nil {
			return fmt.Errorf("-only: %w", err)
		}
	}
	if o.Procs, err = counts(cpu); err != nil {
		return err
	}
	if !o.Full && !given["rounds"] {
		o.Budget = budget
	}
	return nil
}

// counts reads a list of numbers as 1,2,4.
func counts(list string) (ns []int, err error) {
	if list == "" {
		return nil, nil
	}
	seen := make(map[int]bool)
	for _, text := range strings.Split(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || n > 1024 {
			return nil, fmt.Errorf("-cpu %s: %q is not a number from 1 to 1024", list, text)
		}
		if seen[n] {
			return nil, fmt.Errorf("-cpu %s: %d is there twice", list, n)
		}
		seen[n] = true
		ns = append(ns, n)
	}
	return ns, nil
}
