// Mutants puts known bugs into copies of the protocol and demands that schedule
// exploration finds each of them.
//
// Exploration that reports nothing proves something only if it would have
// reported a bug. So here are bugs to report: those that others shipped and that
// prototypes had, one for each row of the table that the protocol began with (see
// rows.go), and for each invariant of DESIGN.md those that its comments warn of.
// Such a bug is a seed: a few lines of the real code, the lines that take their
// place, and the scenarios of package pool that must notice. The structures that stand
// on pool have seeds as well, against the rules that they state, and so have magazines of
// package shard, which need more slots than can be explored with. A seed names the
// package whose scenarios must notice, or, if schedules do not matter to it, the
// package's ordinary tests.
//
//	go run ./internal/check/mutants            # all; exits with 1 if any survives
//	go run ./internal/check/mutants -short     # the quick ones, some for each row; for CI
//	go run ./internal/check/mutants -only Pop -v
//	go run ./internal/check/mutants -list
//	go run ./internal/check/mutants -generated 30s  # how many do generated programs find?
//
// The tree is copied to a temporary directory first, so that production code
// never sees a seed and edits meanwhile do not matter. Each seed is applied to the
// copy, the tests are built with the tag interleave, and the seed's scenarios run
// in order, each in a process of its own, until one kills; then its tests do, built
// without the tag and run with -short. In the end the copy as it was must pass each
// test that killed, and each scenario that did, under all schedules with as many
// preemptions as its kills took: otherwise it would kill anything.
//
// A seed is killed if the explorer reports that an invariant is broken: a slot in
// two places or in none, one reused under a guard, a handle issued twice, and so
// on; or if a test fails by what it checks. It survives if nothing fails, and also if
// what fails is no invariant: a build, a time limit, a livelock, a deadlock, a panic,
// or a run that is not deterministic (see judge.go). Where a deadlock or a panic is
// what the bug comes to, the seed says so, and is killed by that alone. A seed whose
// old text does not occur exactly once is an error.
//
// To add a seed: write it into the file that is named after what it attacks, with
// the shortest old text that occurs once; find who notices with
//
//	go run ./internal/check/mutants -only 'its name' -all
//
// and name the quickest in by. Mark it quick if that takes less than a second and
// its row has no quick seed yet. If nobody notices, either a scenario is missing or
// the change is no bug: argue which.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"time"
)

// config is what the flags say.
type config struct {
	short, list, verbose, all bool

	only  *regexp.Regexp
	jobs  int
	bound int
	limit time.Duration

	generated time.Duration // judge seeds of pool by generated programs alone
	every     int           // and only every so-manieth of them
}

func main() {
	var c config
	only := flag.String("only", "", "only the seeds whose names match this regular expression")
	flag.BoolVar(&c.short, "short", false, "only the quick seeds")
	flag.BoolVar(&c.list, "list", false, "list seeds and rows, and run nothing")
	flag.BoolVar(&c.verbose, "v", false, "say what was broken")
	flag.BoolVar(&c.all, "all", false, "run every scenario, and test, and name all that kill")
	jobs := flag.Int("j", 2, "mutants at once")
	flag.IntVar(&c.bound, "bound", 2, "preemptions at most")
	flag.DurationVar(&c.limit, "limit", 2*time.Minute, "time for one scenario")
	flag.DurationVar(&c.generated, "generated", 0, "in place of scenarios, draw programs for so long for each seed of pool")
	flag.IntVar(&c.every, "every", 1, "only every so-manieth seed")
	flag.Parse()
	err := c.set(*only, *jobs)
	if err == nil {
		err = run(&c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// set sets what not every value is good for.
func (c *config) set(only string, jobs int) (err error) {
	if c.jobs = jobs; jobs < 1 {
		return errors.New("-j must be at least 1")
	}
	c.only, err = regexp.Compile(only)
	return err
}

// chosen returns the seeds that the flags choose.
func (c *config) chosen() []seed {
	var list []seed
	for _, s := range seeds {
		if (s.quick || !c.short) && c.only.MatchString(s.name) && (c.generated == 0 || s.pkg() == poolPackage) {
			if c.generated > 0 {
				s.by, s.tests = []string{generatedPrograms}, nil
			}
			list = append(list, s)
		}
	}
	return every(list, c.every)
}

// every returns the first of list and every n-th after it.
func every(list []seed, n int) (some []seed) {
	for i := 0; i < len(list); i += max(n, 1) {
		some = append(some, list[i])
	}
	return some
}

// run does what the flags say. Its error is also that a seed survived.
func run(c *config) error {
	list := c.chosen()
	if len(list) == 0 {
		return errors.New("no seed has such a name")
	}
	if c.list {
		printList(os.Stdout, list)
		return nil
	}
	root, err := findRoot()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	begin := time.Now()
	benches, err := newBenches(c, root, scratch)
	if err != nil {
		return err
	}
	plain, err := benches[0].unmutated(list)
	if err != nil {
		return err
	}
	kills, err := try(c, benches, list)
	if err != nil {
		return err
	}
	if err := plain.passes(kills); err != nil {
		return err
	}
	fmt.Printf("\n%d of %d killed, and the unmutated tree passes; %v\n", len(kills), len(list), time.Since(begin).Round(time.Second))
	if n := len(list) - len(kills); n > 0 {
		return fmt.Errorf("%d survive", n)
	}
	return nil
}

// try tries every seed, on as many benches as there are, and prints a row of the
// table for each, in the order of the list. It returns the results of those that
// were killed.
func try(c *config, benches []*bench, list []seed) (killed []result, err error) {
	results := make([]chan result, len(list))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	next := make(chan int)
	for _, b := range benches {
		go func() {
			for i := range next {
				results[i] <- b.try(&list[i])
			}
		}()
	}
	go func() {
		for i := range list {
			next <- i
		}
		close(next)
	}()
	printHead(os.Stdout)
	for i := range list {
		r := <-results[i]
		if r.err != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", list[i].name, r.err))
			continue
		}
		if r.killed() {
			killed = append(killed, r)
		}
		printRow(os.Stdout, &list[i], &r, c.verbose)
	}
	return killed, err
}
