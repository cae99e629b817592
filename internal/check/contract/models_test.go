//go:build !race

package contract_test

import (
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// module is the module's path, which a clone may change, with a slash.
var module = strings.TrimSuffix(reflect.TypeFor[pool.Stats]().PkgPath(), "pool")

// structures are the types that models draw the operations of: in which files, and which methods the model
// leaves to other tests, each with the reason.
var structures = []struct {
	folder string
	types  []string
	files  []string
	others map[string]string
}{
	{"pool/dense", []string{"Store"}, []string{"model_test.go"}, map[string]string{
		"Store.String": "a text for people",
	}},
	{"pool/table", []string{"Table", "View"}, []string{"model_test.go", "machine_test.go"}, map[string]string{
		"Table.WriteTo":  "a model's records have pointers; testCopy compares copies of other ones",
		"Table.ReadFrom": "as WriteTo",
	}},
	{"pool/tree", []string{"Forest", "Reader"}, []string{"model_test.go", "loop_test.go", "helper_test.go"}, map[string]string{
		"Forest.String": "a text for people",
	}},
	{"pool/command", []string{"Buffer"}, []string{"model_test.go"}, map[string]string{
		"Buffer.String": "a text for people",
	}},
	{"pool/pending", []string{"Calls", "Call"}, []string{"model_test.go"}, map[string]string{
		"Calls.String": "a text for people",
	}},
}

// TestModelsCallEachMethod requires that the model of a structure calls each of its exported methods, so
// that drawn operations compare what each does and returns.
func TestModelsCallEachMethod(t *testing.T) {
	for _, s := range structures {
		t.Run(s.folder, func(t *testing.T) {
			product, called := callsOf(t, s.folder, s.files)
			listed := 0
			for _, name := range s.types {
				of := product.Scope().Lookup(name).Type().(*types.Named)
				for m := range of.Methods() {
					full := name + "." + m.Name()
					reason, other := s.others[full]
					switch in := called[full] || called["."+m.Name()]; {
					case !m.Exported():
						continue
					case other && (in || reason == ""):
						t.Errorf("%s has no need to be listed: the model calls it, or there is no reason", full)
					case !other && !in:
						t.Errorf("no model calls %s: let %v draw it, or list it with the reason", full, s.files)
					case other:
						listed++
					}
				}
			}
			require.Len(t, s.others, listed, "methods are listed that there are not")
		})
	}
}

// callsOf returns the package in a folder, and the methods that files of its external tests call, by the
// names of their types; those of an interface that the tests declare have no type.
//
// What these import stays unknown, which takes no time. The errors that this leaves do not matter.
func callsOf(t *testing.T, folder string, files []string) (product *types.Package, called map[string]bool) {
	t.Helper()
	at := filepath.Join(root, folder)
	sources, err := build.ImportDir(at, 0)
	require.NoError(t, err)
	fset := token.NewFileSet()
	parsed := func(names []string) (all []*ast.File) {
		for _, name := range names {
			f, err := parser.ParseFile(fset, filepath.Join(at, name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			all = append(all, f)
		}
		return all
	}
	config := types.Config{Importer: alone{}, Error: func(error) {}}
	product, _ = config.Check(module+folder, fset, parsed(slices.Concat(sources.GoFiles, sources.TestGoFiles)), nil)
	config.Importer = alone{product}
	info := types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	tests, _ := config.Check(product.Path()+"_test", fset, parsed(sources.XTestGoFiles), &info)

	called = map[string]bool{}
	for e, s := range info.Selections {
		m, ok := s.Obj().(*types.Func)
		if !ok || !slices.Contains(files, filepath.Base(fset.Position(e.Pos()).Filename)) {
			continue
		}
		switch of := m.Signature().Recv().Type(); {
		case m.Pkg() == product:
			if p, ok := types.Unalias(of).(*types.Pointer); ok {
				of = p.Elem()
			}
			if named, ok := types.Unalias(of).(*types.Named); ok {
				called[named.Obj().Name()+"."+m.Name()] = true
			}
		case m.Pkg() == tests && types.IsInterface(of):
			called["."+m.Name()] = true
		}
	}
	return product, called
}

// alone knows one package at most.
type alone struct{ known *types.Package }

func (a alone) Import(name string) (*types.Package, error) {
	if a.known != nil && a.known.Path() == name {
		return a.known, nil
	}
	return nil, errors.New("unknown")
}
