//go:build !race

package comments_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page of a package shows each example as a program that can be run, with all that it
// uses, and vet accepts it.
func TestExamplesPlay(t *testing.T) {
	dir, err := filepath.Abs(root)
	require.NoError(t, err)
	// The programs are a module beside this one, which requires what this one does.
	programs := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(programs, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	first, rest, _ := strings.Cut(text(t, "go.mod"), "\n")
	path := strings.TrimPrefix(first, "module ")
	write("go.mod", fmt.Sprintf("module example.com/programs\n%s\nrequire %s v0.0.0\n\nreplace %[2]s => %[3]s\n", rest, path, dir))
	write("go.sum", text(t, "go.sum"))

	n := 0
	for _, path := range read(t).files {
		pkg, err := build.ImportDir(filepath.Join(dir, path), 0)
		if err != nil || !strings.HasPrefix(path+"/", "pool/") && !strings.HasPrefix(path+"/", "epoch/") {
			continue // not a package, or not of the product
		}
		var files []*ast.File
		fset := token.NewFileSet()
		for _, name := range slices.Concat(pkg.TestGoFiles, pkg.XTestGoFiles) {
			f, err := parser.ParseFile(fset, filepath.Join(pkg.Dir, name), nil, parser.ParseComments)
			require.NoError(t, err)
			files = append(files, f)
		}
		for _, example := range doc.Examples(files...) {
			if assert.NotNil(t, example.Play, "%s: Example%s uses what its file does not have", path, example.Name) && !strings.HasPrefix(path, "pool/metrics") { // which is another module
				var program strings.Builder
				require.NoError(t, format.Node(&program, fset, example.Play))
				write(filepath.Join(path, "example_"+example.Name, "main.go"), program.String())
				n++
			}
		}
	}
	require.Greater(t, n, 100)
	out, err := exec.Command("go", "-C", programs, "vet", "-mod=mod", "./...").CombinedOutput()
	require.NoError(t, err, "%s", out)
}
