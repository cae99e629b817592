// These tests read comments and documents: labels, names, tests and files exist where another
// place cites them. They say nothing of whether a sentence is true.
package comments_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
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
var protocol = []string{"epoch", "shard", "pool", "internal/atom"}

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
		case d.IsDir() && path != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
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

// protocol calls f for the comments of each file of the protocol but tests.
func (x *tree) protocol(f func(path, comments string)) {
	for path, comments := range x.comments {
		if slices.Contains(protocol, filepath.Dir(path)) && !strings.HasSuffix(path, "_test.go") {
			f(path, comments)
		}
	}
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
	x.protocol(func(_, comments string) { all.WriteString(comments) })
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

// strangers returns names in the protocol's comments, such as isClear and list.go, that the
// module does not have, and such files in DESIGN.md.
func (x *tree) strangers() (wrong []string) {
	files := func(path, text string) {
		for name := range matches(`((?:\b[\w.]+/)*\b\w+\.go\b)`, text) {
			if !slices.ContainsFunc(x.files, func(path string) bool { return strings.HasSuffix("/"+path, "/"+name) }) {
				wrong = append(wrong, path+": "+name)
			}
		}
	}
	files("DESIGN.md", x.design)
	x.protocol(func(path, comments string) {
		files(path, comments)
		for name := range matches(`\b([a-z]+[A-Z]\w*)`, comments) {
			if !x.names[name] {
				wrong = append(wrong, path+": "+name)
			}
		}
	})
	return wrong
}

// code is what a document shows as code.
var code = regexp.MustCompile("(?s)```.*?```|`[^`]*`")

// unlinked returns the links in a document to files that are not there.
func (x *tree) unlinked(path, text string) (wrong []string) {
	for to := range matches(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`, code.ReplaceAllString(text, "")) {
		if !slices.Contains(x.files, filepath.Join(filepath.Dir(path), to)) {
			wrong = append(wrong, path+": "+to)
		}
	}
	return wrong
}

func TestCitations(t *testing.T) {
	x := read(t)
	require.Empty(t, x.unpaired(), "publications come in pairs")
	require.Empty(t, x.undefined(), "labels are defined")
	require.Empty(t, x.strangers(), "names and files exist")
	for _, path := range x.files {
		if filepath.Ext(path) == ".md" {
			require.Empty(t, x.unlinked(path, text(t, path)), "files that are linked to exist")
		}
	}
}

// The gate runs the README's commands: it has each, or the words by which it finds it there.
// Those that import the module are run by a test in internal/tools/home.
func TestGateRunsReadme(t *testing.T) {
	gate, n := text(t, ".ci/run"), 0
	for block := range matches("(?s)```sh\n(.*?)```", text(t, "README.md")) {
		for line := range strings.Lines(block) {
			if command := strings.Join(strings.Fields(line)[:3], " "); !strings.HasPrefix(command, "go mod ") && !strings.HasPrefix(command, "go get ") {
				require.True(t, strings.Contains(gate, command), command)
				n++
			}
		}
	}
	require.Equal(t, 2, n)
}

// What the documents show as Go is part of a Go file.
func TestDocumentsShowCodeOfTheTree(t *testing.T) {
	space := regexp.MustCompile(`\s+`)
	var all strings.Builder
	x := read(t)
	for path := range x.comments {
		all.WriteString(space.ReplaceAllString(text(t, path), " "))
	}
	n := 0
	for _, path := range x.files {
		if filepath.Ext(path) == ".md" {
			for block := range matches("(?s)```go\n(.*?)```", text(t, path)) {
				require.True(t, strings.Contains(all.String(), space.ReplaceAllString(block, " ")), "%s shows\n%s", path, block)
				n++
			}
		}
	}
	require.GreaterOrEqual(t, n, 9)
}

// The README fits on some pages, and its links lead to files, which say something, and not to
// folders.
func TestReadmeIsShort(t *testing.T) {
	readme := text(t, "README.md")
	require.LessOrEqual(t, strings.Count(readme, "\n"), 120)
	for to := range matches(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`, readme) {
		_, err := os.ReadDir(filepath.Join(root, to))
		require.Error(t, err, "%s is a folder", to)
	}
}

// Each test that the table of faults names exists, and each test of the files about faults is
// in it.
func TestFaultTableNamesTests(t *testing.T) {
	// tests returns the names of tests in some files, after a prefix.
	tests := func(prefix, pattern string) set {
		var all strings.Builder
		paths, err := fs.Glob(os.DirFS(root), pattern)
		require.NoError(t, err)
		for _, path := range paths {
			all.WriteString(text(t, path))
		}
		names := set{}
		for name := range matches(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`, all.String()) {
			names[prefix+name] = true
		}
		return names
	}
	defined := tests("", "pool/*_test.go")
	maps.Copy(defined, tests("coatcheck.", "*_test.go"))
	maps.Copy(defined, tests("epoch.", "epoch/*_test.go"))
	maps.Copy(defined, tests("shard.", "shard/*_test.go"))
	_, table, found := strings.Cut(text(t, "docs/evidence.md"), "\n## Faults\n")
	require.True(t, found)
	listed := matches(`((?:\b\w+\.)?\b(?:Test|Fuzz)[A-Z]\w*)`, table)
	require.GreaterOrEqual(t, len(listed), 30)
	for name := range listed {
		require.True(t, defined[name], "the table names %s, which does not exist", name)
	}
	for _, file := range []string{"faults", "stall"} {
		for name := range tests("", "pool/"+file+"_test.go") {
			require.True(t, listed[name], "the table lacks %s", name)
		}
	}
}

func TestWrongCitationsAreFound(t *testing.T) {
	x := &tree{comments: map[string]string{}, names: set{}, files: []string{"pool/p.go", "docs/a.md"}, design: "- **I1** a\n**L2, b.** *c*\n| P1 | d |\n| P2 | e |\n| U1 | f |\nsee p.go, gone.go\n"}
	x.parse(t, "pool/p.go", `package p
// f is about I1, L2, U1 and P1; I7 is none. See lostName and pool/p.go; isThere is there.
func f(isThere *T) {
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
	require.ElementsMatch(t, []string{"DESIGN.md: gone.go", "pool/p.go: lostName"}, x.strangers())
	require.Equal(t, []string{"docs/a.md: b.md"}, x.unlinked("docs/a.md", "[x](b.md#c), [y](../pool/p.go), [z](https://example.com/d), `[T](nil)`"))
}
