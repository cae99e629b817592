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
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

var (
	update = flag.Bool("update", false, "write the texts anew")
	public = regexp.MustCompile(`^(epoch|pool)(/|$)`)
	layout = regexp.MustCompile(`([ \n])[ \n]+`) // blanks that align, and empty lines
)

// root is the directory of the module.
const root = "../../.."

// TestExportedAPI compares each package that others may import with its text. Package shard is for
// maintainers, and promises nothing.
func TestExportedAPI(t *testing.T) {
	var folders []string
	for _, file := range testkit.Files(t, root, ".go") {
		folder := filepath.ToSlash(filepath.Dir(file))
		if public.MatchString(folder) && !strings.Contains(folder, "/internal") && !strings.HasSuffix(file, "_test.go") {
			folders = append(folders, folder)
		}
	}
	slices.Sort(folders)
	texts := 0
	for _, folder := range slices.Compact(folders) {
		text := exported(t, folder)
		if text == "" {
			continue
		}
		texts++
		name := strings.ReplaceAll(folder, "/", "_") + ".txt"
		if *update {
			require.NoError(t, os.WriteFile(filepath.Join("api", name), []byte(text), 0o600))
		}
		want, err := os.ReadFile(filepath.Join("api", name))
		require.NoError(t, err)
		require.Equal(t, string(want), text, "if this is meant: go test ./internal/check/contract -update")
	}
	files, err := os.ReadDir("api")
	require.NoError(t, err)
	require.Len(t, files, texts, "a text is of no package")
}

// exported returns the declarations of a package that others see, without comments and bodies, in the
// order of their texts, in a build without tags.
func exported(t *testing.T, folder string) string {
	t.Helper()
	sources, err := build.ImportDir(filepath.Join(root, folder), 0)
	require.NoError(t, err)
	fset := token.NewFileSet()
	var all []string
	for _, name := range sources.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(root, folder, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.FileExports(f)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				d.Body = nil
			case *ast.GenDecl:
				if d.Tok == token.IMPORT {
					continue
				}
			}
			var b bytes.Buffer
			require.NoError(t, format.Node(&b, fset, d))
			all = append(all, layout.ReplaceAllString(b.String(), "$1")+"\n")
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}
