//go:build !race

package comments_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Things have nouns as names, and functions verbs. A preposition, a determiner or an auxiliary says
// nothing where it stands alone, and a sentence about it cannot be understood: at, most, rest, did.
// Packages sync and internal/runtime/maps of Go have one in 270.
var nameless = strings.Fields(`about above across after against along amid among around as at before behind
	below beneath beside besides between beyond by despite down during for from in inside into like near of off
	on onto out outside over past per since through throughout till to toward towards under until unto up upon
	via with within without an the this that these those all another any both each either enough every few
	fewer half less least many more most much neither no none one other others rest several some such own what
	which whose am are be been being can could did do does done had has have having is may might must need
	ought shall should was were will would met`)

// declared returns the names that a file declares, of more than one letter.
func declared(f *ast.File) (names []string) {
	note := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if len(id.Name) > 1 {
				names = append(names, id.Name)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			note(n.Name)
		case *ast.TypeSpec:
			note(n.Name)
		case *ast.ValueSpec:
			note(n.Names...)
		case *ast.Field: // a parameter, a result or a receiver too
			note(n.Names...)
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				if id, ok := l.(*ast.Ident); ok && n.Tok == token.DEFINE {
					note(id)
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					note(id)
				}
			}
		}
		return true
	})
	return names
}

// structures lists the packages above the pool, and those that they share.
var structures = []string{
	"pool/cgohandle", "pool/command", "pool/dense", "pool/pending", "pool/table", "pool/tree", "pool/internal/codec",
	"pool/internal/handle", "pool/internal/moves", "pool/internal/snapshot", "pool/internal/states", "pool/internal/trace",
	"pool/metrics/poolotel", "pool/metrics/poolprom", "pool/poolhttp", "pool/pooltest",
}

// names returns the names that the product's files of a folder declare, and which of them say nothing.
func names(t *testing.T, folder string) (all, wrong []string) {
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		all = append(all, declared(f)...)
	}
	require.NotEmpty(t, all, "%s has no names", folder)
	for _, name := range all {
		if slices.Contains(nameless, name) {
			wrong = append(wrong, name)
		}
	}
	return all, wrong
}

// At most one name in a hundred is no noun, verb or adjective: in the packages of the protocol together, and in
// each of the structures.
func TestNamesSayWhatThingsAre(t *testing.T) {
	var all, wrong []string
	for _, folder := range protocol {
		a, w := names(t, folder)
		all, wrong = append(all, a...), append(wrong, w...)
	}
	require.Greater(t, len(all), 2000)
	require.LessOrEqual(t, 100*len(wrong), len(all), "of %d names: %q", len(all), wrong)
	for _, folder := range structures {
		all, wrong := names(t, folder)
		require.LessOrEqual(t, 100*len(wrong), len(all), "%s: of %d names: %q", folder, len(all), wrong)
	}
}

func TestNamesThatSayNothingAreFound(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", `package p

type at struct{ most, size int }

const rest = 1

func (of at) did(to int) (met bool) {
	for each, k := range of.list {
		was := each
	}
	return
}
`, parser.SkipObjectResolution)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"at", "most", "size", "rest", "of", "did", "to", "met", "each", "was"}, declared(f))
}
