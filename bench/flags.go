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

// budget is the time of a pass without -rounds.
const budget = 105 * time.Second

type flags struct {
	options measure.Options
	only    string
	out     string
	from    string
	readme  bool
	args    []string // as they were given
}

// parse parses the arguments. On -h it prints the help to out and returns flag.ErrHelp.
func parse(args []string, out io.Writer) (*flags, error) {
	a := &flags{args: args}
	o := &a.options
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.BoolVar(&o.Quick, "quick", false, "every case once, with a few hundred operations, to see that it works.\nThe figures mean nothing")
	set.IntVar(&o.Rounds, "rounds", 0, "turns of each case: all of them, however long it takes (by default 7, fewer if time is short)")
	set.Uint64Var(&o.Seed, "seed", 1, "of all random choices")
	set.StringVar(&a.only, "only", "", "only the questions whose ID, or the cases whose full name, matches this `regexp`:\n-only 'Churn|Read', -only 'impl=(pool|mutex)/'")
	set.StringVar(&a.out, "out", "", "write to this `directory`; by default a new temporary one, whose name is printed")
	set.StringVar(&a.from, "from", "", "measure nothing, report the figures of this `file`")
	set.BoolVar(&a.readme, "readme", false, "rewrite the tables and the chart of the documents; run it in bench")
	cpu := set.String("cpu", "", "a `list` of GOMAXPROCS such as 1,2,4: everything is measured with each of them")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(out, "bench measures the pool beside what programs use in its place.\n\n")
			set.SetOutput(out)
			set.PrintDefaults()
		}
		return nil, err
	}
	given := make(map[string]bool)
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return a, a.check(set.Args(), given, *cpu)
}

// check returns an error if a flag is wrong, or two contradict each other.
func (a *flags) check(rest []string, given map[string]bool, cpu string) (err error) {
	o := &a.options
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%q is not a flag", rest[0])
	case o.Quick && given["rounds"]:
		return errors.New("-quick has one round; leave -rounds out")
	case given["rounds"] && o.Rounds < 1:
		return fmt.Errorf("-rounds %d: at least one", o.Rounds)
	case o.Quick && a.readme:
		return errors.New("-quick has no figures for -readme; leave one out")
	}
	if a.from != "" {
		for _, name := range []string{"quick", "only", "cpu", "rounds", "seed"} {
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
	if !given["rounds"] {
		o.Budget = budget
	}
	return nil
}

// counts parses a list of numbers such as 1,2,4.
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
			return nil, fmt.Errorf("-cpu %s: %d twice", list, n)
		}
		seen[n] = true
		ns = append(ns, n)
	}
	return ns, nil
}
