package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bench is a copy of the tree on which one mutant at a time is tried.
type bench struct {
	*config
	tree   string // the copy
	binary string // where its tests are built
}

// newBenches makes a bench for each job.
func newBenches(c *config, root, scratch string) ([]*bench, error) {
	var benches []*bench
	for i := range c.jobs {
		b := &bench{config: c, tree: filepath.Join(scratch, fmt.Sprint("tree", i)), binary: filepath.Join(scratch, fmt.Sprint("test", i))}
		if err := copyTree(root, b.tree); err != nil {
			return nil, err
		}
		if err := hideTests(b.tree); err != nil {
			return nil, err
		}
		benches = append(benches, b)
	}
	return benches, nil
}

// result is what became of one mutant.
type result struct {
	kills []verdict // of scenarios and tests that killed it
	other []verdict // of those that failed otherwise, or a build that failed
	build time.Duration
	err   error // the seed could not be tried
}

func (r *result) killed() bool { return len(r.kills) > 0 }

// unmutated builds the tree as it is, on a bench that shares it, with the tests that
// the seeds in list need. All that mutants have in common is in the build cache then.
func (b *bench) unmutated(list []seed) (*bench, error) {
	plain := &bench{config: b.config, tree: b.tree, binary: b.binary + "-unmutated"}
	built := make(map[suite]bool)
	for i := range list {
		parts, err := list[i].selections(b.tree, b.all)
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			if built[part.suite] {
				continue
			}
			built[part.suite] = true
			if out, err := plain.build(part.suite); err != nil {
				return nil, fmt.Errorf("the unmutated tree: %w\n%s", err, out)
			}
		}
	}
	return plain, nil
}

// passes runs every test that killed, and explores every scenario that did, with as
// many preemptions as its kills took. All must pass. A scenario fails without any,
// since then there may be no switch inside an operation.
func (b *bench) passes(killed []result) error {
	type judge struct {
		suite
		name string
	}
	preemptions := make(map[judge]int)
	for _, r := range killed {
		for _, v := range r.kills {
			by := judge{v.suite, v.name}
			preemptions[by] = max(preemptions[by], v.preemptions, 1)
		}
	}
	order := slices.SortedFunc(maps.Keys(preemptions), func(x, y judge) int {
		return cmp.Or(cmp.Compare(x.pkg, y.pkg), cmp.Compare(x.name, y.name))
	})
	for _, by := range order {
		if v := b.run(by.suite, by.name, preemptions[by]); v.kind != passed {
			return fmt.Errorf("no kill by %q of %s counts, which the unmutated tree does not pass: %s: %s", by.name, by.pkg, v.kind, v.text)
		}
	}
	return nil
}

// try applies s, runs its scenarios and tests until one kills it, and takes s back.
func (b *bench) try(s *seed) (r result) {
	parts, err := s.selections(b.tree, b.all)
	if err != nil {
		return result{err: err}
	}
	before, after, err := s.mutate(b.tree)
	if err == nil {
		err = writeFiles(b.tree, after)
	}
	if err != nil {
		return result{err: err}
	}
	defer func() {
		if err := writeFiles(b.tree, before); err != nil {
			r.err = err
		}
	}()
	for _, part := range parts {
		begin := time.Now()
		out, err := b.build(part.suite)
		r.build += time.Since(begin)
		if err != nil {
			r.other = append(r.other, verdict{kind: noBuild, text: out})
			return r
		}
		for _, name := range part.names {
			switch v := b.run(part.suite, name, b.bound); {
			case v.kind == passed:
			case s.kills(v.kind), name == generatedPrograms && (v.kind == stuck || v.kind == panics):
				if r.kills = append(r.kills, v); !b.all {
					return r
				}
			default:
				r.other = append(r.other, v)
			}
		}
	}
	slices.SortStableFunc(r.kills, func(x, y verdict) int { return x.schedules - y.schedules })
	return r
}

// binaryOf is where the tests of u are built.
func (b *bench) binaryOf(u suite) string {
	name := b.binary + "-" + strings.ReplaceAll(u.pkg, "/", "-")
	if u.explores {
		name += "-explores"
	}
	return name
}

// build builds the tests of u. Paths are trimmed so that packages that are the same
// in all mutants, and from one day to the next, come out of the build cache; nobody
// debugs the binary.
func (b *bench) build(u suite) (out string, err error) {
	args := []string{"test", "-c", "-trimpath", "-ldflags=-s -w", "-o", b.binaryOf(u)}
	if u.explores {
		args = append(args, "-tags", "interleave", "-overlay", overlayOf(b.tree))
	}
	cmd := exec.Command("go", append(args, "./"+u.pkg)...)
	cmd.Dir = b.tree
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0") // with it Go would not see that all wait
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// run runs one scenario, with so many preemptions at most, or one test, and judges
// it. Each has a process of its own: so a test that waits for itself is found out
// by Go's runtime, at once, since nobody else runs and there is no alarm.
func (b *bench) run(u suite, name string, bound int) verdict {
	ctx, cancel := context.WithTimeout(context.Background(), b.limit)
	defer cancel()
	args := []string{"-test.v", "-test.run", u.pattern(name)}
	if u.explores {
		args = append(args, fmt.Sprintf("-interleave.bound=%d", bound))
		if name == generatedPrograms {
			args = append(args, fmt.Sprint("-generate=", b.generated), "-generate.shrink=0", "-generate.seed=1")
		}
	} else {
		args = append(args, "-test.short", "-test.timeout=0")
	}
	cmd := exec.CommandContext(ctx, b.binaryOf(u), args...)
	cmd.Dir = filepath.Join(b.tree, u.pkg)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	var v verdict
	switch {
	case ctx.Err() != nil:
		v = verdict{kind: tooLong, text: fmt.Sprintf("not through after %v", b.limit)}
	case u.explores:
		v = judge(string(out), err == nil)
	default:
		v = judgeTest(name, string(out), err == nil)
	}
	v.suite, v.name = u, name
	return v
}
