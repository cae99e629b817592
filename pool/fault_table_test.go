package pool_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The table at the top of fault_test.go names tests of this and of other
// packages. A test that is renamed or dropped must not leave a hole there.
func TestFaultTableNamesTests(t *testing.T) {
	directories := map[string]string{"": ".", "coatcheck": "..", "epoch": "../epoch", "shard": "../shard"}
	defined := map[string]bool{}
	for name, directory := range directories {
		files, err := filepath.Glob(filepath.Join(directory, "*_test.go"))
		require.NoError(t, err)
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
					defined[name+"."+f.Name.Name] = true
				}
			}
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "fault_test.go", nil, parser.ParseComments)
	require.NoError(t, err)
	require.NotNil(t, file.Doc, "the table is the package comment of fault_test.go")
	table := file.Doc.Text()
	names := regexp.MustCompile(`(?:\b(\w+)\.)?\b((?:Test|Fuzz)[A-Z]\w*)`).FindAllStringSubmatch(table, -1)
	require.Greater(t, len(names), 50)
	listed := map[string]bool{}
	for _, n := range names {
		listed[n[1]+"."+n[2]] = true
		assert.Truef(t, defined[n[1]+"."+n[2]], "the table names %s, which does not exist", n[0])
	}
	// Nor may a test of these files be missing from it.
	files, err := filepath.Glob("fault*_test.go")
	require.NoError(t, err)
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && regexp.MustCompile(`^Test[A-Z]`).MatchString(f.Name.Name) && path != "fault_table_test.go" {
				assert.Truef(t, listed["."+f.Name.Name], "the table lacks %s", f.Name.Name)
			}
		}
	}
}
