package main

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A test that does not call the function which a slip changes cannot find it. So each test of a layer
// runs alone first, without a mutant, and notes which functions it has called (metamutant.go). What runs
// only some functions of a package, as most scenarios do, is left out for slips in the others.

// usual is what the tests of a layer do if no mutant was chosen.
type usual struct {
	tests []timed
	once  sync.Once
}

// timed is a test, or a scenario of one that explores.
type timed struct {
	name, part string // part is that of a subtest, or ""
	took       time.Duration
	fails      bool
	reached    []byte // for each function, 1 if it was called
}

// measure runs each test of a layer alone, once. Those that fail without a mutant are left out at first:
// a function with many bodies may allocate.
func (w *metaBench) measure(l layer) *usual {
	w.mu.Lock()
	u := w.usual[l]
	if u == nil {
		u = new(usual)
		w.usual[l] = u
	}
	w.mu.Unlock()
	u.once.Do(func() {
		if w.buildOnce(l.suite) != nil {
			if err := w.build(l.suite, nil); err != nil {
				panic(err)
			}
		}
		list, _ := w.command(context.Background(), l.suite, 0, []string{"-test.list", l.run}).Output()
		for _, name := range strings.Fields(string(list)) {
			switch {
			case !runnable.MatchString(name):
			case l.explores():
				for _, part := range w.scenarios(l, name) {
					u.tests = append(u.tests, timed{name: name, part: part})
				}
			default:
				u.tests = append(u.tests, timed{name: name})
			}
		}
		for i := range u.tests {
			w.time(l, &u.tests[i])
		}
	})
	return u
}

// runnable is the name of what runs without a flag of its own.
var runnable = regexp.MustCompile("^(Test|Example|Fuzz)")

// scenarios returns the parts of a test that explores; or one without a name.
func (w *metaBench) scenarios(l layer, name string) (parts []string) {
	out, _ := w.command(context.Background(), l.suite, 0, []string{"-test.v", "-test.short", "-test.run", exactly(name), "-interleave.bound=0"}).Output()
	for _, m := range regexp.MustCompile("(?m)^=== RUN   "+name+"/([^/\n]+)$").FindAllSubmatch(out, -1) {
		parts = append(parts, string(m[1]))
	}
	if len(parts) == 0 {
		return []string{""}
	}
	return parts
}

// time runs a test.
func (w *metaBench) time(l layer, t *timed) {
	file, err := os.CreateTemp(w.dir, "reached") // of its own, since layers are measured at once
	if err != nil {
		panic(err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	size, _ := strconv.Atoi(reachedBytes)
	if err := file.Truncate(int64(size)); err != nil {
		panic(err)
	}
	args := append([]string{"-test.short", "-test.run", pattern([]timed{*t}), "-test.timeout=0"}, w.patience(l.suite)...)
	if l.explores() {
		args = append(args, "-interleave.bound=1") // the functions are mostly the same with more
	}
	cmd := w.command(context.Background(), l.suite, 0, args)
	cmd.Env = append(cmd.Env, reachedIn+"="+file.Name())
	begin := time.Now()
	t.fails = cmd.Run() != nil
	t.took = time.Since(begin)
	spent(&w.running, cmd)
	if t.reached, err = os.ReadFile(file.Name()); err != nil {
		panic(err)
	}
}

// reaches reports whether t calls one of these functions, or whether it is not known which these are.
func (t *timed) reaches(functions []int) bool {
	return functions == nil || slices.ContainsFunc(functions, func(f int) bool { return t.reached[f] != 0 })
}

// short is how long a test takes that runs before the others.
const short = 100 * time.Millisecond

// part is tests that run in one process.
type part struct {
	pattern string
	skip    string        // the pattern of those of them that fail without a mutant too
	limit   time.Duration // the machine may do much else
}

// parts returns the tests that call one of these functions: those that run first, as they take little,
// and the others.
func (u *usual) parts(l layer, functions []int) (all []part) {
	var quick, slow []timed
	for _, t := range u.tests {
		switch {
		case t.fails || !t.reaches(functions):
		case t.took < short:
			quick = append(quick, t)
		default:
			slow = append(slow, t)
		}
	}
	for _, list := range [][]timed{quick, slow} {
		if len(list) > 0 {
			all = append(all, l.part(list))
		}
	}
	return all
}

// failing returns the tests that call one of these functions and fail without a mutant, if there are any.
func (u *usual) failing(l layer, functions []int) (p part, ok bool) {
	list := slices.DeleteFunc(slices.Clone(u.tests), func(t timed) bool { return !t.fails || !t.reaches(functions) })
	return l.part(list), len(list) > 0
}

func (l layer) part(list []timed) part {
	p := part{pattern: pattern(list)}
	for _, t := range list {
		p.limit += 8 * t.took
	}
	if p.limit = max(p.limit, 30*time.Second); l.explores() {
		p.limit = 20 * time.Minute // with more preemptions than those that were timed
	}
	return p
}

// pattern returns the pattern of tests and of parts of tests.
func pattern(list []timed) string {
	var alone []string
	parts := map[string][]string{}
	var alternatives []string
	for _, t := range list {
		if t.part == "" {
			alone = append(alone, t.name)
			continue
		}
		if parts[t.name] == nil {
			alternatives = append(alternatives, t.name)
		}
		parts[t.name] = append(parts[t.name], regexp.QuoteMeta(t.part))
	}
	for i, name := range alternatives {
		alternatives[i] = exactly(name) + "/" + exactly(parts[name]...)
	}
	if len(alone) > 0 {
		alternatives = append(alternatives, exactly(alone...))
	}
	return strings.Join(alternatives, "|")
}

// exactly returns the pattern of some names.
func exactly(names ...string) string { return "^(" + strings.Join(names, "|") + ")$" }

// wholly returns the pattern of one test, or of a part of one, such as Test/part.
func wholly(test string) string {
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(test), "/", "$/^") + "$"
}
