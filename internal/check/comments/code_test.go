package comments_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the directory of the module.
const root = "../../.."

// protocol lists the packages of the protocol.
var protocol = []string{"epoch", "shard", "pool", "internal/atom"}

// code is the parsed source of some packages.
type code struct {
	fset  *token.FileSet
	files []file
	funcs map[string][]*function // by name, methods too
	types map[string]bool
	names map[string]bool // all identifiers
}

type file struct {
	pkg string
	*ast.File
}

type set map[string]bool

// parse adds a file of package pkg.
func (c *code) parse(t *testing.T, pkg, name string, src any) {
	f, err := parser.ParseFile(c.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	c.files = append(c.files, file{pkg, f})
}

func newCode() *code {
	return &code{fset: token.NewFileSet(), funcs: map[string][]*function{}, types: set{}, names: set{}}
}

// module is what parseModule returns.
var module *code

// parseModule parses all packages of the module, tests too, once.
func parseModule(t *testing.T) *code {
	if module != nil {
		return module
	}
	c := newCode()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (err == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return fs.SkipDir
			}
		} else if strings.HasSuffix(path, ".go") {
			pkg, err := filepath.Rel(root, filepath.Dir(path))
			require.NoError(t, err)
			c.parse(t, filepath.ToSlash(pkg), path, nil)
		}
		return nil
	})
	require.NoError(t, err)
	c.index()
	module = c
	return c
}

// only returns the packages pkgs of a module, without their tests.
func (c *code) only(pkgs []string) *code {
	some := newCode()
	some.fset = c.fset
	for _, f := range c.files {
		if slices.Contains(pkgs, f.pkg) && !strings.HasSuffix(c.fset.Position(f.Package).Filename, "_test.go") {
			some.files = append(some.files, f)
		}
	}
	some.index()
	return some
}

// parseText parses source as package p.
func parseText(t *testing.T, src string) *code {
	c := newCode()
	c.parse(t, "p", "p.go", "package p\n"+src)
	c.index()
	return c
}

// function is a function or a method.
type function struct {
	pkg      string
	calls    set // names
	mentions set // fields
}

// index finds all functions, types and names.
func (c *code) index() {
	for _, f := range c.files {
		ast.Inspect(f.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				c.names[n.Name] = true
			case *ast.TypeSpec:
				c.types[n.Name.Name] = true
			case *ast.FuncDecl:
				c.funcs[n.Name.Name] = append(c.funcs[n.Name.Name], newFunction(f.pkg, n))
			}
			return true
		})
	}
}

func newFunction(pkg string, decl *ast.FuncDecl) *function {
	f := &function{pkg: pkg, calls: set{}, mentions: set{}}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			f.mentions[n.Sel.Name] = true
		case *ast.CallExpr:
			f.calls[called(n)] = true
		}
		return true
	})
	return f
}

// called returns the name of the called function, or "".
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.IndexExpr: // with type arguments
		return called(&ast.CallExpr{Fun: f.X})
	}
	return ""
}

// mentions reports whether f, or a function of its package that it calls, mentions one of the
// fields.
func (c *code) mentions(f *function, fields []string) bool {
	among := func(f *function) bool {
		return slices.ContainsFunc(fields, func(name string) bool { return f.mentions[name] })
	}
	if among(f) {
		return true
	}
	for name := range f.calls {
		for _, g := range c.funcs[name] {
			if g.pkg == f.pkg && among(g) {
				return true
			}
		}
	}
	return false
}
