//go:build !race

package api

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/tree"
)

// known are the types whose methods the checks name.
var known = map[string]reflect.Type{
	"Pool":        reflect.TypeFor[*pool.Pool[int]](),
	"Guard":       reflect.TypeFor[*pool.Guard[int]](),
	"Ref":         reflect.TypeFor[*pool.Ref[int]](),
	"Reservation": reflect.TypeFor[*pool.Reservation[int]](),
	"Worker":      reflect.TypeFor[*pool.Worker[int]](),
	"Ptr":         reflect.TypeFor[*pool.Ptr[int]](),
	"tree.Forest": reflect.TypeFor[*tree.Forest[int]](),
	"tree.Reader": reflect.TypeFor[*tree.Reader[int]](),
}

// has requires that a type has a method.
func has(t *testing.T, typ, method string) {
	t.Helper()
	require.Contains(t, known, typ)
	_, found := known[typ].MethodByName(method)
	require.True(t, found, "%s has no method %s", typ, method)
}

// TestNamesExist: the package has each type and method that a check names, and the path is its own.
func TestNamesExist(t *testing.T) {
	require.Equal(t, path, known["Pool"].Elem().PkgPath())
	for _, r := range Resources {
		for _, method := range append(r.Ends, r.After...) {
			has(t, r.Name, method)
		}
		for typ, methods := range r.Opened {
			for _, method := range methods {
				has(t, typ, method)
			}
		}
	}
	// The checks ask c.Is("Pool", "Get", "MustGet").
	asked := 0
	for _, pattern := range []string{"../../*.go", "../flow/*.go", "*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Is" && len(call.Args) > 1 {
					var words []string
					for _, a := range call.Args {
						word, err := strconv.Unquote(a.(*ast.BasicLit).Value)
						require.NoError(t, err)
						words = append(words, word)
					}
					for _, method := range words[1:] {
						asked++
						has(t, words[0], method)
					}
				}
				return true
			})
		}
	}
	require.Greater(t, asked, 30)
}
