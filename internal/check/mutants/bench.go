package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"coatcheck/internal/check/interleave"
)

// suite is the tests of a package, in a build that has the tag how, or the race detector.
type suite struct{ pkg, how string }

// The builds that are no ordinary ones.
const (
	exploring = "interleave" // with hooked words, for scenarios
	recording = "coatcheck_debug"
	counting  = "coatcheck_costs"
	racing    = "race" // with the race detector, whose tag it is
)

func (u suite) explores() bool { return u.how == exploring }

// folder is the folder of u's tests, below the root. Pool's scenarios have one of their own.
func (u suite) folder() string {
	if u.explores() && u.pkg == "pool" {
		return "internal/check/explore"
	}
	return u.pkg
}

// killer is a scenario or an ordinary test.
type killer struct {
	suite
	name string
}

// test returns the killer's full name in go test.
func (k killer) test() string {
	if !k.explores() {
		return k.name
	}
	return "TestInterleave/" + strings.ReplaceAll(k.name, " ", "_")
}

// kind is how a scenario or a test ended: a kind of the explorer, or one of these.
type kind = interleave.Kind

const (
	passed  kind = "passed"
	failed  kind = "test failed"
	noBuild kind = "does not build"
	tooLong kind = "time limit"
	crashed kind = "crash" // it did not end, or not as it should
)

// verdict is the result of one scenario or test.
type verdict struct {
	killer
	kind        kind
	text        string // what it printed
	schedules   int    // until it was found
	preemptions int
	took        time.Duration
}

// bench builds and runs one mutant at a time, or several that are built together. Benches share a
// copy of the tree, which does not change: a mutant's files are an overlay.
type bench struct {
	*config
	tree string // the copy
	dir  string // in it, for the mutant's files and tests
}

// metaBench is the bench of a metamutant.
type metaBench struct {
	*bench
	after  map[string]string // its files
	mu     sync.Mutex        // of builds, and of usual
	builds map[suite]error   // of suites that were built, or could not be
	usual  map[layer]*usual
	reach  map[int][]int // which functions a mutant changes
	alone  chan *bench   // one for each mutant that runs at once
}

// place is where a mutant is tried: the build that has it, and its number there. The number is 0 if
// it is built alone.
type place struct {
	*metaBench
	number int
}

// places puts n mutants into as few builds as are cheap. A build has mutants of one group, as
// each of its functions has the bodies of all. after returns the files of a mutant.
func (c *config) places(tree string, n int, group func(i int) string, after func(i int) (map[string]string, error)) ([]place, error) {
	latest, parts, all := map[string]*metamutant{}, make([]*metamutant, n), make([]place, n)
	for i := range n {
		m := latest[group(i)]
		if m == nil || m.number == mostTogether(group(i)) {
			m = newMetamutant(tree)
			latest[group(i)] = m
		}
		files, err := after(i)
		if err == nil {
			parts[i] = m
			all[i].number, err = m.add(files)
		}
		if err != nil {
			return nil, err
		}
	}
	free, benches := make(chan *bench, c.jobs), map[*metamutant]*metaBench{}
	for i := range c.jobs {
		free <- &bench{c, tree, filepath.Join(tree, fmt.Sprint(".mutant", i))}
	}
	for i, m := range parts {
		if benches[m] == nil {
			b := &bench{c, tree, filepath.Join(tree, fmt.Sprint(".meta", len(benches)))}
			benches[m] = &metaBench{bench: b, after: m.after(), reach: m.reach, alone: free, builds: map[suite]error{}, usual: map[layer]*usual{}}
		}
		all[i].metaBench = benches[m]
	}
	return all, nil
}

// mostTogether is how many mutants of a group a build has. The code of generic functions is compiled
// for many types, and functions of many bodies take long.
func mostTogether(group string) int {
	if group == protocol {
		return 128
	}
	return 8
}

// protocol is the group of what has hardly any generic functions. Each structure is a group.
const protocol = "protocol"

func groupOf(pkg string) string {
	if strings.HasPrefix(pkg, "pool/") && !strings.HasPrefix(pkg, "pool/internal/") {
		return pkg
	}
	return protocol
}

// buildOnce builds the tests of u with all mutants, once.
func (w *metaBench) buildOnce(u suite) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err, known := w.builds[u]
	if !known {
		err = w.build(u, w.after)
		w.builds[u] = err
		if err != nil {
			fmt.Printf("each mutant of %s is built alone, as they do not build together: %v\n", u.pkg, err)
		}
	}
	return err
}

// kill is a mutant's verdict, and the build that it is of.
type kill struct {
	verdict
	at *metaBench
}

// passes runs every test and scenario that killed, with no mutant. All must pass. It explores a
// scenario with as many preemptions as its kills took, and at least one: without any there may be
// no switch inside an operation, which fails.
func passes(kills []kill) error {
	type asked struct {
		at          *metaBench
		preemptions int
	}
	all := map[killer]asked{}
	for _, k := range kills {
		all[k.killer] = asked{k.at, max(all[k.killer].preemptions, k.preemptions, 1)}
	}
	for k, a := range all {
		if a.at.buildOnce(k.suite) != nil {
			if err := a.at.build(k.suite, nil); err != nil {
				return fmt.Errorf("the unmutated tree: %w", err)
			}
		}
		if v := a.at.run(k, a.preemptions, 0); v.kind != passed {
			return fmt.Errorf("no kill by %q of %s counts, which the unmutated tree does not pass: %s: %s", k.name, k.pkg, v.kind, v.text)
		}
	}
	return nil
}

// try runs the killer of m, which is built alone if it has no number.
func (p place) try(m *mutant) verdict {
	b := <-p.alone
	defer func() { p.alone <- b }()
	if p.number > 0 && p.buildOnce(m.killer.suite) == nil {
		return p.run(m.killer, 2, p.number)
	}
	after, _ := m.apply(b.tree) // check has tried that
	if err := b.build(m.killer.suite, after); err != nil {
		return verdict{killer: m.killer, kind: noBuild, text: err.Error()}
	}
	return b.run(m.killer, 2, 0)
}

// patience returns a flag that tests have which wait: how long one may wait for what takes milliseconds, and
// so for what never comes. The machine may do much else. Tests without that flag would end at once, as if
// they had found the mutant.
func (b *bench) patience(u suite) []string {
	const flag = "-patience=20s"
	if b.command(context.Background(), u, 0, []string{"-test.list", "^$", flag}).Run() != nil {
		return nil
	}
	return []string{flag}
}

// environment is that of all builds.
var environment = []string{
	"CGO_ENABLED=0", // or Go would not see that all wait
	"GOGC=400",      // the compiler takes a quarter less
}

// binary is where the tests of u are built.
func (b *bench) binary(u suite) string {
	return filepath.Join(b.dir, strings.ReplaceAll(u.pkg, "/", "-")+"-"+u.how)
}

// build builds the tests of u, with the files in after instead of the tree's. If u explores
// schedules, ordinary tests are left out. Paths are trimmed so that the build cache has the
// packages that are the same in all mutants. Checks are compiled without inlining, since
// compiling them again takes longer than running them.
func (b *bench) build(u suite, after map[string]string) error {
	replace := map[string]string{}
	if err := os.MkdirAll(b.dir, 0o777); err != nil {
		return err
	}
	for name, text := range after {
		file := filepath.Join(b.dir, strings.ReplaceAll(name, "/", "-"))
		if err := os.MkdirAll(filepath.Join(b.tree, filepath.Dir(name)), 0o777); err != nil { // compilers start there
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			return err
		}
		replace[filepath.Join(b.tree, name)] = file
	}
	args := []string{"test", "-c", "-vet=off", "-trimpath", "-ldflags=-s -w", "-gcflags=./internal/check/...=-l -dwarf=false", "-o", b.binary(u), "-overlay", b.binary(u) + ".json"}
	switch u.how {
	case "":
	case racing:
		args = append(args, "-race")
	default:
		args = append(args, "-tags", u.how)
	}
	if u.explores() {
		tests, _ := filepath.Glob(filepath.Join(b.tree, u.folder(), "*_test.go"))
		for _, file := range tests {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if !bytes.HasPrefix(text, []byte("//go:build interleave\n")) && filepath.Base(file) != "export_test.go" { // which the others need
				replace[file] = ""
			}
		}
	}
	overlay, _ := json.Marshal(map[string]any{"Replace": replace}) // strings cannot fail
	if err := os.WriteFile(b.binary(u)+".json", overlay, 0o666); err != nil {
		return err
	}
	cmd := exec.Command("go", append(args, "./"+u.folder())...)
	cmd.Dir = b.tree
	cmd.Env = append(cmd.Environ(), environment...)
	if u.how == racing {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1") // which the race detector needs
	}
	text, err := cmd.CombinedOutput()
	spent(&b.building, cmd)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
}

// run runs a scenario, with at most bound preemptions, or a test, with the mutant of a number, and
// judges it. Each runs in its own process without a timer, so Go's runtime detects a test that
// deadlocks at once.
func (b *bench) run(k killer, bound, number int) verdict {
	ctx, cancel := context.WithTimeout(context.Background(), b.limit)
	defer cancel()
	args := []string{"-test.v", "-test.run", wholly(k.test())}
	if k.explores() {
		args = append(args, fmt.Sprint("-interleave.bound=", bound))
	} else {
		args = append(args, "-test.short", "-test.timeout=0")
		args = append(args, b.patience(k.suite)...)
	}
	cmd := b.command(ctx, k.suite, number, args)
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	spent(&b.running, cmd)
	v := verdict{killer: k, took: time.Since(begin)}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		v.kind, v.text = tooLong, fmt.Sprintf("not finished after %v", b.limit)
	case err == nil:
		v.judge(string(out), 0)
	case errors.As(err, &exit):
		v.judge(string(out), exit.ExitCode())
	default:
		v.kind, v.text = crashed, err.Error()
	}
	return v
}

// command returns a process of the tests of u, with the mutant of a number.
func (b *bench) command(ctx context.Context, u suite, number int, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.binary(u), args...)
	cmd.Dir = filepath.Join(b.tree, u.folder())
	cmd.Env = append(cmd.Environ(), fmt.Sprint(chosenBy, "=", number))
	cmd.WaitDelay = time.Second
	return cmd
}

var report = regexp.MustCompile(`(?m)^ *\(([a-z ]+), run (\d+), (\d+) preemptions, seed \d+\)$`)

// asleep is the message of Go's runtime if all goroutines wait.
const asleep = "fatal error: all goroutines are asleep - deadlock!"

// outside is the end of messages of Go's runtime if a test by testing/synctest shares with others what
// belongs to its bubble. The process ends as by a panic.
const outside = " from outside bubble\n"

// judge judges what a process printed that ran one scenario or test, and its exit code. The code
// is 1 only if all tests have ended and one failed: a crash, a deadlock or a panic has another.
// If schedules are explored, the explorer must have made one report, whose kind is the verdict's.
func (v *verdict) judge(out string, code int) {
	v.kind, v.text = crashed, out
	switch reports := report.FindAllStringSubmatch(out, -1); {
	case code == 0 && strings.Contains(out, "--- PASS: "+v.test()+" ("):
		v.kind = passed
	case code == 1 && !strings.Contains(out, "--- FAIL: "+v.test()+" ("):
	case code == 1 && !v.explores():
		v.kind = failed
	case code == 1 && len(reports) == 1:
		v.kind = kind(reports[0][1])
		v.schedules, _ = strconv.Atoi(reports[0][2])
		v.preemptions, _ = strconv.Atoi(reports[0][3])
	case code == 2 && !v.explores() && strings.Contains(out, asleep):
		v.kind = interleave.Deadlock
	case code == 2 && !v.explores() && (strings.Contains(out, "panic: ") || strings.Contains(out, outside)):
		v.kind = interleave.Panicked
	}
}
