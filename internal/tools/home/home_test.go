package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const elsewhere = "github.com/you/coatcheck"

// A moved clone builds and passes its tests in all modules, and does not mention its old
// path.
func TestMovedCloneBuildsAndPasses(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles every module anew")
	}
	root := clone(t)
	old := modulePath(t, root)
	if err := move(root, elsewhere, false); err != nil {
		t.Fatal(err)
	}
	if got := modulePath(t, root); got != elsewhere {
		t.Errorf("the module is %s", got)
	}
	readme := read(t, filepath.Join(root, "README.md"))
	if !strings.Contains(readme, "go get "+elsewhere+"@latest") || strings.Contains(readme, homeless) {
		t.Error("the README does not tell how to get it")
	}
	for _, kept := range []string{"go test -tags coatcheck_debug", "COATCHECK_FULL=1", "# coatcheck\n"} {
		if !strings.Contains(readme, kept) {
			t.Errorf("the README has lost %q", kept)
		}
	}
	if left := mentioned(root, old); left != "" {
		t.Errorf("the old path is still there:\n%s", left)
	}

	for _, dir := range modules(t, root) {
		run(t, filepath.Join(root, dir), "go", "build", "-o", os.DevNull, "./...")
		run(t, filepath.Join(root, dir), "go", "vet", "./...")
	}
	if out := run(t, root, "gofmt", "-l", "."); out != "" {
		t.Errorf("not formatted: %s", out)
	}
	run(t, root, "go", "test", "-short", ".", "./epoch", "./internal/check/comments", "./internal/atom", "./pool/pooltest",
		"-run", "Readme|Comment|Inline|Release|Empty|Pin")
	run(t, root, "go", "test", "-short", "-tags", "coatcheck_debug", "./pool/pooltest") // reads stacks
	run(t, filepath.Join(root, "bench"), "go", "test", "-short", "./report")

	// It moves again, but not to its own path.
	refuse(t, root, elsewhere, true, "already")
	refuse(t, root, "example.org/other", false, "not committed")
	if err := move(root, "example.org/other", true); err != nil {
		t.Fatal(err)
	}
	if left := mentioned(root, elsewhere); left != "" {
		t.Errorf("the second path is still there:\n%s", left)
	}
	run(t, root, "go", "list", "-deps", "./...")
}

func TestRefusals(t *testing.T) {
	root := tiny(t)
	for _, c := range []struct{ path, why string }{
		{"coatcheck/elsewhere", "missing dot"},
		{"github.com/you/coat check", "invalid char"},
		{"github.com/you/coatcheck/", "trailing slash"},
		{"github.com/you/coatcheck/v2", "version 2"},
		{"gopkg.in/coatcheck.v1", "version 2"},
		{"", "empty"},
	} {
		refuse(t, root, c.path, true, c.why)
	}
	write(t, root, "new.go", "package coatcheck\n")
	refuse(t, root, elsewhere, false, "not committed")
	refuse(t, filepath.Join(root, "pool"), elsewhere, false, "no clone")
	if got := modulePath(t, root); got != "coatcheck" {
		t.Errorf("a refusal renames to %s", got)
	}
}

func TestMentions(t *testing.T) {
	m, err := newMentions("coatcheck", elsewhere, []string{"go.mod", "pool/doc.go", "pool/dense/doc.go", ".ci/run", "bench/go.mod"})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`import "coatcheck/pool"`:                                   `import "github.com/you/coatcheck/pool"`,
		"see coatcheck/pool/dense.":                                 "see github.com/you/coatcheck/pool/dense.",
		`"\tcoatcheck/pool.(*Pool[...]).Get"`:                       `"\tgithub.com/you/coatcheck/pool.(*Pool[...]).Get"`,
		"coatcheck/bench, coatcheck/pool":                           "github.com/you/coatcheck/bench, github.com/you/coatcheck/pool",
		`"coatcheck/pool_test.leak"`:                                `"github.com/you/coatcheck/pool_test.leak"`,
		"coatcheck/pool":                                            "github.com/you/coatcheck/pool",
		"-require coatcheck@v0.0.0 -replace coatcheck=../coatcheck": "-require github.com/you/coatcheck@v0.0.0 -replace github.com/you/coatcheck=../coatcheck",
		"coatcheck's pool":                                          "",
		"coatcheck/pools":                                           "",
		"coatcheck/nothing":                                         "",
		"../coatcheck/pool":                                         "",
		"github.com/them/coatcheck/pool":                            "",
		"mycoatcheck/pool":                                          "",
		"//go:build coatcheck_debug":                                "",
		"COATCHECK_FULL=1":                                          "",
		"coatcheck.TestStorm":                                       "",
	} {
		if want == "" {
			want = text
		}
		if got := string(m.inText([]byte(text))); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// A go.mod keeps its blocks, in order, with their comments.
func TestModuleFile(t *testing.T) {
	m, err := newMentions("coatcheck", elsewhere, []string{"pool/doc.go"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.inModule("go.mod", []byte(`module coatcheck/bench

go 1.24.0

require (
	coatcheck v0.0.0 // beside
	coatchecker.org/x v1.0.0
	example.org/a v1.0.0
)

require go.uber.org/atomic v1.12.0 // indirect

replace coatcheck => ../
`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `module github.com/you/coatcheck/bench

go 1.24.0

require (
	coatchecker.org/x v1.0.0
	example.org/a v1.0.0
	github.com/you/coatcheck v0.0.0 // beside
)

require go.uber.org/atomic v1.12.0 // indirect

replace github.com/you/coatcheck => ../
`
	if string(got) != want {
		t.Errorf("go.mod becomes:\n%s", got)
	}
}

// clone returns a repository with the current files of this one, committed.
func clone(t *testing.T) string {
	t.Helper()
	const here = "../../.."
	list, err := git(here, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		t.Skip("not a clone: ", err)
	}
	files := make(map[string]string)
	for _, name := range strings.Split(strings.TrimRight(list, "\x00"), "\x00") {
		if _, err := os.Stat(filepath.Join(here, name)); err == nil {
			files[name] = read(t, filepath.Join(here, name))
		}
	}
	return repository(t, files)
}

// tiny returns a small repository.
func tiny(t *testing.T) string {
	return repository(t, map[string]string{"go.mod": "module coatcheck\n", "pool/doc.go": "package pool\n", self + "main.go": ""})
}

func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git: ", err)
	}
	root := t.TempDir()
	for name, text := range files {
		write(t, root, name, text)
	}
	run(t, root, "git", "init", "-q")
	run(t, root, "git", "add", "-A")
	run(t, root, "git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "all")
	return root
}

// refuse requires that a move fails with an error that contains why.
func refuse(t *testing.T, root, path string, force bool, why string) {
	t.Helper()
	if err := move(root, path, force); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%q: %v, want %s", path, err, why)
	}
}

// modules returns the directories of all modules in the tree.
func modules(t *testing.T, root string) (dirs []string) {
	t.Helper()
	list, err := git(root, "ls-files", "go.mod", "*/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(list) {
		dirs = append(dirs, filepath.Dir(name))
	}
	if len(dirs) < 4 {
		t.Fatalf("only the modules %v", dirs)
	}
	return dirs
}

// mentioned returns the lines of the tree that mention a package of the module path.
func mentioned(root, path string) string {
	pattern := `(^|[^./_[:alnum:]-])` + path + `/(pool|epoch|shard|internal|bench)`
	out, _ := exec.Command("git", "-C", root, "grep", "-nE", pattern, "--", ":!internal/tools/home").Output() // status 1: none
	return string(out)
}

func modulePath(t *testing.T, root string) string {
	t.Helper()
	first, _, _ := strings.Cut(read(t, filepath.Join(root, "go.mod")), "\n")
	return strings.TrimPrefix(first, "module ")
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
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
