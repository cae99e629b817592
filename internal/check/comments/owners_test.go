//go:build !race

package comments_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A rule that each caller keeps by hand breaks in the next caller. So some types own their words: only
// their methods use their fields, and these stand in the type's files. Then whoever changes a rule finds
// all that it is about there. Tests and what the explorer sees are apart.

// owner is a type that owns its words, and the files of its methods.
type owner struct {
	name  string
	files []string
}

// foreign returns where fields of the owners are used otherwise.
func foreign(t *testing.T, path string, fset *token.FileSet, files []*ast.File, from types.Importer, owners []owner) (wrong []string) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	pkg, err := (&types.Config{Importer: from}).Check(path, fset, files, info)
	require.NoError(t, err)
	of := map[types.Object]owner{} // of a field
	for _, o := range owners {
		named := pkg.Scope().Lookup(o.name)
		require.NotNil(t, named, o.name)
		s, ok := named.Type().Underlying().(*types.Struct)
		require.True(t, ok, "%s is no struct", o.name)
		for i := range s.NumFields() {
			of[s.Field(i)] = o
		}
	}
	for _, f := range files {
		name := filepath.Base(fset.Position(f.Pos()).Filename)
		for _, d := range f.Decls {
			method := ""
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				method = typeOf(info.Types[fn.Recv.List[0].Type].Type)
			}
			ast.Inspect(d, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				v, ok := info.Uses[id].(*types.Var)
				if !ok || !v.IsField() {
					return true
				}
				if o, ok := of[v.Origin()]; ok && (method != o.name || !slices.Contains(o.files, name)) {
					at := fset.Position(id.Pos())
					wrong = append(wrong, fmt.Sprintf("%s:%d: a use of %s.%s", name, at.Line, o.name, v.Name()))
				}
				return true
			})
		}
	}
	return wrong
}

func TestOwnersAloneUseTheirWords(t *testing.T) {
	found := exports(t, root, "./epoch", "./shard", "./shard/slots")
	for _, p := range []struct {
		path   string
		owners []owner
	}{
		{"epoch", []owner{{"Frontier", []string{"frontier.go"}}}},
		{"shard/slots", []owner{
			{"Limbo", []string{"limbo.go"}}, {"Range", []string{"fresh.go"}}, {"Stack", []string{"freelist.go"}},
			{"StampList", []string{"stamp_list.go"}},
		}},
		{"shard", []owner{
			{"backlog", []string{"backlog.go", "synchronize.go"}}, {"batches", []string{"batches.go"}}, {"ready", []string{"ready.go"}},
			{"recycler", []string{"recycle.go"}}, {"affinity", []string{"affinity.go"}},
		}},
	} {
		fset := token.NewFileSet()
		require.Empty(t, foreign(t, p.path, fset, parsed(t, fset, p.path), imports(fset, found), p.owners), p.path)
	}
}

func TestForeignUsesAreFound(t *testing.T) {
	fset := token.NewFileSet()
	var files []*ast.File
	for name, src := range map[string]string{
		"owner.go": `package p

type owner struct{ a, b int }

func (o *owner) right() int { o.a = 1; return o.b }
func wrong(o *owner) int    { return o.a }
`,
		"other.go": `package p

type embeds struct{ owner }

func (o owner) far() int   { return o.b }
func (e *embeds) use() int { e.a = 2; return e.right() }
func made() owner          { return owner{b: 3} }
`,
	} {
		f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, f)
	}
	require.ElementsMatch(t, []string{
		"owner.go:6: a use of owner.a", "other.go:5: a use of owner.b", "other.go:6: a use of owner.a", "other.go:7: a use of owner.b",
	}, foreign(t, "p", fset, files, nil, []owner{{"owner", []string{"owner.go"}}}))
}
