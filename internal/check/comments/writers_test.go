package comments_test

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// qualifiers end the names of a clause.
	qualifiers = words("as at before after both by for from in raising to under when which")

	// roles begin a clause without names.
	roles = words("any every everybody the whoever")

	aside     = regexp.MustCompile(`\([^)]*\)`)
	separator = regexp.MustCompile(`,\s*(?:and\s+)?|\s+and\s+`)
	keyLine   = regexp.MustCompile(`^(word|writers|readers|moves|orders)\s+(.*)$`)
)

func words(list string) set {
	s := set{}
	for _, w := range strings.Fields(list) {
		s[w] = true
	}
	return s
}

// namesOf returns the names in a line of writers or readers.
func namesOf(line string) (names []string) {
	for clause := range strings.SplitSeq(aside.ReplaceAllString(line, ""), ";") {
		for _, item := range separator.Split(clause, -1) {
			first, _, _ := strings.Cut(strings.TrimSpace(item), " ")
			if first == "" || qualifiers[first] || roles[first] {
				break
			}
			names = append(names, first)
		}
	}
	return names
}

// linesOf returns a comment's lines of writers, readers and the others, by key.
func linesOf(doc *ast.CommentGroup) map[string]string {
	lines := map[string]string{}
	var key string
	for _, line := range strings.Split(doc.Text(), "\n") {
		text, indented := strings.CutPrefix(line, "\t")
		if m := keyLine.FindStringSubmatch(text); indented && m != nil {
			key = m[1]
			lines[key] = m[2]
		} else if indented && key != "" && strings.HasPrefix(text, "  ") {
			lines[key] += " " + strings.TrimSpace(text)
		} else {
			key = ""
		}
	}
	return lines
}

// ghosts returns the errors in the lines of writers and readers.
func (c *code) ghosts() (wrong []string) {
	for _, f := range c.files {
		ast.Inspect(f.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GenDecl:
				for _, s := range n.Specs {
					if t, ok := s.(*ast.TypeSpec); ok {
						doc := t.Doc
						if doc == nil {
							doc = n.Doc
						}
						if s, ok := t.Type.(*ast.StructType); ok {
							wrong = append(wrong, c.check(f.pkg, doc, named(s.Fields.List))...)
						}
					}
				}
			case *ast.StructType:
				for i, field := range n.Fields.List {
					covered := n.Fields.List[i : i+1]
					for _, next := range n.Fields.List[i+1:] {
						last := covered[len(covered)-1]
						if next.Doc != nil || c.fset.Position(next.Pos()).Line != c.fset.Position(last.End()).Line+1 {
							break
						}
						covered = append(covered[:len(covered):len(covered)], next)
					}
					wrong = append(wrong, c.check(f.pkg, field.Doc, named(covered))...)
				}
			}
			return true
		})
	}
	return wrong
}

func named(fields []*ast.Field) (names []string) {
	for _, f := range fields {
		for _, name := range f.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

// check returns the errors in the comment doc of fields.
func (c *code) check(pkg string, doc *ast.CommentGroup, fields []string) (wrong []string) {
	if doc == nil {
		return nil
	}
	say := func(format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%v: %v: ", c.fset.Position(doc.Pos()), fields[0])+fmt.Sprintf(format, args...))
	}
	lines := linesOf(doc)
	for _, key := range []string{"readers", "writers"} {
		for _, name := range namesOf(lines[key]) {
			if len(c.funcs[name]) == 0 {
				say("%s: there is no function %s", key, name)
				continue
			}
			found := false
			for _, f := range c.funcs[name] {
				found = found || c.mentions(f, fields)
			}
			if !found {
				say("%s: %s is none of them", key, name)
			}
		}
	}
	return wrong
}

// The writers and readers that comments name mention the word.
func TestWritersAndReaders(t *testing.T) {
	c := parseModule(t).only(protocol)
	require.Empty(t, strings.Join(c.ghosts(), "\n"))
	n := 0
	for _, f := range c.files {
		for _, g := range f.Comments {
			n += len(namesOf(linesOf(g)["writers"]))
		}
	}
	require.Greater(t, n, 40, "names in lines of writers: comments are not read")
}

func TestNamesOf(t *testing.T) {
	for line, want := range map[string]string{
		"Pop, and Reclaim of any shard (LIFO), by compare-and-swap": "Pop Reclaim",
		"take (+), under mu; resetAll (−)":                          "take resetAll",
		"seal; settle; both under mu":                               "seal settle",
		"retire and pushChain push by compare-and-swap; seal":       "retire pushChain seal",
		"a, b, c and d, under mu":                                   "a b c d",
		"the slot's owner, and others; Remove":                      "Remove",
		"TakeCredit (−1, never below 0); Refill and Reclaim (+)":    "TakeCredit Refill Reclaim",
		"patience doubles each time, so that nothing is dealt":      "patience so",
	} {
		require.Equal(t, strings.Fields(want), namesOf(line), line)
	}
}

func TestGhostsAreFound(t *testing.T) {
	const head = `
type word struct {
	// w is a word.
	//
	//	writers  %s
	//	         %s
	//	readers  %s
	w atomic
	v atomic

	other atomic
}
func (x *word) set()       { x.w.Store(1) }
func (x *word) calls()     { x.set() }
func (x *word) callsAgain(){ x.calls() }
func (x *word) reads() int { return x.w.Load() + x.other.Load() }
func (x *word) beside()    { x.v.Add(1) }
func (x *word) stranger()  { x.other.Add(1) }
func (x *word) hands()     { taker(&x.w) }
`
	for _, c := range []struct{ writers, more, readers, want string }{
		{"set, under mu; calls", "and beside", "reads, set", ""},
		{"hands", "", "everybody", ""},
		{"gone", "", "", "there is no function gone"},
		{"set", "and gone", "", "there is no function gone"},
		{"set", "", "reads; lost", "readers: there is no function lost"},
		{"stranger", "", "", "writers: stranger is none of them"},
		{"callsAgain", "", "", "writers: callsAgain is none of them"},
		{"set", "", "stranger", "readers: stranger is none of them"},
	} {
		wrong := parseText(t, fmt.Sprintf(head, c.writers, c.more, c.readers)).ghosts()
		if c.want == "" {
			require.Empty(t, wrong)
			continue
		}
		require.Len(t, wrong, 1)
		require.Contains(t, wrong[0], "p.go:4:2: w: ")
		require.Contains(t, wrong[0], c.want)
	}
	wrong := parseText(t, `
// cell is a cell.
//
//	writers  claim; forget
type cell struct{ word atomic }
func claim(c *cell) { c.word.CompareAndSwap(0, 1) }
func forget(c *cell) {}
`).ghosts()
	require.Equal(t, []string{"p.go:3:1: word: writers: forget is none of them"}, wrong)
}
