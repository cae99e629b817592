package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func root(t *testing.T) string {
	root, err := findRoot()
	require.NoError(t, err)
	return root
}

// TestSeedsApply: the code moves on, and a seed that no longer fits should be
// missed at once.
func TestSeedsApply(t *testing.T) {
	root := root(t)
	for i := range seeds {
		s := &seeds[i]
		before, after, err := s.mutate(root)
		if !assertSeed(t, s, err == nil, "%v", err) {
			continue
		}
		for name, text := range after {
			assertSeed(t, s, text != before[name], "changes nothing in %s", name)
			_, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
			assertSeed(t, s, err == nil, "%v", err)
		}
	}
}

// assertSeed fails the test with the seed's name unless ok.
func assertSeed(t *testing.T, s *seed, ok bool, format string, args ...any) bool {
	t.Helper()
	if !ok {
		t.Errorf("seed %q: "+format, append([]any{s.name}, args...)...)
	}
	return ok
}

func TestMutateDemandsOneOccurrence(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.go"), []byte("one two two"), 0o666))
	apply := func(edits ...edit) (string, error) {
		_, after, err := (&seed{edits: edits}).mutate(dir)
		return after["x.go"], err
	}
	_, err := apply(edit{"x.go", "two", "three"})
	require.ErrorContains(t, err, "occurs 2 times")
	_, err = apply(edit{"x.go", "three", "two"})
	require.ErrorContains(t, err, "occurs 0 times")
	_, err = apply(edit{"y.go", "one", "two"})
	require.ErrorIs(t, err, os.ErrNotExist)

	text, err := apply(edit{"x.go", "one", "four"}, edit{"x.go", "four two", "five"})
	require.NoError(t, err)
	require.Equal(t, "five two", text, "edits of one file build on each other")
}

func TestSeedsNameTestsThatThereAre(t *testing.T) {
	root := root(t)
	has := make(map[suite][]string)
	for _, pkg := range append([]string{poolPackage}, packages...) {
		scenarios, err := scenariosOf(root, pkg)
		require.NoError(t, err)
		tests, err := testsOf(root, pkg)
		require.NoError(t, err)
		require.Equal(t, pkg == poolPackage, len(tests) == 0, "of package pool scenarios alone are run")
		has[suite{pkg, true}], has[suite{pkg, false}] = scenarios, tests
	}
	for i := range seeds {
		s := &seeds[i]
		assertSeed(t, s, len(s.by)+len(s.tests) > 0, "is to be killed by nobody")
		assertSeed(t, s, s.ends == "" || s.ends == stuck || s.ends == panics, "%q does not kill", s.ends)
		for _, name := range s.by {
			assertSeed(t, s, slices.Contains(has[suite{s.pkg(), true}], name), "there is no scenario %q", name)
		}
		for _, name := range s.tests {
			assertSeed(t, s, slices.Contains(has[suite{s.pkg(), false}], name), "there is no test %q", name)
		}
		for _, e := range s.edits {
			assertSeed(t, s, s.in == "" || strings.HasPrefix(e.file, s.in+"/"), "%s is not in %s", e.file, s.in)
		}
	}
}

func TestSeedsHaveNamesOfTheirOwn(t *testing.T) {
	at := make(map[string]int)
	for i, s := range seeds {
		before, twice := at[s.name]
		require.False(t, twice, "seeds %d and %d are both called %q", before, i, s.name)
		require.NotEmpty(t, s.name)
		at[s.name] = i
	}
}

// TestRowsHaveSeeds: each row has a seed, one of them quick, or says why none.
func TestRowsHaveSeeds(t *testing.T) {
	all, quick := make(map[int]int), make(map[int]int)
	for i := range seeds {
		s := &seeds[i]
		assertSeed(t, s, s.row >= 0 && s.row <= len(rows), "there is no row %d", s.row)
		all[s.row]++
		if s.quick {
			quick[s.row]++
		}
	}
	for i, r := range rows {
		if r.none {
			require.NotEmpty(t, r.note, "row %d has no seed and does not say why", i+1)
			require.Zero(t, all[i+1], "row %d says that it has no seed", i+1)
			continue
		}
		require.NotZero(t, quick[i+1], "row %d (%s) has no quick seed, of %d", i+1, r.bug, all[i+1])
	}
}

// TestRulesAreAttacked: a quick seed attacks each invariant and publication of
// DESIGN.md, and no seed attacks one that is not there.
func TestRulesAreAttacked(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "DESIGN.md"))
	require.NoError(t, err)
	attacked := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^(?:- \*\*(I\d+)\*\*|\| (P\d+) \||\*\*(L\d+),)`).FindAllStringSubmatch(string(text), -1) {
		attacked[m[1]+m[2]+m[3]] = false
	}
	require.GreaterOrEqual(t, len(attacked), 9+7+5)
	rule := regexp.MustCompile(`^[IPL]\d+$`)
	for i := range seeds {
		s := &seeds[i]
		if s.in != "" {
			continue
		}
		for _, name := range strings.Split(s.attacks, ", ") {
			if !rule.MatchString(name) {
				continue // a promise, by name
			}
			before, known := attacked[name]
			assertSeed(t, s, known, "DESIGN.md has no %s", name)
			attacked[name] = before || s.quick
		}
	}
	for name, yes := range attacked {
		if !yes && name[0] != 'L' {
			t.Errorf("no quick seed attacks %s", name)
		}
	}
}

// TestTreesRulesAreAttacked is the same for what package tree numbers.
func TestTreesRulesAreAttacked(t *testing.T) {
	attacked := make(map[string]bool)
	for _, file := range []string{treeWalk, "pool/tree/links.go"} {
		text, err := os.ReadFile(filepath.Join(root(t), file))
		require.NoError(t, err)
		for _, name := range regexp.MustCompile(`\b[KW]\d\b`).FindAllString(string(text), -1) {
			attacked[name] = false
		}
	}
	require.Len(t, attacked, 3+3)
	for i := range seeds {
		s := &seeds[i]
		for _, name := range strings.Split(s.attacks, ", ") {
			if before, known := attacked[name]; known && s.in == treeIn {
				attacked[name] = before || s.quick
			}
		}
	}
	for name, yes := range attacked {
		require.True(t, yes, "no quick seed attacks %s", name)
	}
}

// TestCopyLeavesOthersBehind: what somebody else is in the middle of must not
// break the copy.
func TestCopyLeavesOthersBehind(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	files := []string{
		"go.mod", "go.sum", "doc.go", "shard/word.go", "pool/pool.go",
		"shard/word_test.go", "shard/export_test.go",
		"pool/export_test.go", "pool/interleave_test.go", "pool/interleave_world_test.go",
		"pool/tree/tree.go", "pool/tree/model_test.go", "pool/tree/interleave_test.go",
	}
	others := []string{
		"README.md", "pool/pool_test.go", "epoch/cell_test.go", "epoch/export_test.go", "pool/image.bin",
		"pool/table/table_test.go", "pool/tree/bench_test.go", "bench/tree/tree_test.go",
		"nested/go.mod", "nested/nested.go", "nested/deeper/deeper.go",
		".git/hook.go", "_old/old.go", "pool/testdata/sample.go",
	}
	for _, name := range append(others, files...) {
		path := filepath.Join(from, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(name), 0o666))
	}
	require.NoError(t, copyTree(from, to))
	var copied []string
	require.NoError(t, filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(to, path)
			copied = append(copied, filepath.ToSlash(name))
		}
		return err
	}))
	require.ElementsMatch(t, files, copied)
}

func TestShortIsPartOfAll(t *testing.T) {
	var c config
	require.NoError(t, c.set("", 1))
	require.Len(t, c.chosen(), len(seeds))
	c.short = true
	for _, s := range c.chosen() {
		require.True(t, s.quick)
	}
	require.GreaterOrEqual(t, len(c.chosen()), 20)
	require.NoError(t, c.set("^Remove ", 1))
	require.Len(t, c.chosen(), 1)
	require.Error(t, c.set("(", 1))
	require.Error(t, c.set("", 0))
}
