//go:build !race

// Package gate reads the patterns by which the gate and the documents choose tests.
package gate

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

// matches returns what the first group of a pattern matches in texts.
func matches(pattern string, texts ...string) (all []string) {
	for _, text := range texts {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(strings.ReplaceAll(text, "\\\n", ""), -1) {
			all = append(all, m[1])
		}
	}
	return all
}

// TestPatternsMatchTests: each name in a -run or the like of the gate or of a document is that of a test. A
// test that got another name is not left out, or run again, in silence.
func TestPatternsMatchTests(t *testing.T) {
	read := func(files ...string) (texts []string) {
		for _, file := range files {
			text, err := os.ReadFile(filepath.Join("../../..", file))
			require.NoError(t, err)
			texts = append(texts, string(text))
		}
		return texts
	}
	names := matches(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`, read(testkit.Files(t, "../../..", "_test.go")...)...)
	commands := append(read(".ci/steps"), matches("`[^`\n]*?\\bgo test ([^`\n]*)`", read(testkit.Files(t, "../../..", ".md")...)...)...)
	patterns := matches(`(?:-(?:run|skip|fuzz|bench) |long=|alone=)["']?([^\s"'$]+)`, commands...)
	require.Greater(t, len(patterns), 10)
	for _, pattern := range patterns {
		first, _, _ := strings.Cut(pattern, "/")
		for _, name := range strings.Split(first, "|") {
			assert.True(t, name == "^" || slices.ContainsFunc(names, regexp.MustCompile(name).MatchString), "no test matches %q of %q", name, pattern)
		}
	}
}
