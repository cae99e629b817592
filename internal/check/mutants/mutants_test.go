package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../../.."

func allSeeds(t *testing.T) []seed {
	list, err := load()
	require.NoError(t, err)
	return list
}

// TestSeedsApply requires that every seed fits the current code.
func TestSeedsApply(t *testing.T) { require.NoError(t, check(allSeeds(t), root)) }

func TestSeedsNameWhatExists(t *testing.T) {
	readme, err := files.ReadFile("seeds/README.md")
	require.NoError(t, err)
	there := make(map[killer]bool)
	for _, pkg := range []string{poolPackage, "shard", "pool/dense", "pool/table", "pool/tree", "pool/command"} {
		list, err := killersOf(root, pkg)
		require.NoError(t, err)
		for _, k := range list {
			there[k] = true
		}
	}
	slug := strings.NewReplacer(" ", "-", "'", "", ",", "")
	for _, s := range allSeeds(t) {
		want := slug.Replace(strings.ToLower(s.name)) + ".patch"
		assert.Equal(t, want, path.Base(s.file), "a file is named after its seed")
		assert.True(t, strings.Contains(string(readme), "| "+path.Dir(s.file)+" |"), "README.md does not list %s", path.Dir(s.file))
		for _, k := range s.killers {
			assert.True(t, there[k], "%s: there is no %q in %s", s.file, k.name, k.pkg)
		}
		for _, h := range s.hunks {
			assert.NotEqual(t, h.old, h.new, "%s: a hunk changes nothing", s.file)
			assert.True(t, s.pkg() == poolPackage || s.pkg() == path.Dir(h.file), "%s: %s is not in %s", s.file, h.file, s.pkg())
		}
	}
}

// TestLabelsAreAttacked requires that a quick seed attacks each invariant and publication of
// DESIGN.md, each rule of package tree and each row, and that no seed attacks an unknown one.
func TestLabelsAreAttacked(t *testing.T) {
	isLabel := regexp.MustCompile(`^([IPLKW]|row )\d+$`)
	attacked, quick := make(map[string]bool), make(map[string]bool)
	for _, s := range allSeeds(t) {
		for _, a := range s.attacks {
			attacked[a] = true
			quick[a] = quick[a] || s.quick && (s.pkg() == poolPackage || s.pkg() == "pool/tree")
		}
	}
	known := make(map[string]bool)
	for _, in := range []struct{ file, label, prefix string }{
		{"DESIGN.md", `(?m)^(?:- \*\*|\| |\*\*)([IPL]\d+)(?:\*\*| \||,)`, ""},
		{"pool/tree/walk.go", `\b([KW]\d)\b`, ""},
		{"pool/tree/links.go", `\b([KW]\d)\b`, ""},
		{"internal/check/mutants/seeds/README.md", `(?m)^\| (\d+) \| .* \| (none: )?`, "row "},
	} {
		text, err := os.ReadFile(filepath.Join(root, in.file))
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(in.label).FindAllStringSubmatch(string(text), -1) {
			label, none := in.prefix+m[1], len(m) > 2 && m[2] != ""
			known[label] = true
			assert.True(t, label[0] == 'L' || none || quick[label], "no quick seed attacks %s", label)
			assert.False(t, none && attacked[label], "seeds attack %s, which has none", label)
		}
	}
	require.GreaterOrEqual(t, len(known), 9+7+5+3+3+15)
	for a := range attacked {
		assert.True(t, known[a] || !isLabel.MatchString(a), "seeds attack %s, which does not exist", a)
	}
}

func TestPatchesFitOnce(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.go"), []byte("package x\n//one\n//two\n//two\n//three\n"), 0o666))
	const header = "A name.\n\nattacks: L1, row 2\nkilled by: pool: TestX: of two\nends: panic\n\n--- a/x.go\n+++ b/x.go\n"
	for _, p := range []struct{ text, want string }{
		{header + "@@ -9 +9 @@ far away\n-//one\n+//four\n@@ -2 +2 @@\n //four\n-//two\n", "package x\n//four\n//two\n//three\n"},
		{header + "@@ -2 +2 @@\n-//two\n", "occur 2 times"},
		{header + "@@ -1 +1 @@\n-//on\n", "occur 0 times"},
		{header + "@@ -1 +1 @@\n+//four\n", "occur 7 times"},
		{header + "@@ -1 +1 @@\n-package x\n", "expected 'package'"},
		{header + "@@ -1 +1 @@\n//one\n", `a line "//one\n"`},
		{header, "and hunks"},
		{strings.Replace(header, "b/x.go", "b/y.go", 1) + "@@ @@\n-//one\n", "no such file"},
		{strings.Replace(header, "attacks", "atacks", 1), `a line "atacks: L1, row 2"`},
		{strings.Replace(header, "panic", "grief", 1) + "@@ @@\n-//one\n", "perhaps ends"},
	} {
		var s seed
		err := s.parse(p.text)
		var after map[string]string
		if err == nil {
			after, err = s.apply(dir)
		}
		if err != nil {
			require.ErrorContains(t, err, p.want)
			continue
		}
		require.Equal(t, p.want, after["x.go"])
		require.Equal(t, []killer{{suite{"pool", true}, "TestX: of two"}}, s.killers)
		require.Equal(t, []string{"L1", "row 2"}, s.attacks)
	}
}

func TestFlagsChoose(t *testing.T) {
	all := allSeeds(t)
	count := func(c config, only string) int {
		c.only = regexp.MustCompile("(?i)" + only)
		list, err := c.chosen(all, root)
		require.NoError(t, err)
		for _, s := range list {
			require.True(t, s.quick || !c.short)
		}
		return len(list)
	}
	require.Equal(t, len(all), count(config{}, ""))
	require.GreaterOrEqual(t, count(config{short: true}, ""), 20)
	require.Equal(t, 1, count(config{all: true}, "^remove by"))
	require.Zero(t, count(config{generated: 1}, "^tree/"))
}
