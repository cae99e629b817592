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

func (s set) add(from set) (grown bool) {
	for name := range from {
		grown = grown || !s[name]
		s[name] = true
	}
	return grown
}

// parse adds a file of package pkg.
func (c *code) parse(t *testing.T, pkg, name string, src any) {
	f, err := parser.ParseFile(c.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	c.files = append(c.files, file{pkg, f})
}

func newCode() *code {
	return &code{fset: token.NewFileSet(), funcs: map[string][]*function{}, types: set{}, names: set{}}
}

// parsed caches the results of parsePackages and parseModule, which are read only.
var parsed = map[string]*code{}

// parsePackages parses packages without their tests.
func parsePackages(t *testing.T, pkgs []string) *code {
	name := strings.Join(pkgs, " ")
	if c := parsed[name]; c != nil {
		return c
	}
	c := newCode()
	for _, pkg := range pkgs {
		names, err := filepath.Glob(filepath.Join(root, pkg, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, names, pkg)
		for _, name := range names {
			if !strings.HasSuffix(name, "_test.go") {
				c.parse(t, pkg, name, nil)
			}
		}
	}
	c.index()
	parsed[name] = c
	return c
}

// parseModule parses all packages of the module, tests too.
func parseModule(t *testing.T) *code {
	if c := parsed[root]; c != nil {
		return c
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
			c.parse(t, filepath.Dir(path), path, nil)
		}
		return nil
	})
	require.NoError(t, err)
	c.index()
	parsed[root] = c
	return c
}

// parseText parses source as package p.
func parseText(t *testing.T, src string) *code {
	c := newCode()
	c.parse(t, "p", "p.go", "package p\n"+src)
	c.index()
	return c
}

// function is a function or a method, with its accesses to fields.
type function struct {
	pkg      string
	decl     *ast.FuncDecl
	calls    set            // names
	writes   set            // fields
	mentions set            // fields
	points   set            // fields that its result points to or into
	pointers map[string]set // variable → fields that it points to or into
}

// index finds all functions and their accesses.
func (c *code) index() {
	for _, f := range c.files {
		ast.Inspect(f.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				c.names[n.Name] = true
			case *ast.TypeSpec:
				c.types[n.Name.Name] = true
			case *ast.FuncDecl:
				if n.Body != nil {
					c.funcs[n.Name.Name] = append(c.funcs[n.Name.Name], &function{
						pkg: f.pkg, decl: n, calls: set{}, writes: set{}, mentions: set{}, points: set{}, pointers: map[string]set{},
					})
				}
			}
			return true
		})
	}
	// A variable may point into a field of a caller or a callee, so repeat until nothing
	// changes.
	for grown := true; grown; {
		grown = false
		for _, fs := range c.funcs {
			for _, f := range fs {
				grown = c.follow(f) || grown
			}
		}
	}
}

// follow records the accesses of f, given what is known of other functions.
func (c *code) follow(f *function) (grown bool) {
	point := func(f *function, name *ast.Ident, at ast.Expr) {
		if f.pointers[name.Name] == nil {
			f.pointers[name.Name] = set{}
		}
		grown = f.pointers[name.Name].add(c.pointees(f, at)) || grown
	}
	write := func(x ast.Expr) { grown = f.writes.add(fieldsOf(f, x)) || grown }
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			f.mentions[n.Sel.Name] = true
		case *ast.Ident:
			f.mentions.add(f.pointers[n.Name])
		case *ast.IncDecStmt:
			write(n.X)
		case *ast.ReturnStmt:
			for _, r := range n.Results {
				grown = f.points.add(c.pointees(f, r)) || grown
			}
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				name, ok := l.(*ast.Ident)
				if !ok {
					write(l)
				} else if len(n.Rhs) == len(n.Lhs) {
					point(f, name, n.Rhs[i])
				}
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(mutators, s.Sel.Name) {
				write(s.X)
			}
			name := called(n)
			if name == "StoreRelease" && len(n.Args) > 0 {
				grown = f.writes.add(c.pointees(f, n.Args[0])) || grown
			}
			f.calls[name] = true
			for _, g := range c.funcs[name] {
				for i, p := range parameters(g.decl) {
					if g.pkg == f.pkg && i < len(n.Args) {
						if g.pointers[p.Name] == nil {
							g.pointers[p.Name] = set{}
						}
						grown = g.pointers[p.Name].add(c.pointees(f, n.Args[i])) || grown
					}
				}
			}
		}
		return true
	})
	return grown
}

// mutators are the methods of atomics that change them.
var mutators = []string{"Store", "Swap", "CompareAndSwap", "Add", "Or", "And"}

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

func parameters(f *ast.FuncDecl) (names []*ast.Ident) {
	for _, p := range f.Type.Params.List {
		names = append(names, p.Names...)
	}
	return names
}

// fieldsOf returns the fields that x is, is an element of, or points to.
func fieldsOf(f *function, x ast.Expr) set {
	switch x := x.(type) {
	case *ast.SelectorExpr:
		return set{x.Sel.Name: true}
	case *ast.IndexExpr:
		return fieldsOf(f, x.X)
	case *ast.ParenExpr:
		return fieldsOf(f, x.X)
	case *ast.StarExpr:
		return fieldsOf(f, x.X)
	case *ast.Ident:
		return f.pointers[x.Name]
	}
	return nil
}

// pointees returns the fields that x, as a value, points to or into.
func (c *code) pointees(f *function, x ast.Expr) set {
	switch x := x.(type) {
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			return fieldsOf(f, x.X)
		}
	case *ast.Ident:
		return f.pointers[x.Name]
	case *ast.CallExpr:
		all := set{}
		for _, g := range c.funcs[called(x)] {
			if g.pkg == f.pkg {
				all.add(g.points)
			}
		}
		return all
	}
	return nil
}

// does reports whether of, for f or a function of its package that it calls, returns one of
// the fields.
func (c *code) does(f *function, of func(*function) set, fields []string) bool {
	among := func(s set) bool { return slices.ContainsFunc(fields, func(name string) bool { return s[name] }) }
	if among(of(f)) {
		return true
	}
	for name := range f.calls {
		for _, g := range c.funcs[name] {
			if g.pkg == f.pkg && among(of(g)) {
				return true
			}
		}
	}
	return false
}
