//go:build !race

// These tests read the source of all tests, for what makes a test fail on some machines alone.
package testkit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

// source is a file of tests.
type source struct {
	*ast.File
	fset *token.FileSet
}

// tests returns all files of tests, by their paths.
func tests(t *testing.T) map[string]source {
	const root = "../../.."
	all, fset := map[string]source{}, token.NewFileSet()
	for _, path := range testkit.Files(t, root, "_test.go") {
		path = filepath.Join(root, path)
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution|parser.ParseComments)
		require.NoError(t, err)
		all[path] = source{file, fset}
	}
	require.Greater(t, len(all), 100)
	return all
}

// imports reports whether a file imports a package.
func (s source) imports(path string) bool {
	return slices.ContainsFunc(s.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"`+path+`"` })
}

// TestTestsWaitWithALimit: no test waits on its own goroutine for a channel or a WaitGroup, unless
// Within, Soon or another function of this package ends it at a limit. In select a test has another
// way out, and one that draws its seed has a limit as a whole. In a bubble of testing/synctest the clock
// is no limit, but the runtime ends a bubble in which nothing can go on.
func TestTestsWaitWithALimit(t *testing.T) {
	seen := 0
	for _, file := range tests(t) {
		if !file.imports("coatcheck/internal/check/testkit") || file.imports("testing/synctest") {
			continue
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && isOfTest(fn.Type) && !draws(fn.Body) {
				seen++
				for _, at := range bareWaits(fn.Body) {
					assert.Fail(t, "a wait without a limit", "%v, in %s", file.fset.Position(at), fn.Name)
				}
			}
		}
	}
	require.Greater(t, seen, 300)
}

// TestTestsYieldWhereTheySpin: a loop that goes on until another goroutine says so yields or waits in each of its
// rounds. On one processor the other goroutine would else get 10 ms of each 20.
func TestTestsYieldWhereTheySpin(t *testing.T) {
	seen := 0
	for _, file := range tests(t) {
		ast.Inspect(file.File, func(n ast.Node) bool {
			if loop, ok := n.(*ast.ForStmt); ok && loop.Cond != nil && loop.Post == nil && calls(loop.Cond, "Load", "IsClosed") {
				seen++
				assert.True(t, calls(loop.Body, "Gosched", "Sleep", "Wait"), "%v: the loop does not yield", file.fset.Position(loop.Pos()))
			}
			return true
		})
	}
	require.Greater(t, seen, 5)
}

// TestFilesWithoutTheDetectorStartNoGoroutine: a file of tests that the race detector does not see starts none, itself
// or by a helper.
func TestFilesWithoutTheDetectorStartNoGoroutine(t *testing.T) {
	seen := 0
	for _, file := range tests(t) {
		plain := slices.ContainsFunc(file.Comments, func(c *ast.CommentGroup) bool {
			return slices.ContainsFunc(c.List, func(c *ast.Comment) bool {
				return strings.HasPrefix(c.Text, "//go:build ") && strings.Contains(c.Text, "!race")
			})
		})
		if !plain {
			continue
		}
		seen++
		ast.Inspect(file.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				assert.Fail(t, "the race detector should see this goroutine", "%v", file.fset.Position(n.Pos()))
			case *ast.FuncDecl:
				if strings.HasPrefix(n.Name.Name, "Benchmark") {
					return false
				}
			case *ast.CallExpr:
				assert.False(t, ofTestkit(n.Fun, "Together"), "%v: the race detector should see these goroutines", file.fset.Position(n.Pos()))
			}
			return true
		})
	}
	require.Greater(t, seen, 50)
}

// calls reports whether there is a call of a function or method with one of names.
func calls(n ast.Node, names ...string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			s, ok := c.Fun.(*ast.SelectorExpr)
			found = found || ok && slices.Contains(names, s.Sel.Name)
		}
		return !found
	})
	return found
}

// isOfTest reports whether a function is a test or a part of one.
func isOfTest(f *ast.FuncType) bool {
	return slices.ContainsFunc(f.Params.List, func(p *ast.Field) bool {
		t := types.ExprString(p.Type)
		return t == "*testing.T" || t == "testing.TB"
	})
}

// ofTestkit reports whether an expression is of this package, and of one of names if there are any.
func ofTestkit(e ast.Expr, names ...string) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && types.ExprString(s.X) == "testkit" && (len(names) == 0 || slices.Contains(names, s.Sel.Name))
}

// draws reports whether a test draws its seed.
func draws(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		found = found || ok && ofTestkit(c.Fun, "Seed", "Rand")
		return !found
	})
	return found
}

// bareWaits returns where a function waits without a limit, but for what other functions do in it.
func bareWaits(body ast.Node) (all []token.Pos) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return isOfTest(n.Type)
		case *ast.CommClause:
			for _, s := range n.Body {
				all = append(all, bareWaits(s)...)
			}
			return false
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				all = append(all, n.Pos())
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Wait" && len(n.Args) == 0 {
				all = append(all, n.Pos())
			}
			return !ofTestkit(n.Fun)
		}
		return true
	})
	return all
}
