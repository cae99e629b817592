//go:build !race

// This test reads the imports of the product's files, whatever their build tags:
// dependencies run downwards only, and nothing of the product imports what checks it.
package layers_test

import (
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the directory of the module.
const root = "../../.."

// layers are those of CONTRIBUTING.md, from the bottom up. A package belongs to the layer that
// names it, or else a folder above it; what is below pool otherwise is a structure.
var layers = []struct {
	packages []string
	uses     []int // the layers whose packages it may import
}{
	bottom:     {packages: []string{"internal/atom", "internal/bubble", "internal/cause", "internal/cost", "internal/hint", "internal/pointers"}},
	epoch:      {packages: []string{"epoch"}, uses: []int{bottom}},
	slots:      {packages: []string{"shard/slots"}, uses: []int{bottom}},
	shard:      {packages: []string{"shard"}, uses: []int{bottom, epoch, slots}},
	pool:       {packages: []string{"pool", "pool/internal"}, uses: []int{bottom, epoch, slots, shard, pool}},
	structures: {uses: []int{bottom, pool}},
	collectors: {packages: []string{"pool/metrics"}, uses: []int{pool, structures, collectors}},
}

const (
	bottom = iota
	epoch
	slots
	shard
	pool
	structures
	collectors
	none // what is no part of the product
)

// arrow is an import of one package of the module by another, as folders below root.
type arrow struct{ from, to string }

// layer returns the layer of the package in a folder.
func layer(folder string) int {
	for found := folder; found != "."; found = path.Dir(found) {
		if found == "pool" && folder != "pool" {
			return structures
		}
		for i, l := range layers {
			if slices.Contains(l.packages, found) {
				return i
			}
		}
	}
	return none
}

// wrong reports whether an arrow from a package of the product breaks the rule. Structures do
// not use each other.
func (a arrow) wrong() bool {
	from, to := layer(a.from), layer(a.to)
	return from == none || a.from != a.to && !slices.Contains(layers[from].uses, to)
}

// isProduct reports whether the files in a folder are part of the product: neither a check, nor
// a tool, an example or a benchmark.
func isProduct(folder string) bool {
	for _, other := range []string{"internal/check", "internal/tools", "internal/turns", "pool/coatvet", "examples", "bench", "docs"} {
		if strings.HasPrefix(folder+"/", other+"/") {
			return false
		}
	}
	return true
}

// hooked reports whether a file is built only to explore schedules.
func hooked(text string) bool {
	for line := range strings.Lines(text) {
		if constraint.IsGoBuild(line) {
			x, err := constraint.Parse(strings.TrimSpace(line))
			return err == nil && !x.Eval(func(tag string) bool { return tag != "interleave" })
		}
	}
	return false
}

// imports returns the packages of the module that a file imports.
func imports(t *testing.T, file, text, module string) (folders []string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
	require.NoError(t, err)
	for _, spec := range f.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		if folder, found := strings.CutPrefix(name, module+"/"); found {
			folders = append(folders, folder)
		}
	}
	return folders
}

func TestImportsRunDownwards(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		return string(text)
	}
	first, _, _ := strings.Cut(read("go.mod"), "\n")
	module := strings.TrimSpace(strings.TrimPrefix(first, "module "))

	n := 0
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(file string, d fs.DirEntry, err error) error {
		folder := path.Dir(file)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (file != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || !isProduct(file)):
			return fs.SkipDir
		case d.IsDir() || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		text := read(file)
		for _, to := range imports(t, file, text, module) {
			n++
			a := arrow{folder, to}
			if !isProduct(to) {
				require.True(t, hooked(text), "%s imports %s, which is no part of the product", file, to)
				continue
			}
			require.False(t, a.wrong(), "%s: its import of %s does not run downwards", file, to)
		}
		return nil
	}))
	require.Greater(t, n, 50)
}

func TestWrongImportsAreFound(t *testing.T) {
	for _, a := range []arrow{
		{"internal/atom", "internal/hint"}, {"internal/hint", "pool"}, {"epoch", "shard"}, {"shard", "pool"}, {"shard", "pool/internal/trace"},
		{"shard/slots", "shard"}, {"shard/slots", "epoch"}, {"epoch", "shard/slots"}, {"pool/tree", "shard/slots"},
		{"pool", "pool/tree"}, {"pool/internal/trace", "pool/tree"}, {"pool/tree", "pool/dense"}, {"pool/tree", "shard"},
		{"pool/tree", "pool/metrics/poolprom"}, {"pool/metrics/poolprom", "shard"}, {"internal/new", "internal/atom"}, {"new", "pool"},
		{"pool", "internal/new"},
	} {
		require.True(t, a.wrong(), "%v", a)
	}
	for _, a := range []arrow{
		{"epoch", "internal/atom"}, {"shard", "epoch"}, {"shard/slots", "internal/atom"}, {"shard", "shard/slots"}, {"pool", "shard/slots"}, {"pool", "shard"}, {"pool", "epoch"}, {"pool", "pool/internal/trace"}, {"pool/internal/handle", "pool"},
		{"pool/tree", "pool"}, {"pool/tree", "pool/internal/handle"}, {"pool/tree", "internal/atom"}, {"pool/metrics/poolprom", "pool/poolhttp"},
		{"pool/metrics/poolprom", "pool/internal/states"}, {"pool/metrics/poolprom", "pool/metrics/internal/figures"},
	} {
		require.False(t, a.wrong(), "%v", a)
	}
	for text, want := range map[string]bool{
		"//go:build interleave\n\npackage x\n": true, "//go:build interleave && linux\n\npackage x\n": true,
		"//go:build !interleave\n\npackage x\n": false, "//go:build interleave || linux\n\npackage x\n": false, "package x\n": false,
	} {
		require.Equal(t, want, hooked(text), text)
	}
	text := "package x\n\nimport (\n\t. \"example.com/m/pool\"\n\t\"example.com/mm/pool\"\n\t\"fmt\"\n)\n"
	require.Equal(t, []string{"pool"}, imports(t, "x.go", text, "example.com/m"))
	require.True(t, isProduct("pool/new") && isProduct("new") && isProduct("internal/checks") && isProduct("."), "these packages should be part of the product")
	require.False(t, isProduct("internal/check") || isProduct("internal/check/storm") || isProduct("examples"), "these packages should be no part of the product")
}
