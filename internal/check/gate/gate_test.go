//go:build linux && !race

// This test runs the gate with programs that log what they are called with, and compares that with
// the tests, modules and build tags that there are: the gate leaves out none of them in silence.
package gate_test

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

// ordinary is a function that go test runs.
type ordinary struct {
	name, file, module string
	long               bool // skips itself in -short
	plain              bool // skips itself under the race detector
}

// modules returns the folders of all modules, the deepest first.
func modules(t *testing.T) (all []string) {
	for _, file := range testkit.Files(t, root, "go.mod") {
		all = append(all, filepath.Dir(file))
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	require.Contains(t, all, ".")
	return all
}

// moduleOf returns the innermost of modules in which a file is.
func moduleOf(modules []string, file string) string {
	for _, m := range modules {
		if strings.HasPrefix(file, m+"/") {
			return m
		}
	}
	return "."
}

// tests returns all functions that go test runs.
func tests(t *testing.T) (all []ordinary) {
	modules := modules(t)
	for _, file := range testkit.Files(t, root, "_test.go") {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !isTest(f, fn) {
				continue
			}
			o := ordinary{name: fn.Name.Name, file: file, module: moduleOf(modules, file)}
			for _, s := range fn.Body.List {
				if branch, ok := s.(*ast.IfStmt); ok && skips(branch.Body) {
					o.long = o.long || depends(branch.Cond, "Short")
					o.plain = o.plain || depends(branch.Cond, "Race") || depends(branch.Cond, "Watched")
				}
			}
			all = append(all, o)
		}
	}
	return all
}

// isTest reports whether go test runs fn, a function of f: an Example only if it has an output.
func isTest(f *ast.File, fn *ast.FuncDecl) bool {
	if strings.HasPrefix(fn.Name.Name, "Example") {
		return slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool {
			text := strings.ToLower(c.Text())
			return fn.Pos() < c.Pos() && c.End() < fn.End() && (strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:"))
		})
	}
	return regexp.MustCompile(`^(Test|Fuzz)([^a-z]|$)`).MatchString(fn.Name.Name) && fn.Name.Name != "TestMain"
}

// skips reports whether a block calls Skip.
func skips(b *ast.BlockStmt) (found bool) {
	ast.Inspect(b, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Skip") {
			found = true
		}
		return !found
	})
	return found
}

// depends reports whether a condition is true for what has this name alone: it is a call or a
// constant of this name, perhaps or another.
func depends(cond ast.Expr, name string) bool {
	switch e := cond.(type) {
	case *ast.BinaryExpr:
		return e.Op == token.LOR && (depends(e.X, name) || depends(e.Y, name))
	case *ast.CallExpr:
		return depends(e.Fun, name)
	case *ast.SelectorExpr:
		return e.Sel.Name == name
	}
	return false
}

// runs reports whether a command of the gate runs a test, and the test does not skip itself there.
func (c *command) runs(t *testing.T, o *ordinary) bool {
	_, short := c.flags["short"]
	_, race := c.flags["race"]
	_, compiles := c.flags["c"]
	return c.tool == "go" && c.verb == "test" && !compiles && !(o.long && short) && !(o.plain && race) &&
		c.has(o.module, filepath.Dir(o.file)) && c.selects(o.name) && c.builds(t, o.file)
}

// TestEachTestRunsInAPart: the full programme runs each test, and the usual gate each that does not
// skip itself when it is short, or under the race detector.
func TestEachTestRunsInAPart(t *testing.T) {
	usual, full, all := usual(t), full(t), tests(t)
	require.Greater(t, len(all), 500)
	for i := range all {
		o := &all[i]
		in := func(gate []command) bool {
			return slices.ContainsFunc(gate, func(c command) bool { return c.runs(t, o) })
		}
		assert.True(t, in(full), ".ci/run -full does not run %s of %s", o.name, o.file)
		assert.True(t, o.long || in(usual), ".ci/run does not run %s of %s", o.name, o.file)
	}
}

// TestNamesInPatternsMatch: each name in a -run or -skip of the gate, or of a document, is that of a
// test. A test that got another name is not left out, or run again, in silence.
func TestNamesInPatternsMatch(t *testing.T) {
	all := tests(t)
	check := func(where string, c command, known func(o *ordinary) bool) {
		for _, flag := range []string{"run", "skip"} {
			for _, pattern := range alternatives(c.flags[flag]) {
				assert.True(t, pattern == "^$" || slices.ContainsFunc(all, func(o ordinary) bool {
					return matches(pattern, o.name) && known(&o)
				}), "%s: no test matches %q of -%s %v", where, pattern, flag, c.args)
			}
		}
	}
	for _, c := range slices.Concat(usual(t), full(t)) {
		check(".ci/run", c, func(o *ordinary) bool { return c.has(o.module, filepath.Dir(o.file)) && c.builds(t, o.file) })
	}
	count := 0
	for _, file := range testkit.Files(t, root, ".md") {
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		for _, m := range regexp.MustCompile("`[^`\n]*?\\bgo test ([^`\n]*)`").FindAllStringSubmatch(string(text), -1) {
			c := parse(".", "amd64", "go", append([]string{"test"}, words(m[1])...))
			check(file, c, func(*ordinary) bool { return true })
			count++
		}
	}
	require.Greater(t, count, 10)
}

// words returns the words of a command line, with quotes of one kind.
func words(line string) (all []string) {
	for _, m := range regexp.MustCompile(`'([^']*)'|\S+`).FindAllStringSubmatch(line, -1) {
		if m[1] != "" {
			all = append(all, m[1])
		} else {
			all = append(all, m[0])
		}
	}
	return all
}

// TestReadmesCommandIsTheGates: the gate runs the command that README names for the tests, whatever
// it is, with longer tests; and that runs all packages under the race detector.
func TestReadmesCommandIsTheGates(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	require.Regexp(t, `(?m)^go test -race \./\.\.\. +# the concurrent tests`, string(text))
	require.True(t, slices.ContainsFunc(usual(t), func(c command) bool {
		_, race := c.flags["race"]
		return c.verb == "test" && c.dir == "." && race && len(c.flags) == 1 && slices.Equal(c.args, []string{"./..."})
	}), "the gate does not run it")
}

// TestEachModuleIsChecked: of each module go.mod is tidy, and vet and staticcheck see all packages.
func TestEachModuleIsChecked(t *testing.T) {
	usual, full := usual(t), full(t)
	for _, m := range modules(t) {
		for _, c := range []struct {
			gate []command
			tool string
			verb string
			args string
		}{
			{usual, "go", "mod", "tidy"}, {usual, "go", "vet", "./..."}, {full, "staticcheck", "", "./..."},
		} {
			assert.True(t, slices.ContainsFunc(c.gate, func(g command) bool {
				return g.dir == m && g.tool == c.tool && g.verb == c.verb && slices.Contains(g.args, c.args)
			}), "no %s %s %s in %s", c.tool, c.verb, c.args, m)
		}
	}
}

// TestEachFileIsVetted: vet and staticcheck see each file of this platform, whatever its build tags.
func TestEachFileIsVetted(t *testing.T) {
	full, modules, all := full(t), modules(t), testkit.Files(t, root, ".go")
	tags := map[string]bool{"": true}
	for _, file := range all {
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		if line := regexp.MustCompile(`(?m)^//go:build .*$`).Find(text); line != nil {
			expr, err := constraint.Parse(string(line))
			require.NoError(t, err)
			expr.Eval(func(tag string) bool { tags[tag] = true; return false })
			expr.Eval(func(tag string) bool { tags[tag] = true; return true })
		}
	}
	require.Contains(t, tags, "interleave")
	for tag := range tags {
		if slices.Contains([]string{"race", "cgo", "gc", "386", "amd64", "arm64", "linux"}, tag) {
			continue // what the platform or a flag sets
		}
		build := parse(".", "amd64", "go", []string{"build", "-tags", tag})
		for _, file := range all {
			if !build.builds(t, file) {
				continue
			}
			for _, tool := range []string{"go", "staticcheck"} {
				assert.True(t, slices.ContainsFunc(full, func(c command) bool {
					return c.tool == tool && (tool != "go" || c.verb == "vet") && c.has(moduleOf(modules, file), filepath.Dir(file)) && c.builds(t, file)
				}), "%s does not see %s", tool, file)
			}
		}
	}
}
