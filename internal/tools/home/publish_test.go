package main

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// newcomer gives the test an empty home: no configuration, and no modules but those that
// proxies have. The first proxy is the returned folder. The second is what this machine has
// downloaded before.
func newcomer(t *testing.T) (proxy string) {
	t.Helper()
	proxy = t.TempDir()
	for _, dir := range []string{"..", "../../../pool/metrics", "../../../examples/cgo"} {
		run(t, dir, "go", "mod", "download")
	}
	goenv := func(name string) string { return strings.TrimSpace(run(t, ".", "go", "env", name)) }
	for name, value := range map[string]string{
		"GOCACHE": goenv("GOCACHE"), // the standard library need not be compiled again
		"GOPROXY": "file://" + proxy + ",file://" + goenv("GOMODCACHE") + "/cache/download",
		"GOSUMDB": "off",                                       // what was downloaded before was checked
		"GOFLAGS": goenv("GOFLAGS") + " -trimpath -modcacherw", // packages are compiled once, and the folder can be removed
		"HOME":    t.TempDir(),
		// What git asks for there.
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
	} {
		defer t.Setenv(name, value)
	}
	for _, name := range []string{"GOMODCACHE", "GOPATH"} {
		defer t.Setenv(name, filepath.Join(t.TempDir(), "go"))
	}
	return proxy
}

// program makes a module beside root, and returns it. Its program imports these packages.
func program(t *testing.T, root string, imports ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Dir(root), "user")
	must(t, err)
	text := "package main\n\nimport (\n\t_ \"" + strings.Join(imports, "\"\n\t_ \"") + "\"\n)\n\nfunc main() {}\n"
	for name, text := range map[string]string{"main.go": text, "go.mod": "module example.com/user\n\ngo 1.24.0\n"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

// Each way to import the module that the README and docs/install.md show works for a module
// beside a clone.
func TestWaysToImport(t *testing.T) {
	root := filepath.Join(t.TempDir(), "coatcheck")
	must(t, os.Rename(repository(t, copied), root))
	newcomer(t)
	shown := map[string]bool{} // and whether it was tried
	for _, document := range []string{"README.md", "docs/install.md"} {
		for _, line := range regexp.MustCompile(`(?m)^go (?:get|mod|work) [^#\n]*[^# \n]`).FindAllString(read(t, filepath.Join(root, document)), -1) {
			if !strings.HasSuffix(line, "@latest") { // of a clone that was published
				shown[line] = false
			}
		}
	}
	module := modulePath(t, root)
	replace, replaceCollectors := "go mod edit -replace "+module+"=../coatcheck", "go mod edit -replace "+module+"/pool/metrics=../coatcheck/pool/metrics"
	pool, collectors := module+"/pool", module+"/pool/metrics/poolprom"
	for _, way := range []struct{ imports, commands []string }{
		{[]string{pool}, []string{replace, "go get " + pool, "go mod vendor"}},
		{[]string{pool, collectors}, []string{replace, replaceCollectors, "go get " + collectors}},
		{[]string{pool}, []string{"go work init . ../coatcheck", "go work use ../coatcheck/pool/metrics", "go work vendor"}},
	} {
		dir := program(t, root, way.imports...)
		for _, command := range way.commands {
			if _, found := shown[command]; !found {
				t.Errorf("no document shows %s", command)
			}
			shown[command] = true
			run(t, dir, "sh", "-c", command)
		}
		run(t, dir, "go", "run", ".")
		// As docs/install.md says, a replaced module whose path has no dot cannot be verified.
		out, err := exec.Command("go", "-C", dir, "mod", "verify").CombinedOutput()
		replaced := strings.HasPrefix(way.commands[0], "go mod edit")
		if replaced != (err != nil) || replaced && !strings.Contains(string(out), "missing ziphash") {
			t.Errorf("go mod verify after %s: %v\n%s", way.commands[0], err, out)
		}
	}
	for command, tried := range shown {
		if !tried {
			t.Errorf("%s is shown, and was not tried", command)
		}
	}
}

// The command of docs/install.md gives a clone a path, and the commands that it prints publish it. A
// user gets the module, the collectors and an example from a proxy, one after the other, and
// later their next version. Each of them can be the only one.
func TestPublishedModulesInstall(t *testing.T) {
	root := repository(t, copied)
	proxy := newcomer(t)
	const home = "go run -C internal/tools ./home "
	if !strings.Contains(read(t, filepath.Join(root, "docs/install.md")), home+"github.com/you/coatcheck v0.1.0") {
		t.Errorf("docs/install.md does not show %s", home)
	}
	steps := regexp.MustCompile(`(?m)^\s*(git (?:commit|tag) .*?)\s*(?:#.*)?$`)
	shown := steps.FindAllStringSubmatch(read(t, filepath.Join(root, "docs/install.md")), -1)
	original := strings.TrimSpace(run(t, root, "git", "rev-parse", "HEAD"))
	publish := func(version string) {
		run(t, root, "git", "switch", "-q", "--detach", original)
		printed := run(t, root, "sh", "-c", home+elsewhere+" "+version)
		for _, step := range steps.FindAllStringSubmatch(printed, -1) {
			run(t, root, "sh", "-c", step[1])
			shown = slices.DeleteFunc(shown, func(s []string) bool { return s[1] == step[1] })
			if tag, found := strings.CutPrefix(step[1], "git tag "); found {
				serve(t, root, proxy, strings.TrimSuffix(path.Dir(tag), "."), version)
			}
		}
	}
	publish("v0.1.0")
	if len(shown) > 0 {
		t.Errorf("docs/install.md shows %q, which home does not print", shown)
	}
	const collectors, example = elsewhere + "/pool/metrics/poolprom", elsewhere + "/examples/cgo"
	dir := program(t, root, elsewhere+"/pool", collectors)
	for _, name := range []string{elsewhere + "/pool", collectors, example} {
		run(t, dir, "go", "get", name+"@latest")
		run(t, program(t, root, name), "go", "get", name+"@latest")
	}
	run(t, dir, "go", "run", ".")
	run(t, dir, "go", "run", example, "-rounds", "0")

	publish("v0.2.0")
	run(t, dir, "go", "get", collectors+"@latest")
	run(t, dir, "go", "run", ".")
	for name, want := range map[string]string{elsewhere: "v0.2.0", elsewhere + "/pool/metrics": "v0.2.0", example: "v0.1.0"} {
		if got := run(t, dir, "go", "list", "-m", "-f", "{{.Version}}", name); strings.TrimSpace(got) != want {
			t.Errorf("%s is at %s, want %s", name, got, want)
		}
	}
}

// serve adds a version of the module in a folder of the repository at root to a proxy.
func serve(t *testing.T, root, proxy, folder, version string) {
	t.Helper()
	m := module.Version{Path: path.Join(elsewhere, folder), Version: version}
	dir := filepath.Join(proxy, m.Path, "@v")
	file := filepath.Join(dir, version)
	must(t, os.MkdirAll(dir, 0o777))
	archive, err := os.Create(file + ".zip")
	must(t, err)
	defer archive.Close()
	must(t, zip.CreateFromVCS(archive, m, root, "HEAD", folder))
	run(t, root, "cp", filepath.Join(folder, "go.mod"), file+".mod")
	run(t, dir, "sh", "-c", `echo '{"Version":"'$0'"}' >$0.info && echo $0 >>list`, version)
}
