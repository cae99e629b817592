//go:build !race

package comments_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// duration matches how long something takes, in a document without what it shows as code.
var duration = regexp.MustCompile(`(?i)\b(?:[\d.]+|half an?|some|a few|several) (?:s|min|seconds?|minutes?|hours?)\b`)

// durations returns the lines of a document that say how long something takes: those in the table below a
// heading, and the others.
func durations(text, heading string) (table, others []string) {
	within := false
	for line := range strings.Lines(code.ReplaceAllString(text, "")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			within = heading != "" && line == heading
		}
		switch {
		case !duration.MatchString(line):
		case within && strings.HasPrefix(line, "|"):
			table = append(table, line)
		default:
			others = append(others, line)
		}
	}
	return table, others
}

// How long a command takes stands in one table, so that no two documents disagree. README, which a new user
// reads alone, has its two commands in one line. The examples tell what programs take, and not commands.
func TestDurationsStandInOneTable(t *testing.T) {
	for _, path := range read(t).files {
		if filepath.Ext(path) != ".md" || strings.HasPrefix(path, "examples/") {
			continue
		}
		heading := ""
		if path == "CONTRIBUTING.md" {
			heading = "## The quick loop"
		}
		table, others := durations(text(t, path), heading)
		switch path {
		case "CONTRIBUTING.md":
			require.Greater(t, len(table), 5, "the table of durations")
			require.Empty(t, others, "%s: durations stand in the table of %q", path, heading)
		case "README.md":
			require.LessOrEqual(t, len(others), 1, "%s: %q", path, others)
		default:
			require.Empty(t, others, "%s: durations stand in CONTRIBUTING.md: write a link", path)
		}
	}
}

func TestDurationsAreFound(t *testing.T) {
	table, others := durations("# A\n\n| a | `x 5 s` | 10 s |\nin half a minute\n`sleep 5 s`\n# B\n| b | 2 minutes |\n", "# A")
	require.Equal(t, []string{"| a |  | 10 s |"}, table)
	require.Equal(t, []string{"in half a minute", "| b | 2 minutes |"}, others)
}
