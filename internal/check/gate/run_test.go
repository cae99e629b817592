//go:build linux && !race

package gate_test

import (
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

// root is the directory of the core's module.
const root = "../../.."

// command is one command of the gate.
type command struct {
	dir   string // its module or a folder below it, relative to root
	arch  string // GOARCH
	tool  string // go, staticcheck, ...
	verb  string // of go
	flags map[string]string
	args  []string
}

// valued are the flags of go test, vet and staticcheck that have a value, which may be the next word.
var valued = []string{"bench", "benchtime", "exec", "fuzz", "fuzztime", "fuzzminimizetime", "o", "overlay", "run", "skip", "tags", "timeout", "count"}

// parse returns the command of some words.
func parse(dir, arch, tool string, words []string) command {
	c := command{dir: dir, arch: arch, tool: tool, flags: map[string]string{}}
	if tool == "go" {
		if words[0] == "-C" {
			c.dir, words = filepath.Join(dir, words[1]), words[2:]
		}
		c.verb, words = words[0], words[1:]
	}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if !strings.HasPrefix(word, "-") {
			c.args = append(c.args, word)
			continue
		}
		name, value, has := strings.Cut(strings.TrimPrefix(word, "-"), "=")
		if !has && slices.Contains(valued, name) && len(words) > 0 {
			value, words = words[0], words[1:]
		}
		c.flags[name] = value
	}
	return c
}

// fakeGo logs its words, and whether tests are short, and makes the programs that it should build.
// What only tells of go.mod or of the platform is the real one's.
const fakeGo = `#!/bin/bash
real=$GATE_GO
case "$1 $2" in
"env "* | "list "* | "mod edit") exec "$real" "$@" ;;
esac
short=()
case "$COATCHECK_LENGTH $1 $3" in " test "* | " -C test") short=(-short) ;; esac
line=$(printf '%s\x1f%s\x1fgo' "$PWD" "${GOARCH:-amd64}"; printf '\x1f%s' "$@" "${short[@]}")
printf '%s\n' "$line" >>"$GATE_LOG" # in one write, since the other lane writes too
while [ $# -gt 1 ]; do
	if [ "$1" = -o ]; then
		cp "$GATE_TOOL" "$2"
	fi
	shift
done
exit 0
`

// fakeTool logs its name and words. It says "runs", as the gate's program for 32 bits does.
const fakeTool = `#!/bin/bash
line=$(printf '%s\x1f%s\x1f%s' "$PWD" "${GOARCH:-amd64}" "$(basename "$0")"; printf '\x1f%s' "$@")
printf '%s\n' "$line" >>"$GATE_LOG"
echo runs
`

// usual and full return the commands of the gate, and of the full programme.
func usual(t *testing.T) []command { return run(t, &ofUsual) }
func full(t *testing.T) []command  { return run(t, &ofFull, "-full") }

var ofUsual, ofFull []command

func run(t *testing.T, known *[]command, words ...string) []command {
	if testkit.Short() {
		t.Skip("starts the gate")
	}
	if *known == nil {
		*known = commands(t, words...)
	}
	return *known
}

// commands runs the gate with programs that only log their words, and returns these.
func commands(t *testing.T, words ...string) (all []command) {
	t.Helper()
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	for name, text := range map[string]string{
		"go": fakeGo, "tool": fakeTool, "gcc": fakeTool, "valgrind": fakeTool, "chromium": fakeTool, "qemu-aarch64-static": fakeTool,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700))
	}
	real, err := exec.LookPath("go")
	require.NoError(t, err)
	gate := exec.Command(".ci/run", words...)
	gate.Dir = root
	gate.Env = append(os.Environ(), "COATCHECK_LENGTH=", "CI=1", "PATH="+bin+":"+os.Getenv("PATH"), "GATE_GO="+real, "GATE_LOG="+log, "GATE_TOOL="+filepath.Join(bin, "tool"))
	out, err := gate.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, "all passed( that this kind of machine can run)?\n", string(out))
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	abs, err := filepath.Abs(root)
	require.NoError(t, err)
	abs, err = filepath.EvalSymlinks(abs)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\x1f")
		dir, err := filepath.Rel(abs, words[0])
		require.NoError(t, err)
		all = append(all, parse(dir, words[1], words[2], words[3:]))
	}
	return all
}

// has reports whether the command looks at the package in a folder of its module.
func (c *command) has(module, folder string) bool {
	args := c.args
	if len(args) == 0 {
		args = []string{"."}
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		dir := filepath.Join(c.dir, strings.TrimSuffix(arg, "/..."))
		if !strings.HasPrefix(dir+"/", module+"/") && module != "." {
			return false
		}
		return dir == folder || strings.HasSuffix(arg, "...") && (dir == "." || strings.HasPrefix(folder, dir+"/"))
	})
}

// builds reports whether a file is part of what the command builds.
func (c *command) builds(t *testing.T, file string) bool {
	ctx := build.Default
	ctx.GOARCH, ctx.GOOS, ctx.CgoEnabled = c.arch, "linux", true
	ctx.BuildTags = strings.Split(c.flags["tags"], ",")
	if _, race := c.flags["race"]; race {
		ctx.BuildTags = append(ctx.BuildTags, "race")
	}
	ok, err := ctx.MatchFile(filepath.Join(root, filepath.Dir(file)), filepath.Base(file))
	require.NoError(t, err)
	return ok
}

// first returns the part of a pattern for -run that is for names of tests, and not of their parts.
func first(pattern string) string {
	depth := 0
	for i, r := range pattern {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '/':
			if depth == 0 {
				return pattern[:i]
			}
		}
	}
	return pattern
}

// alternatives returns the patterns of which any may match.
func alternatives(pattern string) (all []string) {
	pattern = first(pattern)
	if pattern == "" {
		return nil
	}
	before, after := "", ""
	if m := regexp.MustCompile(`^([^(|]*)\(([^()]*)\)([^()|]*)$`).FindStringSubmatch(pattern); m != nil {
		before, pattern, after = m[1], m[2], m[3]
	}
	for _, a := range strings.Split(pattern, "|") {
		all = append(all, before+a+after)
	}
	return all
}

// selects reports whether the command's -run and -skip choose a test.
func (c *command) selects(name string) bool {
	skip := c.flags["skip"]
	return matches(c.flags["run"], name) && (skip == "" || !matches(skip, name))
}

func matches(pattern, name string) bool {
	return regexp.MustCompile(first(pattern)).MatchString(name)
}
