//go:build !race

// Package layers reads the imports of the product's files, whatever their build tags: dependencies run
// downwards only, and nothing of the product imports what checks it.
package layers

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

const (
	root   = "../../.."
	bottom = "internal/(atom|bubble|cause|cost|hint|pointers)"
)

// layers are those of CONTRIBUTING.md: what the packages in folders may import of this module. The first that
// matches a folder counts. Structures do not use each other.
var layers = []struct{ folder, uses string }{
	{"(internal/(check|tools|turns)|pool/coatvet|bench|examples)(/.*)?", ".*"}, // no part of the product
	{bottom, "none"},
	{"epoch", bottom},
	{"shard/slots", bottom},
	{"shard", bottom + "|epoch|shard/slots"},
	{"pool(/internal/.*)?", bottom + "|epoch|shard|shard/slots|pool(/internal/.*)?"},
	{"pool/metrics/.*", "pool/.*|pool"},
	{"pool/.*", bottom + "|pool(/internal/.*)?"},
	{".*", "none"}, // a package of no layer
}

// allows reports whether a package may import another, by their folders.
func allows(from, to string) bool {
	matches := func(pattern, folder string) bool {
		return regexp.MustCompile("^(" + pattern + ")$").MatchString(folder)
	}
	for _, l := range layers {
		if matches(l.folder, from) {
			return from == to || matches(l.uses, to)
		}
	}
	return false
}

func TestImportsRunDownwards(t *testing.T) {
	module, n := strings.TrimSuffix("coatcheck/epoch", "epoch"), 0 // which a clone may change
	for _, file := range testkit.Files(t, root, ".go") {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range f.Imports {
			to, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			if hook := strings.HasSuffix(file, "_interleave.go") && to == "internal/check/interleave"; ours && !hook {
				n++
				assert.True(t, allows(filepath.ToSlash(filepath.Dir(file)), to), "%s imports %s", file, to)
			}
		}
	}
	require.Greater(t, n, 50)
	require.False(t, allows("shard", "pool") || allows("pool/tree", "shard") || allows("pool/tree", "pool/dense") || allows("new", "pool") || allows("pool", "internal/check/testkit"))
}
