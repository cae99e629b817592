//go:build !race

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../../.."

func allMutants(t *testing.T) []mutant {
	list, err := load()
	require.NoError(t, err)
	return list
}

// TestCompilerSaysWhatIsWrong: the command itself requires that every mutant compiles.
func TestCompilerSaysWhatIsWrong(t *testing.T) {
	root, err := filepath.Abs(root)
	require.NoError(t, err)
	c := newCompiler(root, "interleave")
	for text, want := range map[string]string{
		"package atom\n": "undefined: Uint32", "package": "expected 'IDENT'",
	} {
		require.ErrorContains(t, c.compile(map[string]string{"internal/atom/atom_interleave.go": text}), want)
	}
	require.ErrorContains(t, c.compile(map[string]string{"internal/atom/copy_pinned.go": "package atom\n"}), "has no internal/atom/copy_pinned.go")
}

// TestMutantsNameWhatExists requires that killers and rows are there, and that a file is named
// after its mutant.
func TestMutantsNameWhatExists(t *testing.T) {
	texts := map[string]string{}
	slug := strings.NewReplacer(" ", "-", "'", "", ",", "")
	for _, m := range allMutants(t) {
		assert.Equal(t, slug.Replace(strings.ToLower(m.name))+".patch", path.Base(m.file))
		k := m.killer
		folder := k.folder()
		for _, pattern := range []string{"*_test.go", "scenarios/*.txt"} {
			paths, _ := filepath.Glob(filepath.Join(root, folder, pattern))
			for _, file := range paths {
				if texts[file] == "" {
					text, err := os.ReadFile(file)
					require.NoError(t, err)
					texts[file] = string(text)
					texts[folder] += string(text)
				}
			}
		}
		test, of, parts := strings.Cut(k.name, "/")
		there := strings.Contains(texts[folder], "\nfunc "+test+"(") &&
			(!parts || strings.Contains(texts[folder], `"`+strings.ReplaceAll(of, "_", " ")+`"`))
		if k.explores() {
			there = strings.Contains(texts[folder], `"`+k.name+`"`) || strings.Contains(texts[folder], "\n"+k.name+"\n")
		}
		assert.True(t, there, "%s: there is no %q in %s", m.file, k.name, folder)
		for _, h := range m.hunks {
			assert.NotEqual(t, h.old, h.new, "%s: a hunk changes nothing", m.file)
		}
	}
}

// TestLabelsAreAttacked requires that a quick mutant attacks each row, and that a mutant attacks each invariant and
// publication of DESIGN.md and each rule of package tree, or that slips are drawn in a function that cites it. No
// mutant attacks an unknown label.
func TestLabelsAreAttacked(t *testing.T) {
	isLabel := regexp.MustCompile(`^([IPLKW]|row )\d+$`)
	attacked, quick := cited(t), make(map[string]bool)
	for _, m := range allMutants(t) {
		for _, a := range m.attacks {
			attacked[a] = true
			quick[a] = quick[a] || m.quick
		}
	}
	known := make(map[string]bool)
	for _, in := range []struct{ file, label, prefix string }{
		{"DESIGN.md", `(?m)^(?:- \*\*|\| |\*\*)([IPL]\d+)(?:\*\*| \||,)`, ""},
		{"pool/tree/walk.go", `\b([KW]\d)\b`, ""},
		{"pool/tree/links.go", `\b([KW]\d)\b`, ""},
		{"docs/checks.md", `(?m)^\| (\d+) \| (none: )?`, "row "},
	} {
		text, err := os.ReadFile(filepath.Join(root, in.file))
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(in.label).FindAllStringSubmatch(string(text), -1) {
			label, none := in.prefix+m[1], len(m) > 2 && m[2] != ""
			known[label] = true
			assert.True(t, label[0] == 'L' || none || attacked[label], "no mutant attacks %s, and no function cites it in which slips are drawn", label)
			assert.True(t, none || in.prefix == "" || quick[label], "no quick mutant attacks %s", label)
			assert.False(t, none && attacked[label], "mutants attack %s, which has none", label)
		}
	}
	require.GreaterOrEqual(t, len(known), 9+7+5+3+3+15)
	for a := range attacked {
		assert.True(t, known[a] || !isLabel.MatchString(a), "mutants attack %s, which does not exist", a)
	}
}

// cited returns the labels which are in a function, or in the comment above it, in which slips are drawn.
func cited(t *testing.T) map[string]bool {
	drawn, err := slips(root)
	require.NoError(t, err)
	lines := map[string][]int{} // of slips, by file
	for i := range drawn {
		lines[drawn[i].file] = append(lines[drawn[i].file], drawn[i].line)
	}
	labels := map[string]bool{}
	for file := range lines {
		fset := token.NewFileSet()
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		tree, err := parser.ParseFile(fset, file, text, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			from, to := fset.Position(fn.Pos()), fset.Position(fn.End())
			if fn.Doc != nil {
				from = fset.Position(fn.Doc.Pos())
			}
			if slices.ContainsFunc(lines[file], func(line int) bool { return from.Line <= line && line <= to.Line }) {
				for _, label := range regexp.MustCompile(`\b[IPLKW]\d+\b`).FindAllString(string(text[from.Offset:to.Offset]), -1) {
					labels[label] = true
				}
			}
		}
	}
	return labels
}

func TestPatchesFitOnce(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.go"), []byte("package x\n//one\n//two\n//two\n//three\n"), 0o666))
	const header = "A name.\n\nattacks: L1, row 2\nkept: naive rule\nkilled by: pool: X: of two\nends: panic\n\n--- a/x.go\n+++ b/x.go\n"
	for _, p := range []struct{ text, want string }{
		{header + "@@ -9 +9 @@ far away\n-//one\n+//four\n@@ -2 +2 @@\n //four\n-//two\n", "package x\n//four\n//two\n//three\n"},
		{header + "@@ -2 +2 @@\n-//two\n", "occur 2 times"},
		{header + "@@ -1 +1 @@\n-//on\n", "occur 0 times"},
		{header + "@@ -1 +1 @@\n+//four\n", "occur 7 times"},
		{header + "@@ -1 +1 @@\n//one\n", `a line "//one\n"`},
		{header, "and hunks"},
		{strings.Replace(header, "b/x.go", "b/y.go", 1) + "@@ @@\n-//one\n", "no such file"},
		{strings.Replace(header, "attacks", "atacks", 1), `a line "atacks: L1, row 2"`},
		{strings.Replace(header, "panic", "grief", 1) + "@@ @@\n-//one\n", "perhaps ends"},
		{strings.Replace(header, "naive rule", "old", 1) + "@@ @@\n-//one\n", "a slip stands for any other"},
	} {
		var m mutant
		err := m.parse(p.text)
		var after map[string]string
		if err == nil {
			after, err = m.apply(dir)
		}
		if err != nil {
			require.ErrorContains(t, err, p.want)
			continue
		}
		require.Equal(t, p.want, after["x.go"])
		require.Equal(t, killer{suite{"pool", exploring}, "X: of two"}, m.killer)
		require.Equal(t, []string{"L1", "row 2"}, m.attacks)
	}
}

// TestMutantsAreBuiltTogether: a function has the bodies of all mutants that change it, with labels of
// their own. What changes more than bodies gets no number.
func TestMutantsAreBuiltTogether(t *testing.T) {
	const before = "package x // of a test\n\nvar v = 1\n\nfunc f() (n int) {\nloop:\n\tfor {\n\t\tbreak loop\n\t}\n\treturn n\n}\n\nfunc g() { f() }\n"
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.go"), []byte(before), 0o666))
	l := newMetamutant(dir)
	for i, c := range []struct {
		old, by string
		number  int
	}{
		{"return n", "return 1", 1}, {"var v = 1", "var v = 2", 0}, {"f() }", "}", 2}, {"g()", "g(int)", 0}, {"break loop", "continue loop", 3},
	} {
		number, err := l.add(map[string]string{"x.go": strings.Replace(before, c.old, c.by, 1)})
		require.NoError(t, err)
		require.Equal(t, c.number, number, i)
	}
	const want = "package x ; import mutantChosen \"coatcheck/internal/mutant\" // of a test\n\nvar v = 1\n\n" +
		"func f() (n int) { if mutantChosen.Reached[1] == 0 {mutantChosen.Reached[1] = 1}; if mutantChosen.Chosen == 1 {\nloop1:\n\tfor {\n\t\tbreak loop1\n\t}\n\treturn 1\n\n};" +
		" if mutantChosen.Chosen == 3 {\nloop3:\n\tfor {\n\t\tcontinue loop3\n\t}\n\treturn n\n\n};\nloop:\n\tfor {\n\t\tbreak loop\n\t}\n\treturn n\n}\n\n" +
		"func g() { if mutantChosen.Reached[2] == 0 {mutantChosen.Reached[2] = 1}; if mutantChosen.Chosen == 2 { \nreturn\n}; f() }\n"
	require.Equal(t, map[string]string{"x.go": want, choiceFile: choice}, l.after())

	l, alone := newMetamutant(root), 0
	all := allMutants(t)
	for i := range all {
		after, err := all[i].apply(root)
		require.NoError(t, err)
		number, err := l.add(after)
		require.NoError(t, err)
		if number == 0 {
			alone++
		}
	}
	require.Less(t, alone, len(all)/5, "most should be part of it")
	for name, text := range l.after() {
		_, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		require.NoError(t, err)
	}
}

func TestArchivesAreRead(t *testing.T) {
	var got []string
	for name, text := range archived("a comment\n-- one --\n--- a/x\n-- x\n+y\n-- two.patch --\nz\n") {
		got = append(got, name, text)
	}
	assert.Equal(t, []string{"one", "--- a/x\n-- x\n+y\n", "two.patch", "z\n"}, got)
	assert.Greater(t, len(allMutants(t)), 30)
}

// TestSlipsAreDrawnBySeed: one seed draws the same slips each time, of many kinds, and what is listed
// as equivalent can be drawn.
func TestSlipsAreDrawnBySeed(t *testing.T) {
	all, err := slips("../../..")
	require.NoError(t, err)
	kinds, names := map[string]int{}, map[string]bool{}
	for i := range all {
		kinds[all[i].kind]++
		names[all[i].name()] = true
		_, err := all[i].apply("../../..")
		require.NoError(t, err)
	}
	for _, kind := range []string{
		"early return", "inverted condition", "inverted result", "looked, then stored", "loop ends early", "min or max lost", "missing break",
		"missing call", "missing check", "missing continue", "missing left operand", "missing lock", "missing look", "missing reset", "missing right operand",
		"missing store", "not deferred", "off by one", "stored unseen", "swapped arguments", "swapped stores",
	} {
		require.Greater(t, kinds[kind], 10, kind)
	}
	each := func(*slip) bool { return true }
	require.Equal(t, draw(all, 17, 50, each), draw(all, 17, 50, each))
	require.NotEqual(t, draw(all, 17, 50, each), draw(all, 18, 50, each))
	listed, err := reasons(equivalents)
	require.NoError(t, err)
	for name := range listed {
		assert.True(t, names[name], "no slip is called %q: its line has changed", name)
	}
}

// TestRegionsHaveTheirSlips: a slip belongs to the lines in which it begins or ends.
func TestRegionsHaveTheirSlips(t *testing.T) {
	at, err := regions("pool/x.go:7,pool/x.go:20-30")
	require.NoError(t, err)
	for _, c := range []struct {
		s    slip
		some bool
	}{
		{slip{file: "pool/x.go", line: 7}, true},
		{slip{file: "pool/x.go", line: 8}, false},
		{slip{file: "pool/y.go", line: 7}, false},
		{slip{file: "pool/x.go", line: 18, old: "f(\n\n)"}, true},
		{slip{file: "pool/x.go", line: 30, old: "f(\n\n)"}, true},
		{slip{file: "pool/x.go", line: 31}, false},
	} {
		require.Equal(t, c.some, slices.ContainsFunc(at, func(r region) bool { return r.has(&c.s) }), "%+v", c)
	}
	for _, wrong := range []string{"pool/x.go", "pool/x.go:a", "pool/x.go:1-b"} {
		_, err := regions(wrong)
		require.ErrorContains(t, err, "want file:line")
	}
}

// TestTestsThatReachASlipRun: the quick ones first, and those that fail in a build of many apart. If it is
// not known which functions a slip changes, all run.
func TestTestsThatReachASlipRun(t *testing.T) {
	reached := func(functions ...int) []byte {
		b := make([]byte, 4)
		for _, f := range functions {
			b[f] = 1
		}
		return b
	}
	u := usual{tests: []timed{
		{name: "TestA", took: time.Millisecond, reached: reached(1)},
		{name: "TestB", took: time.Minute, reached: reached(1, 2)},
		{name: "TestC", fails: true, reached: reached(2)},
		{name: "TestInterleave", part: "Pop:_(two)", took: time.Second, reached: reached(2)},
	}}
	for _, c := range []struct {
		functions []int
		patterns  []string
		failing   string
	}{
		{functions: []int{1}, patterns: []string{"^(TestA)$", "^(TestB)$"}},
		{functions: []int{2, 3}, patterns: []string{`^(TestInterleave)$/^(Pop:_\(two\))$|^(TestB)$`}, failing: "^(TestC)$"},
		{functions: []int{3}},
		{patterns: []string{"^(TestA)$", `^(TestInterleave)$/^(Pop:_\(two\))$|^(TestB)$`}, failing: "^(TestC)$"},
	} {
		var patterns []string
		for _, p := range u.parts(layer{}, c.functions) {
			patterns = append(patterns, p.pattern)
			require.GreaterOrEqual(t, p.limit, 30*time.Second)
		}
		require.Equal(t, c.patterns, patterns)
		failing, some := u.failing(layer{}, c.functions)
		require.Equal(t, c.failing != "", some)
		require.Equal(t, c.failing, failing.pattern)
	}
}

// TestRowsTellHowASlipFailed: a later run finds the slip in its row, whatever is in brackets before.
func TestRowsTellHowASlipFailed(t *testing.T) {
	for _, c := range []struct{ out, test, how string }{
		{"--- FAIL: TestA (0.01s)\n    --- FAIL: TestA/part_one (0.01s)\n        a_test.go:1: no\nFAIL\n", "TestA/part_one", "TestA/part_one"},
		{"--- FAIL: TestA (0.01s)\npanic: f(1) fell [recovered, repanicked]\n\ngoroutine 7 [running]:\npanic: again\n", "TestA", "TestA: panic: f(1) fell"},
		{"fatal error: all goroutines are asleep - deadlock!\n", "", "fatal error: all goroutines are asleep - deadlock!"},
		{"ok\n", "", "crash"},
	} {
		test, how := failure(c.out)
		require.Equal(t, c.test, test)
		require.Equal(t, c.how, how)
		s := slip{file: "pool/x.go", line: 7, kind: "missing call", old: "f(1)"}
		row := fmt.Sprintf("killed by pool, explored (%s): %v\n", how, &s)
		require.Equal(t, map[string]bool{s.String(): true}, rowsOf(killedRow, []byte(row)))
	}
}
