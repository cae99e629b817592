// Mutants puts known bugs into copies of the code and requires that a scenario or a test
// finds each of them.
//
// Exploration that reports nothing proves something only if it would have reported a bug.
// The bugs here are those that other libraries shipped or that prototypes had, and for each
// invariant of DESIGN.md those that its comments warn of. Some are in the structures above
// package pool, against the rules that these state. Such a bug is a mutant: a patch with a
// few lines of header. See patches/README.md for how mutants are written and judged.
//
//	go run ./internal/check/mutants            # all; exits with 1 if any survives
//	go run ./internal/check/mutants -short     # the quick ones, one or two for each row; for CI
//	go run ./internal/check/mutants -only Pop -v
//	go run ./internal/check/mutants -list
//	go run ./internal/check/mutants -check     # lists patches that do not apply any more
//	go run ./internal/check/mutants -generated 30s  # how many do generated programs find?
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// config has the values of the flags.
type config struct {
	short, list, check, verbose, all bool
	only                             *regexp.Regexp
	jobs, bound                      int
	limit, generated                 time.Duration
}

func main() {
	var c config
	flag.BoolVar(&c.short, "short", false, "only the quick mutants")
	flag.BoolVar(&c.list, "list", false, "list mutants, and run nothing")
	flag.BoolVar(&c.check, "check", false, "list the mutants that do not apply any more, and run nothing")
	flag.BoolVar(&c.verbose, "v", false, "print what was broken")
	flag.BoolVar(&c.all, "all", false, "run every scenario and test, and list all that kill")
	name := flag.String("only", "", "run only the mutants whose names or files match this regular expression, in any case")
	flag.IntVar(&c.jobs, "j", 2, "number of mutants that run at once")
	flag.IntVar(&c.bound, "bound", 2, "most preemptions")
	flag.DurationVar(&c.limit, "limit", 2*time.Minute, "time limit of a scenario")
	flag.DurationVar(&c.generated, "generated", 0, "instead of scenarios, draw programs for this long for each mutant of pool")
	flag.Parse()
	only, err := regexp.Compile("(?i)" + *name)
	if c.only = only; err == nil {
		err = run(&c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// chosen returns the mutants that the flags choose, with the killers that they run in the
// tree at root.
func (c *config) chosen(all []mutant, root string) (list []mutant, err error) {
	for _, m := range all {
		named := c.only.MatchString(m.name) || c.only.MatchString(m.file)
		if !named || c.short && !m.quick || c.generated > 0 && m.pkg() != poolPackage {
			continue
		}
		if c.all {
			if m.killers, err = killersOf(root, m.pkg()); err != nil {
				return nil, err
			}
		}
		if c.generated > 0 {
			m.killers = []killer{{suite{poolPackage, true}, generated}}
		}
		list = append(list, m)
	}
	return list, nil
}

// run does what the flags choose. It returns an error also if a mutant survived.
func run(c *config) error {
	if c.jobs < 1 {
		return errors.New("-j must be at least 1")
	}
	all, err := load()
	if err != nil {
		return err
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return err
	}
	root := strings.TrimSpace(string(dir))
	list, err := c.chosen(all, root)
	switch {
	case err != nil:
		return err
	case len(list) == 0:
		return errors.New("no mutant has such a name")
	case c.list:
		for _, m := range list {
			fmt.Printf("%s: %s\n", m.file, strings.ReplaceAll(m.says, "\n", "; "))
		}
		return nil
	}
	tree, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)

	begin := time.Now()
	if err := copyTree(root, tree); err != nil {
		return err
	}
	if err := check(list, tree); err != nil || c.check {
		return err
	}
	plain := &bench{c, tree, filepath.Join(tree, ".unmutated")}
	if err := plain.prepare(list); err != nil {
		return err
	}
	benches := make(chan *bench, c.jobs)
	for i := range c.jobs {
		benches <- &bench{c, tree, filepath.Join(tree, fmt.Sprint(".mutant", i))}
	}
	kills := try(list, benches, c.verbose)
	if err := plain.passes(kills); err != nil {
		return err
	}
	fmt.Printf("\n%d of %d killed, and the unmutated tree passes; %v\n", len(kills), len(list), time.Since(begin).Round(time.Second))
	if n := len(list) - len(kills); n > 0 {
		return fmt.Errorf("%d survive", n)
	}
	return nil
}

// try tries every mutant on one of the benches, and prints a row of the table for each, in
// the order of the list. It returns the results of the mutants that were killed.
func try(list []mutant, benches chan *bench, verbose bool) (killed []result) {
	results := make([]chan result, len(list))
	for i := range list {
		results[i] = make(chan result, 1)
		go func() {
			b := <-benches
			results[i] <- b.try(&list[i])
			benches <- b
		}()
	}
	fmt.Printf(format, "mutant", "attacks", "killed by", "schedules", "pre.", "time")
	for i := range list {
		r := <-results[i]
		if len(r.kills) > 0 {
			killed = append(killed, r)
		}
		printRow(&list[i], &r, verbose)
	}
	return killed
}

// format is the format of the table's rows.
const format = "%-66s %-32s %-64s %9s %5s  %s\n"

// printRow prints the result of one mutant: what killed it, after how many schedules, with
// how many preemptions, and in what time.
func printRow(m *mutant, r *result, verbose bool) {
	name, target := m.name, path.Dir(m.file)+": "+strings.Join(m.attacks, ", ")
	for _, v := range r.kills {
		schedules, preemptions := "", ""
		if v.explores {
			schedules, preemptions = fmt.Sprint(v.schedules), fmt.Sprint(v.preemptions)
		}
		fmt.Printf(format, name, target, v.name, schedules, preemptions, v.took)
		if verbose {
			fmt.Printf("    %s\n", v.text)
		}
		name, target = "", ""
	}
	if len(r.kills) == 0 {
		fmt.Printf(format, name, target, "SURVIVES", "", "", "")
		for _, v := range r.other {
			fmt.Printf("    %s: %s: %s\n", v.name, v.kind, strings.TrimSpace(v.text))
		}
	}
}
