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

// flags are what the program was asked for.
type flags struct {
	options measure.Options
	only    string
	out     string
	from    string
	readme  bool
	args    []string // as they were given
}

// parse reads the arguments. It prints the help to out if they ask for it, which is
// flag.ErrHelp.
func parse(args []string, out io.Writer) (*flags, error) {
	a := &flags{args: args}
	o := &a.options
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.BoolVar(&o.Quick, "quick", false, "every case once, with a few hundred operations: whether all of it works.\nThe figures mean nothing")
	set.BoolVar(&o.Full, "full", false, "every size of values and stores, every number of goroutines, more rounds. Takes long")
	set.IntVar(&o.Rounds, "rounds", 0, "turns that each case takes (7; 15 with -full)")
	set.Uint64Var(&o.Seed, "seed", 1, "of all that is drawn at random")
	set.StringVar(&a.only, "only", "", "only the questions whose name, or the cases whose full name, matches this `regexp`:\n-only 'Churn|Read', -only 'impl=(pool|mutex)/'")
	set.StringVar(&a.out, "out", "", "where to write; by default a new temporary `directory`, whose name is printed")
	set.StringVar(&a.from, "from", "", "measure nothing, report the figures of this `file`")
	set.BoolVar(&a.readme, "readme", false, "rewrite the tables in README.md and ../README.md; run it in bench")
	cpu := set.String("cpu", "", "GOMAXPROCS, a `list` as 1,2,4: everything is measured with each of them")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(out, "bench measures the pool side by side with what people would use in its place.\n\n")
			set.SetOutput(out)
			set.PrintDefaults()
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
