package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const elsewhere = "example.net/elsewhere/coatcheck"

// A moved clone does not mention its old path, and builds and passes its tests in all
// modules.
func TestMovedCloneBuildsAndPasses(t *testing.T) {
	root := repository(t, copied)
	old := modulePath(t, root)
	_, err := move(root, elsewhere, "v0.1.0")
	must(t, err)
	if got := modulePath(t, root); got != elsewhere {
		t.Errorf("the module is %s", got)
	}
	readme := read(t, filepath.Join(root, "README.md"))
	if !strings.Contains(readme, "go get "+elsewhere+"/pool@latest") || strings.Contains(readme, homeless) {
		t.Error("the README does not tell how to get it")
	}
	for kept, file := range map[string]string{"go test -tags coatcheck_debug": "docs/operate.md", "COATCHECK_LENGTH=full": "docs/checks.md", "# coatcheck\n": "README.md"} {
		if !strings.Contains(read(t, filepath.Join(root, file)), kept) {
			t.Errorf("%s has lost %q", file, kept)
		}
	}
	if left := mentioned(root, old); left != "" {
		t.Errorf("the old path is still there:\n%s", left)
	}
	run(t, root, "go", "list", "-deps", "./...")
	if testing.Short() {
		return // to compile every module anew takes minutes
	}

	modules := strings.Fields(run(t, root, "git", "ls-files", "go.mod", "*/go.mod"))
	if len(modules) < 4 {
		t.Errorf("only the modules %v", modules)
	}
	for _, file := range modules {
		dir := filepath.Join(root, filepath.Dir(file))
		run(t, dir, "go", "build", "-o", os.DevNull, "./...")
		run(t, dir, "go", "vet", "./...")
	}
	if out := run(t, root, "gofmt", "-l", "."); out != "" {
		t.Errorf("not formatted: %s", out)
	}
	run(t, root, "go", "test", "-short", ".", "./internal/check/comments", "./internal/atom", "-run", "Citations|Documents|Inline|Release")
	run(t, root, "go", "test", "-short", "-tags", "coatcheck_debug", "./pool/pooltest") // reads stacks
}

// A clone that is a folder of another repository has tags that begin with the folder.
func TestTagsBeginWithTheFolder(t *testing.T) {
	root := repository(t, `mkdir -p "$0/a/internal/tools/home" && cd "$0/a" && touch internal/tools/home/main.go && echo module coatcheck >go.mod`)
	tags, err := move(filepath.Join(root, "a"), elsewhere, "v0.1.0")
	must(t, err)
	if strings.Join(tags, " ") != "a/v0.1.0" {
		t.Errorf("the tags are %v", tags)
	}
}

func TestRefusals(t *testing.T) {
	root := repository(t, `cd "$0" && mkdir -p pool internal/tools/home && touch internal/tools/home/main.go && echo module coatcheck >go.mod`)
	for _, c := range []struct{ path, version, why string }{
		{"coatcheck/elsewhere", "v0.1.0", "missing dot"},
		{"github.com/you/coatcheck/v2", "v0.1.0", "invalid version"},
		{elsewhere, "latest", "invalid version"},
		{elsewhere, "v2.0.0", "invalid version"},
		{elsewhere + "/v2", "v2.0.0", "version 2 or later"},
	} {
		refuse(t, root, c.path, c.version, c.why)
	}
	run(t, root, "touch", "new.go")
	refuse(t, root, elsewhere, "v0.1.0", "not committed")
	refuse(t, filepath.Join(root, "pool"), elsewhere, "v0.1.0", "no clone")
	if got := modulePath(t, root); got != "coatcheck" {
		t.Errorf("a refusal renames to %s", got)
	}
}

func TestMentions(t *testing.T) {
	m := newMentions("coatcheck", "github.com/you/coatcheck", "v0.1.0", []string{"pool", "bench"})
	for text, want := range map[string]string{
		`import "coatcheck/pool"`:                                   `import "github.com/you/coatcheck/pool"`,
		"see coatcheck/pool/dense.":                                 "see github.com/you/coatcheck/pool/dense.",
		`"\tcoatcheck/pool.(*Pool[...]).Get"`:                       `"\tgithub.com/you/coatcheck/pool.(*Pool[...]).Get"`,
		"coatcheck/bench, coatcheck/pool":                           "github.com/you/coatcheck/bench, github.com/you/coatcheck/pool",
		`"coatcheck/pool_test.leak"`:                                `"github.com/you/coatcheck/pool_test.leak"`,
		"localhost:6060/debug/pprof/coatcheck/pool.guards":          "localhost:6060/debug/pprof/github.com/you/coatcheck/pool.guards",
		"coatcheck/pool":                                            "github.com/you/coatcheck/pool",
		"-require coatcheck@v0.0.0 -replace coatcheck=../coatcheck": "-require github.com/you/coatcheck@v0.0.0 -replace github.com/you/coatcheck=../coatcheck",
		"coatcheck's pool":                                          "",
		"coatcheck/pools":                                           "",
		"coatcheck/nothing":                                         "",
		"../coatcheck/pool":                                         "",
		"github.com/them/coatcheck/pool":                            "",
		"mycoatcheck/pool":                                          "",
		"//go:build coatcheck_debug":                                "",
		"COATCHECK_LENGTH=full":                                     "",
		"coatcheck.TestStorm":                                       "",
	} {
		if want == "" {
			want = text
		}
		if got := m.inText(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// copied fills a repository with the files of this one, as they are now.
const copied = `git ls-files -z --cached --others --exclude-standard | tar -cf - --null -T - --ignore-failed-read | tar -xf - -C "$0"`

const commit = "git add -A && git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -q -m all"

// repository returns a new repository. The shell command fill writes its files to the folder
// "$0", and runs at the root of this one.
func repository(t *testing.T, fill string) string {
	t.Helper()
	const here = "../../.."
	if err := exec.Command("git", "-C", here, "rev-parse").Run(); err != nil {
		t.Skip("no git, or not a clone: ", err)
	}
	root := t.TempDir()
	run(t, here, "sh", "-c", fill+` && cd "$0" && git init -q && `+commit, root)
	return root
}

// refuse requires that a move fails with an error that contains why.
func refuse(t *testing.T, root, path, version, why string) {
	t.Helper()
	if _, err := move(root, path, version); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%q %s: %v, want %s", path, version, err, why)
	}
}

// mentioned returns the lines of the tree that have the module path, with no path before it:
// with more behind it, alone in quotes, or in a go.mod. It knows neither the folders nor what
// is code, unlike the command, since a string may be made a path later. The key of field tags is no
// path, and stays as the build tag does.
func mentioned(root, path string) string {
	const start, quote = `(^|[^./_[:alnum:]-]|\\[nt])`, "[\"'`]"
	pattern := start + path + "[/@=]|" + quote + path + quote + "|^(module |replace |require |\t)" + path + "( |$)"
	out, _ := exec.Command("git", "-C", root, "grep", "-nE", pattern, "--", ":!"+self).Output() // status 1: none
	var left strings.Builder
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, `.Tag.Get("`) {
			left.WriteString(line)
		}
	}
	return left.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func modulePath(t *testing.T, root string) string {
	t.Helper()
	first, _, _ := strings.Cut(read(t, filepath.Join(root, "go.mod")), "\n")
	return strings.TrimPrefix(first, "module ")
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	return string(text)
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s %s in %s: %v\n%s", name, strings.Join(args, " "), dir, err, out)
	}
	return string(out)
}
