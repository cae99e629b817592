// Mutants puts bugs into copies of the code and requires that a scenario or a test finds each of them.
//
// Exploration that reports nothing proves something only if it would have reported a bug. Most bugs
// are slips that nobody chose: one of the likely ones of a line (slips.go). With -drawn, lines are drawn by a
// seed; -at names them. What fails with a slip has found it only if it passes without. A survivor is a test
// that is missing, or goes into equivalents.txt with the reason why nobody can tell.
//
// What no slip can be is a patch with a few lines of header: a rule that DESIGN.md refutes, a bug at
// two places at once, one that only late stores show. See docs/checks.md for how patches are written and
// judged.
//
//	go run ./internal/check/mutants            # all patches; exits with 1 if any survives
//	go run ./internal/check/mutants -short     # the quick ones; for CI
//	go run ./internal/check/mutants -only Pop -v
//	go run ./internal/check/mutants -check     # lists patches that do not apply any more, or do not compile
//	go run ./internal/check/mutants -drawn 17 -n 300   # slips that nobody chose, drawn by this seed
//	go run ./internal/check/mutants -drawn 17 -only pool/explain.go   # those of one file
//	go run ./internal/check/mutants -drawn 17 -only 'min or max lost'  # those of one kind
//	go run ./internal/check/mutants -drawn 17 -n 300 -again out       # those that are not killed in the output of an earlier run
//	go run ./internal/check/mutants -at shard/batches.go:100-120      # every slip of these lines
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.uber.org/atomic"
)

// config has the values of the flags.
type config struct {
	short, check, verbose bool
	only                  *regexp.Regexp
	at                    []region
	again                 string
	jobs                  int
	limit                 time.Duration

	building, running atomic.Duration // processor time of builds, and of killers
}

// spent adds the processor time of a process that has ended, or did not start.
func spent(on *atomic.Duration, cmd *exec.Cmd) {
	if p := cmd.ProcessState; p != nil {
		on.Add(p.UserTime() + p.SystemTime())
	}
}

// cost returns what n mutants have cost.
func (c *config) cost(n int) string {
	building, running := c.building.Load(), c.running.Load()
	each := (building + running) / time.Duration(max(n, 1))
	return fmt.Sprintf("processor time: %v to build, %v to run; %v a mutant", building.Round(time.Second), running.Round(time.Second), each.Round(100*time.Millisecond))
}

func main() {
	var c config
	flag.BoolVar(&c.short, "short", false, "run only the quick mutants; with -drawn or -at, run the quick layers alone")
	flag.BoolVar(&c.check, "check", false, "list the mutants that do not apply any more or do not compile, and run nothing")
	flag.BoolVar(&c.verbose, "v", false, "print what the killers print")
	name := flag.String("only", "", "run only the mutants, or draw only the slips, whose names or files match this regular expression, in any case")
	flag.IntVar(&c.jobs, "j", 2, "number of mutants that run at once")
	flag.DurationVar(&c.limit, "limit", 2*time.Minute, "time limit of a scenario")
	seed := flag.Uint64("drawn", 0, "draw slips by this seed, instead of the mutants; with -check, only list them")
	flag.StringVar(&c.again, "again", "", "with -drawn or -at, try only the slips that are not killed in the output of an earlier run, which this file has")
	count := flag.Int("n", 30, "how many slips to draw")
	lines := flag.String("at", "", "try every slip of these lines, such as shard/batches.go:100-120,shard/remove.go:30")
	flag.Parse()
	only, err := regexp.Compile("(?i)" + *name)
	if c.only = only; err == nil && *lines != "" {
		c.at, err = regions(*lines)
	}
	if err == nil {
		err = run(&c, *seed, *count)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run does what the flags choose. It returns an error also if a mutant survived.
func run(c *config, seed uint64, count int) error {
	all, err := load()
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(all, func(m mutant) bool { return !c.only.MatchString(m.name) && !c.only.MatchString(m.file) })
	draws := seed != 0 || c.at != nil
	if len(list) == 0 && !draws || c.jobs < 1 {
		return errors.New("no mutant has such a name, or none is to run at once")
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return err
	}
	tree, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)

	begin := time.Now()
	cp := exec.Command("cp", "-r", "go.mod", "go.sum", "doc.go", "race_test.go", "epoch", "internal", "pool", "shard", tree)
	cp.Dir = strings.TrimSpace(string(root))
	if out, err := cp.CombinedOutput(); err != nil {
		return fmt.Errorf("cp: %w\n%s", err, out)
	}
	if draws {
		return drawnRun(c, tree, seed, count)
	}
	if err := check(list, tree); err != nil || c.check {
		return err
	}
	list = slices.DeleteFunc(list, func(m mutant) bool { return c.short && !m.quick })
	places, err := c.places(tree, len(list),
		func(i int) string { return groupOf(list[i].killer.pkg) },
		func(i int) (map[string]string, error) { return list[i].apply(tree) })
	if err != nil {
		return err
	}
	kills := tryAll(c, list, places)
	if err := passes(kills); err != nil {
		return err
	}
	fmt.Printf("\n%d of %d killed, and the unmutated tree passes; %v\n%s\n", len(kills), len(list), time.Since(begin).Round(time.Second), c.cost(len(list)))
	if n := len(list) - len(kills); n > 0 {
		return fmt.Errorf("%d survive", n)
	}
	return nil
}

// format is the format of a row: a mutant, what killed it, after how many schedules, with how
// many preemptions, and in what time.
const format = "%-66s %-32s %-64s %9v %5v  %v\n"

// tryAll tries every mutant, some at once, and prints a row for each, in the order of the list. It
// returns the kills.
func tryAll(c *config, list []mutant, places []place) (kills []kill) {
	results := make([]chan verdict, len(list))
	for i := range list {
		results[i] = make(chan verdict, 1)
		go func() { results[i] <- places[i].try(&list[i]) }()
	}
	fmt.Printf(format, "mutant", "attacks", "killed by", "schedules", "pre.", "time")
	for i, m := range list {
		v := <-results[i]
		by, killed := v.name, m.kills(v)
		if killed {
			kills = append(kills, kill{v, places[i].metaBench})
		} else {
			by = "SURVIVES " + by
		}
		fmt.Printf(format, m.name, path.Dir(m.file)+": "+strings.Join(m.attacks, ", "), by, v.schedules, v.preemptions, v.took.Round(10*time.Millisecond))
		if c.verbose || !killed {
			fmt.Printf("%s: %s\n", v.kind, v.text)
		}
	}
	return kills
}
