//go:build !race

// Package contract has the exported API as texts, one for each package: what other programs are compiled
// against. A test compares them with the code, so that nothing goes, changes its type or is added by
// accident. After a change that is meant, write them anew, and look at the difference:
//
//	go test ./internal/check/contract -update
package contract_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the texts anew")

// root is the directory of the module.
const root = "../../.."

// TestExportedAPI compares each package with its text. Package shard is for maintainers, and promises
// nothing.
func TestExportedAPI(t *testing.T) {
	texts := map[string]bool{}
	for _, folder := range packages(t) {
		name := strings.ReplaceAll(folder, "/", "_") + ".txt"
		texts[name] = true
		t.Run(folder, func(t *testing.T) {
			got := exported(t, folder)
			if got == "" {
				t.Skip("exports nothing")
			}
			if *update {
				require.NoError(t, os.WriteFile(filepath.Join("api", name), []byte(got), 0o600))
			}
			want, err := os.ReadFile(filepath.Join("api", name))
			require.NoError(t, err)
			require.Equal(t, string(want), got, "if this is meant: go test ./internal/check/contract -update")
		})
	}
	files, err := os.ReadDir("api")
	require.NoError(t, err)
	for _, f := range files {
		require.True(t, texts[f.Name()], "api/%s is of no package", f.Name())
	}
}

// packages returns the folders of what others may import.
func packages(t *testing.T) (folders []string) {
	t.Helper()
	for _, top := range []string{"epoch", "pool"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, top), func(at string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && (e.Name() == "internal" || e.Name() == "testdata"):
				return fs.SkipDir
			case e.IsDir() || !isProduct(e.Name()):
				return nil
			}
			folder, err := filepath.Rel(root, filepath.Dir(at))
			if folder = filepath.ToSlash(folder); !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
			return err
		}))
	}
	return folders
}

func isProduct(file string) bool {
	return strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go")
}

// exported returns the declarations of a package that others see, without comments and bodies, in the
// order of their names, in a build without tags.
func exported(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, folder))
	require.NoError(t, err)
	files := token.NewFileSet()
	byName := map[string][]string{}
	for _, e := range entries {
		built, err := build.Default.MatchFile(filepath.Join(root, folder), e.Name())
		require.NoError(t, err)
		if !built || !isProduct(e.Name()) {
			continue
		}
		f, err := parser.ParseFile(files, filepath.Join(root, folder, e.Name()), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.FileExports(f)
		for _, d := range f.Decls {
			for name, part := range parts(d) {
				text := printed(t, files, part)
				if !slices.Contains(byName[name], text) {
					byName[name] = append(byName[name], text)
				}
			}
		}
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		slices.Sort(byName[name])
		for _, text := range byName[name] {
			b.WriteString(text + "\n")
		}
	}
	return b.String()
}

// parts returns a declaration by the names that it declares. A method has its type's name before its own.
// Constants that count on from the one above stay together.
func parts(d ast.Decl) map[string]ast.Node {
	switch d := d.(type) {
	case *ast.FuncDecl:
		d.Body = nil
		name := d.Name.Name
		if d.Recv != nil {
			name = receiver(d.Recv.List[0].Type) + "." + name
		}
		return map[string]ast.Node{name: d}
	case *ast.GenDecl:
		if d.Tok == token.IMPORT || len(d.Specs) == 0 {
			return nil
		}
		switch s := d.Specs[0].(type) {
		case *ast.TypeSpec:
			all := map[string]ast.Node{}
			for _, spec := range d.Specs {
				one := *d
				one.Specs, one.Lparen = []ast.Spec{spec}, token.NoPos
				all[spec.(*ast.TypeSpec).Name.Name] = &one
			}
			return all
		case *ast.ValueSpec:
			return map[string]ast.Node{s.Names[0].Name: d}
		}
	}
	return nil
}

// receiver returns the name of a method's type.
func receiver(x ast.Expr) string {
	for {
		switch y := x.(type) {
		case *ast.StarExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.IndexListExpr:
			x = y.X
		case *ast.Ident:
			return y.Name
		default:
			return ""
		}
	}
}

// printed returns a declaration as gofmt prints it, each line without the blanks that only align it.
func printed(t *testing.T, files *token.FileSet, n ast.Node) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, format.Node(&b, files, n))
	var lines []string
	for line := range strings.Lines(b.String()) {
		if indented := strings.TrimRight(line, "\n"); strings.TrimSpace(indented) != "" {
			tabs := len(indented) - len(strings.TrimLeft(indented, "\t"))
			lines = append(lines, strings.Repeat("\t", tabs)+strings.Join(strings.Fields(indented), " "))
		}
	}
	return strings.Join(lines, "\n")
}
