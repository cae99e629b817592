package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// equivalents lists slips that change nothing which anybody can tell, each with the reason.
//
//go:embed equivalents.txt
var equivalents string

// layer is the tests of one package that may find a slip, and those of them that run.
type layer struct {
	suite
	run string
}

const everything = "." // the pattern of all tests

// layersOf returns what is run for a slip in a folder, the cheapest first. What a layer finds, the
// later ones need not.
func layersOf(folder string) (all []layer) {
	ordinary := func(pkg string) layer { return layer{suite{pkg, false}, everything} }
	explored := func(pkg string) layer { return layer{suite{pkg, true}, "Interleave"} }
	switch folder {
	case "epoch":
		all = append(all, ordinary("epoch"), ordinary("shard"), ordinary("internal/check/costs"))
	case "shard":
		all = append(all, ordinary("shard"), ordinary("internal/check/costs"))
	case "shard/slots":
		all = append(all, ordinary("shard/slots"), ordinary("shard"), ordinary("internal/check/costs"))
	case "pool/internal/codec":
		return append(all, ordinary("pool/internal/codec"), ordinary("pool"), ordinary("pool/table"))
	case "pool":
	default:
		all = append(all, ordinary(folder))
		if path.Base(folder) != "table" && path.Base(folder) != "cgohandle" {
			all = append(all, explored(folder))
		}
		return all
	}
	return append(all, layer{suite{"pool", false}, "OperationsMatchModel"}, ordinary("pool"), explored("pool"), layer{suite{".", false}, "Storm|Torture"})
}

// drawnRun draws slips, and runs the layers of each until one finds it. It returns an error if one
// survives that is not listed as equivalent.
func drawnRun(c *config, tree string, seed uint64, n int) error {
	all, err := slips(tree)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s slip) bool { return !c.only.MatchString(s.name()) })
	known, err := reasons(equivalents)
	if err != nil {
		return err
	}
	compiler := newCompiler(tree, "")
	drawn := draw(all, seed, n, func(s *slip) bool {
		after, err := s.apply(tree)
		return err == nil && compiler.compile(after) == nil
	})
	fmt.Printf("seed %d: %d slips of %d, on %d lines\n", seed, len(drawn), len(all), linesOf(all))
	places, err := c.places(tree, len(drawn),
		func(i int) string { return groupOf(path.Dir(drawn[i].file)) },
		func(i int) (map[string]string, error) { return drawn[i].apply(tree) })
	if err != nil {
		return err
	}
	begin, killed, equal, survivors := time.Now(), 0, 0, 0
	var left []int // which are to be tried, by builds
	for i := range drawn {
		switch s := &drawn[i]; {
		case c.check:
			fmt.Println(s)
		case known[s.name()] != "":
			equal++
			fmt.Printf("EQUIVALENT %v: %s\n", s, known[s.name()])
		default:
			left = append(left, i)
		}
	}
	slices.SortStableFunc(left, func(i, j int) int { return strings.Compare(places[i].dir, places[j].dir) })
	next, told := make(chan int), make(chan func())
	for range c.jobs {
		go func() {
			for i := range next {
				b := <-places[i].alone
				by, how := places[i].find(b, &drawn[i])
				places[i].alone <- b
				told <- func() {
					if s := &drawn[i]; by == "" {
						survivors++
						fmt.Printf("SURVIVES %v\n\tto list it as equivalent: %s = the reason\n", s, s.name())
					} else {
						killed++
						fmt.Printf("killed by %s (%s): %v\n", by, how, s)
					}
				}
			}
		}()
	}
	go func() {
		for _, i := range left {
			next <- i
		}
		close(next)
	}()
	for range left {
		(<-told)()
	}
	if c.check {
		return nil
	}
	fmt.Printf("\n%d of %d killed (%.1f %%), %d equivalent; %v; %s\n", killed, killed+survivors, 100*float64(killed)/float64(max(1, killed+survivors)), equal, time.Since(begin).Round(time.Second), c.cost(len(drawn)))
	if survivors > 0 {
		return fmt.Errorf("%d survive", survivors)
	}
	return nil
}

// linesOf returns on how many lines slips are.
func linesOf(all []slip) int {
	lines := map[string]bool{}
	for _, s := range all {
		lines[fmt.Sprint(s.file, s.line)] = true
	}
	return len(lines)
}

// reasons returns the reasons of listed slips, by their names.
func reasons(text string) (map[string]string, error) {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		i := strings.LastIndex(line, " = ")
		if i < 0 {
			return nil, fmt.Errorf("equivalents.txt: no reason in %q", line)
		}
		all[line[:i]] = line[i+len(" = "):]
	}
	return all, nil
}

// find runs the layers of a slip, and returns which found it, and how; or "" if none did. A test
// that hangs, or a process that crashes, has found it too. A slip without a number is built by b.
func (p place) find(b *bench, s *slip) (by, how string) {
	for _, l := range layersOf(path.Dir(s.file)) {
		what := l.pkg
		if l.explores {
			what += ", explored"
		}
		in, usual := p.bench, p.measure(l)
		if p.number == 0 || p.buildOnce(l.suite) != nil {
			after, err := s.apply(b.tree)
			if err != nil {
				return "nothing", err.Error()
			}
			if err := b.build(l.suite, after); err != nil {
				return what, "does not build"
			}
			in = b
		}
		for _, part := range usual.parts(l) {
			if how := in.suite(l, p.number, usual.limit(), part); how != "" {
				return what, how
			}
		}
	}
	for _, l := range layersOf(path.Dir(s.file)) { // what was left out runs with s alone
		after, err := s.apply(b.tree)
		usual := p.measure(l)
		if err != nil || len(usual.failed) == 0 || b.build(l.suite, after) != nil {
			continue
		}
		if how := b.suite(l, 0, usual.limit(), exactly(usual.failed)); how != "" {
			return l.pkg, how
		}
	}
	return "", ""
}

// usual is what a layer's tests do if no mutant was chosen.
type usual struct {
	took   map[string]time.Duration // by the tests that pass
	failed []string
	whole  time.Duration
	once   sync.Once
}

// measure runs the tests of a layer without a mutant, once. Those that fail are left out at first: a
// function with many bodies may allocate. What explores or storms does not see that, and takes long.
func (w *metaBench) measure(l layer) *usual {
	w.mu.Lock()
	u := w.usual[l]
	if u == nil {
		u = &usual{took: map[string]time.Duration{}}
		w.usual[l] = u
	}
	w.mu.Unlock()
	if l.explores || l.run != everything {
		return u
	}
	u.once.Do(func() {
		if w.buildOnce(l.suite) != nil {
			if err := w.build(l.suite, nil); err != nil {
				panic(err)
			}
		}
		begin := time.Now()
		out, _ := w.command(context.Background(), l.suite, 0, []string{"-test.v", "-test.short", "-test.run", l.run, "-test.timeout=0"}).Output()
		u.whole = time.Since(begin)
		for _, m := range ended.FindAllStringSubmatch(string(out), -1) {
			if took, err := time.ParseDuration(m[3] + "s"); err == nil && m[1] == "PASS" {
				u.took[m[2]] = took
			} else if m[1] == "FAIL" {
				u.failed = append(u.failed, m[2])
			}
		}
	})
	return u
}

// ended is the line of a test that has ended, and is no part of another.
var ended = regexp.MustCompile(`(?m)^--- (PASS|FAIL): (\S+) \(([0-9.]+)s\)$`)

// short is how long a test takes that runs before the others.
const short = 100 * time.Millisecond

// parts returns patterns of the tests of a layer that run first, as they take little, and of the
// others.
func (u *usual) parts(l layer) (patterns []string) {
	var quick, slow []string
	if len(u.took) == 0 {
		return []string{l.run}
	}
	for name, took := range u.took {
		if took < short {
			quick = append(quick, name)
		} else {
			slow = append(slow, name)
		}
	}
	for _, names := range [][]string{quick, slow} {
		if len(names) > 0 {
			patterns = append(patterns, exactly(names))
		}
	}
	return patterns
}

// exactly returns the pattern of some tests.
func exactly(names []string) string {
	slices.Sort(names)
	return "^(" + strings.Join(names, "|") + ")$"
}

// limit is how long the tests of a layer may take. The machine may do much else.
func (u *usual) limit() time.Duration {
	if u.whole == 0 {
		return 20 * time.Minute
	}
	return max(30*time.Second, 8*u.whole)
}

// suite runs the tests of a layer that match a pattern, with the mutant of a number, up to the first
// that fails. It returns how they failed, or "".
func (b *bench) suite(l layer, number int, limit time.Duration, pattern string) string {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args := []string{"-test.short", "-test.failfast", "-test.run", pattern, "-test.timeout=0", patience}
	cmd := b.command(ctx, l.suite, number, args)
	out, err := cmd.CombinedOutput()
	spent(&b.running, cmd)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return ""
	case ctx.Err() != nil:
		return "hangs"
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		for line := range strings.Lines(string(out)) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "--- FAIL: ") {
				name, _, _ := strings.Cut(strings.TrimPrefix(line, "--- FAIL: "), " ")
				return name
			}
		}
	}
	return "crash"
}
