package main

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
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
		benches = append(benches, b)
	}
	return benches, nil
}

// result is what became of one mutant.
type result struct {
	kills []verdict // of scenarios that killed it
	other []verdict // of those that failed otherwise, or a build that failed
	build time.Duration
	err   error // the seed could not be tried
}

func (r *result) killed() bool { return len(r.kills) > 0 }

// unmutated builds the tree as it is, on a bench that shares it. All that mutants
// have in common is in the build cache then.
func (b *bench) unmutated() (*bench, error) {
	plain := &bench{config: b.config, tree: b.tree, binary: b.binary + "-unmutated"}
	if out, err := plain.build(); err != nil {
		return nil, fmt.Errorf("the unmutated tree: %w\n%s", err, out)
	}
	return plain, nil
}

// passes explores every scenario that killed, with as many preemptions as its
// kills took. All must pass. A scenario fails without any, since then there may be
// no switch inside an operation.
func (b *bench) passes(killed []result) error {
	preemptions := make(map[string]int)
	for _, r := range killed {
		for _, v := range r.kills {
			preemptions[v.scenario] = max(preemptions[v.scenario], v.preemptions, 1)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(preemptions)) {
		if v := b.explore(name, preemptions[name]); v.kind != passed {
			return fmt.Errorf("no kill by %q counts, which the unmutated tree does not pass: %s: %s", name, v.kind, v.text)
		}
	}
	return nil
}

// try applies s, runs its scenarios until one kills it, and takes s back.
func (b *bench) try(s *seed) (r result) {
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
	begin := time.Now()
	out, err := b.build()
	r.build = time.Since(begin)
	if err != nil {
		r.other = append(r.other, verdict{kind: noBuild, text: out})
		return r
	}
	names := s.by
	if b.all {
		if names, err = scenarios(b.tree); err != nil {
			return result{err: err}
		}
	}
	for _, name := range names {
		switch v := b.explore(name, b.bound); v.kind {
		case passed:
		case broken:
			if r.kills = append(r.kills, v); !b.all {
				return r
			}
		default:
			r.other = append(r.other, v)
		}
	}
	slices.SortStableFunc(r.kills, func(x, y verdict) int { return x.schedules - y.schedules })
	return r
}

// build builds the tests of package pool with the words hooked. Paths are trimmed
// so that packages that are the same in all mutants, and from one day to the next,
// come out of the build cache; nobody debugs the binary.
func (b *bench) build() (out string, err error) {
	cmd := exec.Command("go", "test", "-c", "-trimpath", "-ldflags=-s -w", "-tags", "interleave", "-o", b.binary, "./pool")
	cmd.Dir = b.tree
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// explore runs one scenario, with so many preemptions at most, and judges it.
func (b *bench) explore(name string, bound int) verdict {
	ctx, cancel := context.WithTimeout(context.Background(), b.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.binary, "-test.v",
		"-test.run", "^TestInterleave$/^"+regexp.QuoteMeta(strings.ReplaceAll(name, " ", "_"))+"$",
		fmt.Sprintf("-interleave.bound=%d", bound))
	cmd.Dir = filepath.Join(b.tree, "pool")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	v := judge(string(out), err == nil)
	if ctx.Err() != nil {
		v = verdict{kind: tooLong, text: fmt.Sprintf("not through after %v", b.limit)}
	}
	v.scenario = name
	return v
}
