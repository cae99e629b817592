package testkit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

// hangs are ways to wait for what never comes.
var hangs = map[string]func(t *testing.T){
	"Within":   func(t *testing.T) { testkit.Within(t, func() { select {} }) },
	"Soon":     func(t *testing.T) { testkit.Soon(t, make(chan int)) },
	"Until":    func(t *testing.T) { testkit.Until(t, func() bool { return false }) },
	"Together": func(*testing.T) { testkit.Together(2, func(i int) { <-make(chan int, i) }) },
	"Apart":    func(*testing.T) { testkit.Apart(func() { select {} }) },
	"Seed":     func(*testing.T) { select {} },
	"Eventually": func(t *testing.T) {
		testkit.Eventually(t, func() bool { return false }, "the %s", "condition")
	},
}

// TestHangPrintsSeedAndStacks: a test that waits for what never comes ends at its limit, and tells how
// to repeat it, and where each goroutine is.
func TestHangPrintsSeedAndStacks(t *testing.T) {
	if way := os.Getenv("COATCHECK_HANG"); way != "" {
		testkit.Seed(t)
		hangs[way](t)
		return
	}
	for way := range hangs {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			child := exec.Command(os.Args[0], "-test.run=^TestHangPrintsSeedAndStacks$", "-patience=100ms", "-seed=4711")
			child.Env = append(os.Environ(), "COATCHECK_HANG="+way)
			out, err := child.CombinedOutput()
			require.Error(t, err)
			require.Contains(t, string(out), "repeat TestHangPrintsSeedAndStacks with -seed 4711")
			require.Contains(t, string(out), "wait_test.go:")
		})
	}
}

// TestTestsWaitWithALimit: no test waits on its own goroutine for a channel or a WaitGroup, unless
// Within, Soon or another function of this package ends it at a limit. In select a test has another
// way out, and one that draws its seed has a limit as a whole. In a bubble of testing/synctest the clock
// is no limit, but the runtime ends a bubble in which nothing can go on.
func TestTestsWaitWithALimit(t *testing.T) {
	const root = "../../.."
	fset, seen := token.NewFileSet(), 0
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (strings.HasPrefix(name, ".") && path != root || name == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		has := func(path string) bool {
			return slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == path })
		}
		imports := has(`"coatcheck/internal/check/testkit"`) && !has(`"testing/synctest"`)
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && imports && isOfTest(fn.Type) && !draws(fn.Body) {
				seen++
				for _, at := range bareWaits(fn.Body) {
					assert.Fail(t, "a wait without a limit", "%v, in %s", fset.Position(at), fn.Name)
				}
			}
		}
		return nil
	}))
	require.Greater(t, seen, 300)
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
