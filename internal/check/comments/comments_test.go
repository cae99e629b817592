//go:build !race

// These tests read comments and documents: labels, tests and files exist where another place
// cites them. They say nothing of whether a sentence is true.
package comments_test

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	pathpkg "path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the directory of the module.
const root = "../../.."

// protocol lists the packages of the protocol.
var protocol = []string{"epoch", "shard", "shard/slots", "pool", "internal/atom"}

type set map[string]bool

// tree is what these tests look at.
type tree struct {
	comments map[string]string // of a Go file, by its path from root
	names    set               // all identifiers
	files    []string          // all paths
	design   string            // DESIGN.md
}

// parse adds a Go file.
func (x *tree) parse(t *testing.T, path string, src any) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	var text strings.Builder
	for _, g := range f.Comments {
		text.WriteString(g.Text() + "\n")
	}
	x.comments[path] = text.String()
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			x.names[id.Name] = true
		}
		return true
	})
}

// read reads the module, once.
func read(t *testing.T) *tree {
	x := &tree{comments: map[string]string{}, names: set{}, design: text(t, "DESIGN.md")}
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && path != ".github" && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		}
		if x.files = append(x.files, path); strings.HasSuffix(path, ".go") {
			x.parse(t, path, text(t, path))
		}
		return nil
	}))
	return x
}

func text(t *testing.T, path string) string {
	b, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return string(b)
}

// matches returns the groups of each match of re in text, put together.
func matches(re, text string) set {
	s := set{}
	for _, m := range regexp.MustCompile(re).FindAllStringSubmatch(text, -1) {
		s[strings.Join(m[1:], "")] = true
	}
	return s
}

// unpaired returns the publications that lack a store, a load, or a row in DESIGN.md.
func (x *tree) unpaired() (wrong []string) {
	var all strings.Builder
	for path, comments := range x.comments {
		if slices.Contains(protocol, pathpkg.Dir(path)) && !strings.HasSuffix(path, "_test.go") {
			all.WriteString(comments)
		}
	}
	places := map[string]set{
		"publishes": matches(`(?i)\bpublishes \((P\d+)\)`, all.String()),
		"observes":  matches(`(?i)\bobserves \((P\d+)\)`, all.String()),
		"DESIGN.md": matches(`(?m)^\| (P\d+) \|`, x.design),
	}
	for _, labels := range places {
		for p := range labels {
			for where, others := range places {
				if !others[p] {
					wrong = append(wrong, p+": nothing in "+where)
				}
			}
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

// undefined returns the labels that are cited and that DESIGN.md does not define.
func (x *tree) undefined() (wrong []string) {
	known := matches(`(?m)^(?:- )?\*\*([IL]\d+)\b|^\| ([PU]\d+) \|`, x.design)
	in := func(path, text string) {
		for l := range matches(`\b([ILPU]\d+)\b`, text) {
			if !known[l] {
				wrong = append(wrong, path+": "+l)
			}
		}
	}
	in("DESIGN.md", x.design)
	for path, comments := range x.comments {
		in(path, comments)
	}
	return wrong
}

// code is what a document shows as code.
var code = regexp.MustCompile("(?s)```.*?```|`[^`]*`")

// unlinked returns the links in a document to files that are not there, and its names of tests
// that are not.
func (x *tree) unlinked(path, text string) (wrong []string) {
	for name := range matches(`\b((?:Test|Fuzz)[A-Z]\w*)`, text) {
		if !x.names[name] {
			wrong = append(wrong, path+": "+name)
		}
	}
	for to := range matches(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`, code.ReplaceAllString(text, "")) {
		if !slices.Contains(x.files, pathpkg.Join(pathpkg.Dir(path), to)) {
			wrong = append(wrong, path+": "+to)
		}
	}
	return wrong
}

func TestCitations(t *testing.T) {
	x := read(t)
	require.Empty(t, x.unpaired(), "publications come in pairs")
	require.Empty(t, x.undefined(), "labels are defined")
	for _, path := range x.files {
		if filepath.Ext(path) == ".md" {
			require.Empty(t, x.unlinked(path, text(t, path)), "files that are linked to exist, and tests that are named")
		}
	}
}

// blocks calls f with each block of Go or C that a document shows.
func (x *tree) blocks(t *testing.T, f func(path, block string)) {
	for _, path := range x.files {
		if filepath.Ext(path) == ".md" {
			for block := range matches("(?s)```(?:go|c)\n(.*?)```", text(t, path)) {
				f(path, block)
			}
		}
	}
}

const program = "package main\n" // begins a block that is a whole program

// What the documents show as Go, or as C, is part of a Go file, and so it compiles, or it is a whole
// program.
func TestDocumentsShowCodeOfTheTree(t *testing.T) {
	space := regexp.MustCompile(`\s+`)
	var all strings.Builder
	x := read(t)
	for path := range x.comments {
		all.WriteString(space.ReplaceAllString(text(t, path), " "))
	}
	n := 0
	x.blocks(t, func(path, block string) {
		if !strings.HasPrefix(block, program) {
			require.True(t, strings.Contains(all.String(), space.ReplaceAllString(block, " ")), "%s shows\n%s", path, block)
			n++
		}
	})
	require.GreaterOrEqual(t, n, 9)
}

// The programs that the documents show compile, and print what their last comment says.
func TestProgramsOfTheDocumentsRun(t *testing.T) {
	n := 0
	read(t).blocks(t, func(path, block string) {
		if !strings.HasPrefix(block, program) {
			return
		}
		file := filepath.Join(t.TempDir(), "main.go")
		require.NoError(t, os.WriteFile(file, []byte(block), 0o666))
		formatted, err := format.Source([]byte(block))
		require.NoError(t, err)
		require.Equal(t, string(formatted), block, "%s shows a program that gofmt changes", path)
		_, said, found := strings.Cut(block, "// Output:\n")
		require.True(t, found, "%s shows a program without its output", path)
		want := ""
		for m := range strings.SplitSeq(strings.TrimRight(said, "}\n"), "\n") {
			want += strings.TrimPrefix(strings.TrimSpace(m), "// ") + "\n"
		}
		cmd := exec.CommandContext(t.Context(), "go", "run", file)
		cmd.Dir = root
		got, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", got)
		require.Equal(t, want, string(got), "%s", path)
		n++
	})
	require.Positive(t, n)
}

func TestWrongCitationsAreFound(t *testing.T) {
	x := &tree{comments: map[string]string{}, names: set{}, files: []string{"pool/p.go", "docs/a.md"}, design: "- **I1** a\n**L2, b.** *c*\n| P1 | d |\n| P2 | e |\n| U1 | f |\n"}
	x.parse(t, "pool/p.go", `package p
// f is about I1, L2, U1 and P1; I7 is none.
func f(x *T) {
	x.w.Store(1) // publishes (P1)
	// Observes (P1), and so on.
	x.w.Load()
	x.w.Store(2) // publishes (P3)
}
`)
	require.Equal(t, []string{
		"P2: nothing in observes", "P2: nothing in publishes", "P3: nothing in DESIGN.md", "P3: nothing in observes",
	}, x.unpaired())
	require.ElementsMatch(t, []string{"pool/p.go: I7", "pool/p.go: P3"}, x.undefined())
	require.ElementsMatch(t, []string{"docs/a.md: b.md", "docs/a.md: TestGone"}, x.unlinked("docs/a.md", "[x](b.md#c), [y](../pool/p.go), [z](https://example.com/d), `[T](nil)`, TestGone"))
}
