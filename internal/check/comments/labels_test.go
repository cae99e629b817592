package comments_test

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	publishes = regexp.MustCompile(`(?i)\bpublishes \((P\d+)\)`)
	observes  = regexp.MustCompile(`(?i)\bobserves \((P\d+)\)`)
	label     = regexp.MustCompile(`\b[ILPU]\d+\b`)
	defined   = regexp.MustCompile(`(?m)^(?:- )?\*\*([IL]\d+)\b|^\| ([PU]\d+) \|`)
	row       = regexp.MustCompile(`(?m)^\| (P\d+) \|`)
	goFile    = regexp.MustCompile(`(?:\b[\w.]+/)*\b\w+\.go\b`)
	camel     = regexp.MustCompile(`\b[a-z]+[A-Z]\w*`)
	member    = regexp.MustCompile(`\b([A-Za-z]\w*)\.([A-Za-z]\w*)\b`)
)

func design(t *testing.T) string {
	text, err := os.ReadFile(filepath.Join(root, "DESIGN.md"))
	require.NoError(t, err)
	return string(text)
}

// found returns the first non-empty group of each match of re in text.
func found(re *regexp.Regexp, text string) set {
	s := set{}
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		s[strings.Join(m[1:], "")] = true
	}
	return s
}

// inBodies returns the comments within functions.
func (c *code) inBodies() string {
	var b strings.Builder
	for _, f := range c.files {
		for _, d := range f.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			for _, g := range c.comments(f.Body) {
				fmt.Fprintln(&b, g.Text())
			}
		}
	}
	return b.String()
}

// comments returns the comments from the beginning of n to the end of its last line.
func (c *code) comments(n ast.Node) (in []*ast.CommentGroup) {
	last := c.fset.Position(n.End())
	for _, f := range c.files {
		if f.FileStart > n.Pos() || n.Pos() > f.FileEnd {
			continue
		}
		for _, g := range f.Comments {
			if g.Pos() > n.Pos() && c.fset.Position(g.Pos()).Line <= last.Line {
				in = append(in, g)
			}
		}
	}
	return in
}

// unpaired returns the publications that lack a store, a load, or an entry in design's
// table.
func (c *code) unpaired(design string) (wrong []string) {
	text := c.inBodies()
	places := map[string]set{
		"publishes": found(publishes, text), "observes": found(observes, text), "design": found(row, design),
	}
	for _, labels := range places {
		for p := range labels {
			for where, others := range places {
				if line := fmt.Sprintf("%s: nothing in %s", p, where); !others[p] && !slices.Contains(wrong, line) {
					wrong = append(wrong, line)
				}
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

// undefined returns the labels that comments cite and design does not define.
func (c *code) undefined(design string) (wrong []string) {
	known := found(defined, design)
	for _, f := range c.files {
		for _, g := range f.Comments {
			for _, l := range label.FindAllString(g.Text(), -1) {
				if !known[l] {
					wrong = append(wrong, fmt.Sprintf("%v: %s", c.fset.Position(g.Pos()), l))
				}
			}
		}
	}
	return wrong
}

// strangers returns the names in comments that the code does not have: words like
// isClear, and members of types, like Space.Exact.
func (c *code) strangers(known set) (wrong []string) {
	for _, f := range c.files {
		for _, g := range f.Comments {
			text := g.Text()
			say := func(name string) { wrong = append(wrong, fmt.Sprintf("%v: %s", c.fset.Position(g.Pos()), name)) }
			for _, name := range camel.FindAllString(text, -1) {
				if !known[name] {
					say(name)
				}
			}
			for _, m := range member.FindAllStringSubmatch(text, -1) {
				if c.types[m[1]] && !known[m[2]] && m[2] != "go" {
					say(m[0])
				}
			}
		}
	}
	return wrong
}

func TestPublicationsComeInPairs(t *testing.T) {
	require.Empty(t, parseModule(t).only(protocol).unpaired(design(t)))
}

func TestLabelsAreDefined(t *testing.T) {
	d := design(t)
	require.Empty(t, parseModule(t).undefined(d))
	known := found(defined, d)
	for _, l := range label.FindAllString(d, -1) {
		require.True(t, known[l], "DESIGN.md cites %s", l)
	}
}

func TestNamesInCommentsExist(t *testing.T) {
	all := parseModule(t)
	require.Empty(t, strings.Join(parseModule(t).only(protocol).strangers(all.names), "\n"))
}

// The files that DESIGN.md and comments name exist.
func TestFilesExist(t *testing.T) {
	all := parseModule(t)
	var paths []string
	for _, f := range all.files {
		path, err := filepath.Rel(root, all.fset.Position(f.Package).Filename)
		require.NoError(t, err)
		paths = append(paths, filepath.ToSlash(path))
	}
	exists := func(name string) bool {
		return slices.ContainsFunc(paths, func(path string) bool { return path == name || strings.HasSuffix(path, "/"+name) })
	}
	for _, name := range goFile.FindAllString(design(t), -1) {
		require.True(t, exists(name), "DESIGN.md names %s", name)
	}
	for _, f := range parseModule(t).only(protocol).files {
		for _, g := range f.Comments {
			for _, name := range goFile.FindAllString(g.Text(), -1) {
				require.True(t, exists(name), "%v names %s", all.fset.Position(f.Package), name)
			}
		}
	}
}

// Each name in the table of transitions is a function, or a type with methods.
func TestTransitionsNameFunctions(t *testing.T) {
	c := parseModule(t).only(protocol)
	_, table, ok := strings.Cut(design(t), "\n## Transitions\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n## ")
	n := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 || !strings.Contains(line, "→") || strings.Contains(line, "from → to") {
			continue
		}
		for _, name := range namesOf(cells[2]) {
			require.True(t, len(c.funcs[name]) > 0 || c.types[name], "%s, in %s", name, line)
			n++
		}
	}
	require.Greater(t, n, 20, "the table is not read")
}

func TestLabelsThatAreWrongAreFound(t *testing.T) {
	const table = "- **I1** a\n**L2, b.** *c*\n| P1 | d |\n| P2 | e |\n| U1 | f |\n"
	c := parseText(t, `
// f is about I1, L2, U1 and P1; I7 is none. See lostName, f.Gone and T.gone; T.f is there.
func f(x *T) {
	x.w.Store(1) // publishes (P1)
	// Observes (P1), and so on.
	x.w.Load()
	x.w.Store(2) // publishes (P3)
}
// observes (P2) in no function
type T struct{ w atomic }
`)
	require.Equal(t, []string{
		"P2: nothing in observes", "P2: nothing in publishes", "P3: nothing in design", "P3: nothing in observes",
	}, c.unpaired(table))
	require.Equal(t, []string{"p.go:3:1: I7", "p.go:8:15: P3"}, c.undefined(table))
	require.Equal(t, []string{"p.go:3:1: lostName", "p.go:3:1: T.gone"}, c.strangers(c.names))
}
