package comments_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each way of the README to import the module works, in a new module beside a clone.
func TestReadmeUse(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(readme), "\n## Use it\n")
	require.True(t, found)
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell to run the commands: ", err)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	block := regexp.MustCompile("(?s)```sh\n(go mod edit.*?)\n```").FindStringSubmatch(section)
	require.NotNil(t, block)
	ways := strings.Split(block[1], "\n")
	require.Len(t, ways, 3)
	replace, work, vendor := ways[0], ways[1], ways[2]

	beside := t.TempDir()
	clone, err := filepath.Abs(root)
	require.NoError(t, err)
	if err := os.Symlink(clone, filepath.Join(beside, "coatcheck")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	t.Run("replace", func(t *testing.T) { newUser(t, beside).run(replace) })
	t.Run("workspace", func(t *testing.T) { newUser(t, beside).run(work) })
	t.Run("vendor", func(t *testing.T) {
		u := newUser(t, beside)
		u.run(replace)
		u.run(vendor)
		require.NoError(t, os.Remove(filepath.Join(u.dir, "../coatcheck")))
		u.run("") // vendored, so without the clone
	})
}

// user is another module that uses the pool.
type user struct {
	*testing.T
	dir string
}

func newUser(t *testing.T, beside string) user {
	u := user{t, filepath.Join(beside, filepath.Base(t.Name()))}
	require.NoError(t, os.Mkdir(u.dir, 0o777))
	for name, text := range map[string]string{
		"go.mod": "module example.com/user\n\ngo 1.24.0\n",
		"main.go": `package main

import "coatcheck/pool"

func main() {
	p := pool.Must[string](nil)
	h, _ := p.Insert("imported")
	println(p.MustGet(h))
}
`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o666))
	}
	return u
}

// run runs the commands, and then the program. Modules come from the module cache, so the
// test needs no network. Flags are those of this test's own build, which has compiled the
// standard library with them.
func (u user) run(commands string) {
	u.Helper()
	cmd := exec.Command("sh", "-ec", commands+"\ngo run .")
	cmd.Dir = u.dir
	cmd.Env = append(os.Environ(), "GOWORK=", "GOPROXY=off", "GOSUMDB=off")
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "module lookup disabled by GOPROXY=off") {
		u.Skipf("a module that the core requires is not in the module cache, which this test does not fill:\n%s", out)
	}
	require.NoError(u, err, "%s\n%s", commands, out)
	require.Contains(u, string(out), "imported")
}
