package comments_test

import (
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page of a package shows each example as a program that can be run: all that an example
// uses is in its file.
func TestExamplesPlay(t *testing.T) {
	n := 0
	for path := range read(t).comments {
		if !strings.HasSuffix(path, "_test.go") || !strings.HasPrefix(path, "pool/") && !strings.HasPrefix(path, "epoch/") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.ParseComments)
		require.NoError(t, err)
		for _, example := range doc.Examples(f) {
			assert.NotNil(t, example.Play, "%s: Example%s uses what its file does not have", path, example.Name)
			n++
		}
	}
	require.Greater(t, n, 100)
}
