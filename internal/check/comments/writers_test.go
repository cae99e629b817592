//go:build !race

package comments_test

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The comment of a word that goroutines share lists who writes it:
//
//	//	writers  grow, by compare-and-swap; Init and Trace
//
// Each clause begins with names of functions, or with a role, such as the slot's owner. These tests
// hold the list against the code. Each function named must write the field, or call a function
// that does; and each function that writes it must be named, or be called only by such as are.
// Constructors are apart: a function that has made the object itself, and Init. If a list has a
// role, anyone may play it, and only the names are checked.

// writersOf is what a package does with its fields.
type writersOf struct {
	fset  *token.FileSet
	info  *types.Info
	known set                         // all functions
	lists map[*types.Var]string       // of the fields that have a list
	alias map[types.Object]*types.Var // what has the address of a field: a variable, another field, a function's result

	writes map[*types.Var]set // the functions that write a field
	makes  map[*types.Var]set // those that write it in an object that they have made
	heirs  map[string]set     // the methods of a type that write their receiver
	users  map[string]set     // the functions that use a function

	through map[types.Object]bool // the variables and parameters through which something is written
}

// writing are the methods of atomics that write.
var writing = regexp.MustCompile(`^(Store|Swap|Add|CompareAndSwap|And|Or|Inc|Dec|Sub|Toggle|CAS)$`)

// exports returns the export data of all that the packages import.
func exports(t *testing.T, dir string, packages ...string) map[string]string {
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, packages...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	require.NoError(t, err)
	found := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		path, file, _ := strings.Cut(lines.Text(), "\t")
		found[path] = file
	}
	return found
}

// goFiles returns the files of a package that a normal build has.
func goFiles(t *testing.T, dir string) (files []string) {
	cmd := exec.Command("go", "list", "-f", `{{join .GoFiles "\n"}}`)
	cmd.Dir = dir
	out, err := cmd.Output()
	require.NoError(t, err)
	for name := range strings.Lines(string(out)) {
		files = append(files, filepath.Join(dir, strings.TrimSpace(name)))
	}
	return files
}

// parsed returns the parsed files of a package that a normal build has.
func parsed(t *testing.T, fset *token.FileSet, path string) (files []*ast.File) {
	for _, name := range goFiles(t, filepath.Join(root, path)) {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, f)
	}
	return files
}

// imports returns an importer of packages whose export data is in these files.
func imports(fset *token.FileSet, found map[string]string) types.Importer {
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(found[path]) })
}

// check reads a package.
func check(t *testing.T, path string, fset *token.FileSet, files []*ast.File, from types.Importer) *writersOf {
	x := &writersOf{
		fset: fset, lists: map[*types.Var]string{}, writes: map[*types.Var]set{},
		users: map[string]set{}, through: map[types.Object]bool{}, known: set{}, alias: map[types.Object]*types.Var{},
		makes: map[*types.Var]set{}, heirs: map[string]set{},
		info: &types.Info{
			Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Types: map[ast.Expr]types.TypeAndValue{},
		},
	}
	_, err := (&types.Config{Importer: from}).Check(path, fset, files, x.info)
	require.NoError(t, err)
	for _, f := range files {
		ast.Inspect(f, x.list)
	}
	each := func(do func(fn *ast.FuncDecl)) {
		for _, f := range files {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
					do(fn)
				}
			}
		}
	}
	for range 2 { // what one finds, others use
		each(x.aliases)
	}
	for range 2 {
		each(x.function)
	}
	each(func(fn *ast.FuncDecl) { x.known[fn.Name.Name] = true })
	return x
}

// list notes the lists of writers of a struct's fields. One above the type is that of its only field.
func (x *writersOf) list(n ast.Node) bool {
	note := func(text string, names []*ast.Ident) {
		m := regexp.MustCompile(`(?m)^\s*writers(?: and readers)?  (.*(?:\n\s{3,}.*)*)`).FindStringSubmatch(text)
		for _, name := range names {
			if v, ok := x.info.Defs[name].(*types.Var); ok && m != nil {
				x.lists[v] = m[1]
			}
		}
	}
	switch n := n.(type) {
	case *ast.GenDecl:
		for _, s := range n.Specs {
			if s, ok := s.(*ast.TypeSpec); ok {
				if of, ok := s.Type.(*ast.StructType); ok && len(of.Fields.List) == 1 {
					note(n.Doc.Text(), of.Fields.List[0].Names)
				}
			}
		}
	case *ast.Field:
		note(n.Doc.Text(), n.Names)
	}
	return true
}

// field returns the field that an expression reaches, x.f, x.f[i] or &x.f, or whose address a
// variable, a field or the result of a call has, and the object of which it is a field.
func (x *writersOf) field(e ast.Expr) (*types.Var, ast.Expr) {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		if s := x.info.Selections[e]; s != nil && s.Kind() == types.FieldVal {
			f := s.Obj().(*types.Var).Origin()
			if of := x.alias[f]; of != nil {
				return of, e.X
			}
			return f, e.X
		}
	case *ast.IndexExpr:
		return x.field(e.X)
	case *ast.ParenExpr:
		return x.field(e.X)
	case *ast.StarExpr:
		return x.field(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return x.field(e.X)
		}
	case *ast.Ident:
		return x.alias[x.info.Uses[e]], nil
	case *ast.CallExpr:
		if f := x.callee(e); f != nil {
			return x.alias[f], nil
		}
	}
	return nil, nil
}

// callee returns the function or method that a call calls, if that is known.
func (x *writersOf) callee(e *ast.CallExpr) *types.Func {
	fun := e.Fun
	if i, ok := fun.(*ast.IndexExpr); ok {
		fun = i.X
	}
	switch fun := fun.(type) {
	case *ast.Ident:
		if f, ok := x.info.Uses[fun].(*types.Func); ok {
			return f.Origin()
		}
	case *ast.SelectorExpr:
		if f, ok := x.info.Uses[fun.Sel].(*types.Func); ok {
			return f.Origin()
		}
	}
	return nil
}

// aliases notes which variables, fields and results of a function have the address of a field.
func (x *writersOf) aliases(fn *ast.FuncDecl) {
	address := func(e ast.Expr) *types.Var {
		switch e := e.(type) {
		case *ast.UnaryExpr, *ast.CallExpr, *ast.Ident:
			f, _ := x.field(e)
			return f
		}
		return nil
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok && len(n.Rhs) == len(n.Lhs) {
					if f := address(n.Rhs[i]); f != nil && x.info.Defs[id] != nil {
						x.alias[x.info.Defs[id]] = f
					}
				}
			}
		case *ast.ReturnStmt:
			if len(n.Results) == 1 {
				if f := address(n.Results[0]); f != nil {
					x.alias[x.info.Defs[fn.Name]] = f
				}
			}
		case *ast.CompositeLit:
			of, ok := x.info.Types[n].Type.Underlying().(*types.Struct)
			for i, e := range n.Elts {
				if kv, is := e.(*ast.KeyValueExpr); is {
					if f := address(kv.Value); f != nil && ok {
						if key, is := kv.Key.(*ast.Ident); is {
							x.alias[x.info.Uses[key]] = f
						}
					}
				} else if f := address(e); f != nil && ok {
					x.alias[of.Field(i).Origin()] = f
				}
			}
		}
		return true
	})
}

// receiver returns the object of a method's receiver.
func (x *writersOf) receiver(fn *ast.FuncDecl) types.Object {
	if fn.Recv == nil || len(fn.Recv.List[0].Names) == 0 {
		return nil
	}
	return x.info.Defs[fn.Recv.List[0].Names[0]]
}

// function notes what a function writes, and which functions it uses.
func (x *writersOf) function(fn *ast.FuncDecl) {
	name := fn.Name.Name
	made := map[types.Object]bool{} // objects that it made itself
	wrote := func(e ast.Expr) {
		f, base := x.field(e)
		if f == nil {
			return
		}
		for base != nil {
			_, deeper := x.field(base)
			if deeper == nil {
				break
			}
			base = deeper
		}
		if id, ok := base.(*ast.Ident); ok {
			if o := x.info.Uses[id]; made[o] {
				add(x.makes, f, name)
				return
			} else if o == x.receiver(fn) && o != nil {
				add(x.heirs, typeOf(o.Type()), name)
			}
		}
		add(x.writes, f, name)
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for _, id := range n.Names {
				if o := x.info.Defs[id]; o != nil && !isPointer(o.Type()) {
					made[o] = true
				}
			}
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok {
					if len(n.Rhs) == len(n.Lhs) && isNew(n.Rhs[i]) {
						made[x.info.Defs[id]], made[x.info.Uses[id]] = true, true
					}
					continue
				}
				wrote(l)
			}
		case *ast.IncDecStmt:
			wrote(n.X)
		case *ast.CallExpr:
			if m, ok := n.Fun.(*ast.SelectorExpr); ok {
				f, own := x.info.Uses[m.Sel].(*types.Func)
				if writing.MatchString(m.Sel.Name) || own && x.ownWrites(f) {
					wrote(m.X)
					if id, ok := m.X.(*ast.Ident); ok {
						x.through[x.info.Uses[id]] = true
					}
				}
			}
			for i, a := range n.Args {
				if x.info.Types[n.Fun].IsType() && x.info.Types[n.Fun].Type == types.Typ[types.UnsafePointer] {
					wrote(a) // to be stored plainly
				}
				if f := x.callee(n); f != nil && x.stores(f, i) {
					wrote(a)
				}
			}
		case *ast.Ident:
			if f, ok := x.info.Uses[n].(*types.Func); ok {
				add(x.users, f.Name(), name)
			}
		}
		return true
	})
}

// add adds a name to a set of a map.
func add[K comparable](m map[K]set, k K, name string) {
	if m[k] == nil {
		m[k] = set{}
	}
	m[k][name] = true
}

// typeOf returns the name of a type, or of what it points to.
func typeOf(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// stores reports whether a function writes what an argument points to.
func (x *writersOf) stores(f *types.Func, argument int) bool {
	if f.Name() == "StoreRelease" || f.Name() == "StoreLast" { // of package atom
		return argument == 1
	}
	params := f.Type().(*types.Signature).Params()
	return argument < params.Len() && x.through[params.At(argument)]
}

// ownWrites reports whether a method of a small type, which has one word, writes it.
func (x *writersOf) ownWrites(f *types.Func) bool {
	r := f.Origin().Type().(*types.Signature).Recv()
	if r == nil {
		return false
	}
	t := r.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	return ok && s.NumFields() == 1 && x.heirs[typeOf(r.Type())][f.Name()]
}

func isPointer(t types.Type) bool { _, ok := t.Underlying().(*types.Pointer); return ok }

// isNew reports whether an expression makes an object: new(T), T{} or &T{}.
func isNew(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.UnaryExpr:
		return e.Op == token.AND && isNew(e.X)
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		id, ok := e.Fun.(*ast.Ident)
		return ok && id.Name == "new"
	}
	return false
}

var identifier = regexp.MustCompile(`^(?:, and |, | and )?([A-Za-z_]\w*)`)

// named returns the functions that a list names, and whether it has a role as well.
func (x *writersOf) named(list string) (names set, role bool) {
	names = set{}
	for _, clause := range strings.Split(strings.Join(strings.Fields(list), " "), "; ") {
		clause = strings.TrimSpace(clause)
		n := 0
		for {
			m := identifier.FindStringSubmatch(clause)
			if m == nil || !x.known[m[1]] {
				break
			}
			names[m[1]] = true
			clause = clause[len(m[0]):]
			n++
		}
		role = role || n == 0
	}
	return names, role
}

// reaches reports whether a function is one of those, or uses one, directly or by others.
func (x *writersOf) reaches(name string, those set, seen set) bool {
	if those[name] {
		return true
	}
	seen[name] = true
	for used, by := range x.users {
		if by[name] && !seen[used] && x.reaches(used, those, seen) {
			return true
		}
	}
	return false
}

// covered reports whether a writer is named, or used only by functions that are covered.
func (x *writersOf) covered(name string, names set, seen set) bool {
	if names[name] || name == "Init" {
		return true
	}
	if seen[name] || len(x.users[name]) == 0 {
		return false
	}
	seen[name] = true
	for by := range x.users[name] {
		if by != name && !x.covered(by, names, seen) {
			return false
		}
	}
	return true
}

// wrong returns what the lists say and the code does not, and the other way round.
func (x *writersOf) wrong() (wrong []string) {
	for f, list := range x.lists {
		names, role := x.named(list)
		at := x.fset.Position(f.Pos())
		say := func(format string, args ...any) {
			wrong = append(wrong, fmt.Sprintf("%s:%d: %s: ", filepath.Base(at.Filename), at.Line, f.Name())+fmt.Sprintf(format, args...))
		}
		for name := range names {
			if !x.reaches(name, x.writes[f], set{}) && !x.reaches(name, x.makes[f], set{}) {
				say("%s does not write it", name)
			}
		}
		for name := range x.writes[f] {
			if !role && !x.covered(name, names, set{}) {
				say("%s writes it, and is not named", name)
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

func TestListsOfWritersAreRight(t *testing.T) {
	packages := []string{"epoch", "shard", "shard/slots", "pool", "pool/dense", "pool/tree"}
	found := exports(t, root, "./epoch", "./shard", "./shard/slots", "./pool", "./pool/dense", "./pool/tree")
	n := 0
	for _, path := range packages {
		fset := token.NewFileSet()
		x := check(t, path, fset, parsed(t, fset, path), imports(fset, found))
		n += len(x.lists)
		for _, w := range x.wrong() {
			t.Errorf("%s/%s", path, w)
		}
	}
	require.GreaterOrEqual(t, n, 40, "lists of writers that were found")
}

func TestWrongListsOfWritersAreFound(t *testing.T) {
	const src = `package p

type word struct{ v int }

func (w *word) Store(v int) { *w = word{v} }
func (w *word) Load() int   { return w.v }

type thing struct {
	// a is right.
	//
	//	writers  set, for others; grow and Init
	//	readers  get
	a word

	// b names one that only reads, and lacks one.
	//
	//	writers  get; grow
	b word

	// c has a role.
	//
	//	writers  the owner
	c word
}

func (t *thing) set()     { t.a.Store(1); t.b.Store(2); t.c.Store(3) }
func (t *thing) get() int { return t.a.Load() + t.b.Load() }
func (t *thing) grow()    { t.help() }
func (t *thing) help()    { t.a.Store(3); t.b.Store(1) }
func (t *thing) Init()    { t.a.Store(4); t.b.Store(3) }
func made() *thing        { t := &thing{}; t.b.Store(1); return t }
`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", src, parser.ParseComments)
	require.NoError(t, err)
	x := check(t, "p", fset, []*ast.File{f}, nil)
	require.Equal(t, []string{"p.go:18: b: get does not write it", "p.go:18: b: set writes it, and is not named"}, x.wrong())
}
