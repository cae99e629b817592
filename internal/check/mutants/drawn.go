package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
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

// layersOf returns what is run for a slip in a folder, the cheapest first. What a layer finds, the
// later ones need not.
func layersOf(folder string) (all []layer) {
	ordinary := func(pkg string) layer { return layer{suite{pkg, false}, "."} }
	explored := func(pkg string) layer { return layer{suite{pkg, true}, "Interleave"} }
	switch folder {
	case "epoch":
		all = append(all, ordinary("epoch"), ordinary("shard"))
	case "shard":
		all = append(all, ordinary("shard"))
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
	b := &bench{c, tree, filepath.Join(tree, ".mutant0")}
	begin, killed, equal, survivors := time.Now(), 0, 0, 0
	for i := range drawn {
		s := &drawn[i]
		head := fmt.Sprintf("%s:%d: %s: %s", s.file, s.line, s.kind, oneLine(s.old))
		switch {
		case c.check:
			fmt.Println(head)
		case known[s.name()] != "":
			equal++
			fmt.Printf("EQUIVALENT %s: %s\n", head, known[s.name()])
		default:
			by, how := b.drawn(s)
			if by == "" {
				survivors++
				fmt.Printf("SURVIVES %s\n\tto list it as equivalent: %s = the reason\n", head, s.name())
			} else {
				killed++
				fmt.Printf("killed by %s (%s): %s\n", by, how, head)
			}
		}
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

// drawn runs the layers of a slip, and returns which found it, and how; or "" if none did. A test
// that hangs, or a process that crashes, has found it too.
func (b *bench) drawn(s *slip) (by, how string) {
	after, err := s.apply(b.tree)
	if err != nil {
		return "nothing", err.Error()
	}
	for _, l := range layersOf(path.Dir(s.file)) {
		what := l.pkg
		if l.explores {
			what += ", explored"
		}
		if err := b.build(l.suite, after); err != nil {
			return what, "does not build"
		}
		if how := b.suite(l); how != "" {
			return what, how
		}
	}
	return "", ""
}

// suite runs the tests of a layer, up to the first that fails. It returns how they failed, or "".
func (b *bench) suite(l layer) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*b.limit)
	defer cancel()
	args := []string{"-test.short", "-test.failfast", "-test.run", l.run, "-test.timeout=0"}
	cmd := exec.CommandContext(ctx, b.binary(l.suite), args...)
	cmd.Dir = filepath.Join(b.tree, l.folder())
	cmd.WaitDelay = time.Second
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
