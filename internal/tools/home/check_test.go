package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A version passes only with all its tags, on its commit, and if all modules agree on it.
func TestCheckFindsWhatIsMissing(t *testing.T) {
	root := repository(t, `cd "$0" && mkdir -p pool/metrics internal/tools/home && touch internal/tools/home/main.go
		echo module coatcheck >go.mod && echo module coatcheck/internal/tools >internal/tools/go.mod
		mkdir -p pool/internal/browser && echo module coatcheck/pool/internal/browser >pool/internal/browser/go.mod
		printf 'module coatcheck/pool/metrics\n\nrequire coatcheck v0.0.0\n' >pool/metrics/go.mod`)
	finds := func(wants ...string) {
		t.Helper()
		err := check(root, elsewhere, "v0.1.0")
		if err == nil && len(wants) > 0 {
			t.Errorf("want %q", wants)
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("want %q in %v", want, err)
			}
		}
		if err != nil && len(strings.Split(err.Error(), "\n")) != len(wants) {
			t.Errorf("want %q and no more, not %v", wants, err)
		}
	}
	finds("./go.mod: want module", "pool/metrics/go.mod: want module", "pool/metrics/go.mod: want it to require",
		"no tag v0.1.0", "no tag pool/metrics/v0.1.0")
	tags, err := move(root, elsewhere, "v0.1.0")
	must(t, err)
	if strings.Join(tags, " ") != "v0.1.0 pool/metrics/v0.1.0" {
		t.Errorf("the tags are %v", tags)
	}
	run(t, root, "git", "tag", "pool/metrics/v0.1.0")
	run(t, root, "sh", "-c", commit)
	run(t, root, "git", "-c", "user.name=a", "-c", "user.email=a@b", "tag", "-a", "-m", "with a message", "v0.1.0")
	finds("tag pool/metrics/v0.1.0 names another commit")
	run(t, root, "git", "tag", "-f", "pool/metrics/v0.1.0")
	finds()

	file := filepath.Join(root, "pool/metrics/go.mod")
	must(t, os.WriteFile(file, []byte(strings.Replace(read(t, file), "v0.1.0", "v0.2.0", 1)), 0o666))
	finds("pool/metrics/go.mod: want it to require")
	must(t, os.WriteFile(file, []byte("module "+elsewhere+"/pool/metrics\n"), 0o666))
	finds("pool/metrics/go.mod: want it to require")
}
