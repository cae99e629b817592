package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// copyTree copies the part of the module at root that a build of the tests reads.
func copyTree(root, to string) error {
	cmd := exec.Command("cp", "-r", "go.mod", "go.sum", "epoch", "internal", "pool", "shard", to)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cp: %w\n%s", err, out)
	}
	return nil
}

// bench builds and runs one mutant at a time. Benches share a copy of the tree, which does
// not change: a mutant's files are an overlay.
type bench struct {
	*config
	tree string // the copy
	dir  string // in it, for the mutant's files and tests
}

// result is the result of one mutant.
type result struct {
	kills []verdict // of scenarios and tests that killed it
	other []verdict // of scenarios and tests that failed in another way, or of a failed build
}

// prepare builds the tests that the mutants in list need, of the unmutated tree. Then the
// build cache has all packages that mutants share.
func (b *bench) prepare(list []mutant) error {
	for _, m := range list {
		for _, k := range m.killers {
			if _, err := os.Stat(b.binary(k.suite)); err == nil {
				continue // it is built
			}
			if err := b.build(k.suite, nil); err != nil {
				return fmt.Errorf("the unmutated tree: %w", err)
			}
		}
	}
	return nil
}

// passes runs every test and scenario that killed on the unmutated tree. All must pass. It
// explores a scenario with as many preemptions as its kills took, and at least one: without
// any there may be no switch inside an operation, which fails.
func (b *bench) passes(killed []result) error {
	preemptions := make(map[killer]int)
	for _, r := range killed {
		for _, v := range r.kills {
			preemptions[v.killer] = max(preemptions[v.killer], v.preemptions, 1)
		}
	}
	for k, n := range preemptions {
		if v := b.run(k, n); v.kind != passed {
			return fmt.Errorf("no kill by %q of %s counts, which the unmutated tree does not pass: %s: %s", k.name, k.pkg, v.kind, v.text)
		}
	}
	return nil
}

// try applies m, and runs its scenarios and tests until one kills it.
func (b *bench) try(m *mutant) (r result) {
	after, _ := m.apply(b.tree) // check has tried that
	for i, k := range m.killers {
		if i == 0 || k.suite != m.killers[i-1].suite {
			if err := b.build(k.suite, after); err != nil {
				r.other = append(r.other, verdict{kind: noBuild, text: err.Error()})
				return r
			}
		}
		switch v := b.run(k, b.bound); {
		case v.kind == passed:
		case m.kills(v.kind), k.name == generated && slices.Contains(fates, v.kind):
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

// binary is where the tests of u are built.
func (b *bench) binary(u suite) string {
	return filepath.Join(b.dir, fmt.Sprint(strings.ReplaceAll(u.pkg, "/", "-"), "-", u.explores))
}

// build builds the tests of u, with the files in after in place of the tree's. If u explores
// schedules, ordinary tests are left out. Paths are trimmed so that the build cache has the
// packages that are the same in all mutants. Checks are compiled without inlining, since
// compiling them again takes longer than running them.
func (b *bench) build(u suite, after map[string]string) error {
	replace := make(map[string]string)
	if err := os.MkdirAll(b.dir, 0o777); err != nil {
		return err
	}
	for name, text := range after {
		file := filepath.Join(b.dir, strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			return err
		}
		replace[filepath.Join(b.tree, name)] = file
	}
	args := []string{"test", "-c", "-trimpath", "-ldflags=-s -w", "-gcflags=./internal/check/...=-l -dwarf=false", "-o", b.binary(u), "-overlay", b.binary(u) + ".json"}
	if u.explores {
		args = append(args, "-tags", "interleave")
		tests, _ := filepath.Glob(filepath.Join(b.tree, u.folder(), "*_test.go"))
		for _, file := range tests {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if !explores(text) && filepath.Base(file) != "export_test.go" { // which the others need
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
	cmd.Env = append(cmd.Environ(),
		"CGO_ENABLED=0", // or Go would not see that all wait
		"GOGC=400",      // the compiler takes a quarter less
	)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
}

// run runs a scenario, with at most bound preemptions, or a test, and judges it. Each runs in
// its own process without a timer, so Go's runtime detects a test that deadlocks at once.
func (b *bench) run(k killer, bound int) verdict {
	ctx, cancel := context.WithTimeout(context.Background(), b.limit)
	defer cancel()
	args := []string{"-test.v=test2json", "-test.run", k.pattern()}
	switch {
	case !k.explores:
		args = append(args, "-test.short", "-test.timeout=0")
	case k.name == generated:
		args = append(args, fmt.Sprint("-generate=", b.generated), "-generate.shrink=0", "-generate.seed=1")
	default:
		args = append(args, fmt.Sprint("-interleave.bound=", bound))
	}
	cmd := exec.CommandContext(ctx, b.binary(k.suite), args...)
	cmd.Dir = filepath.Join(b.tree, k.folder())
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return verdict{killer: k, kind: tooLong, text: fmt.Sprintf("not finished after %v", b.limit)}
	}
	list, wrong := events(out)
	if wrong != nil {
		return verdict{killer: k, kind: crashed, text: wrong.Error()}
	}
	return judge(k, list, err == nil)
}
