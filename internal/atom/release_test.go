//go:build !interleave && !race

package atom_test

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

// On amd64 a release store is a plain store; elsewhere it is not.
func TestReleaseStoreIsPlainWhereThatIsEnough(t *testing.T) {
	body := regexp.MustCompile(`(?s)\ncoatcheck/internal/atom\.StoreRelease STEXT.*?\n(?:[^\t\n]|$)`)
	for _, c := range []struct {
		arch  string
		flag  string
		plain bool
	}{{"amd64", "-tags=", true}, {"amd64", "-tags=race", false}, {"386", "-tags=", false}, {"arm64", "-tags=", false}} {
		if !c.plain && !testkit.Full() {
			// Compiling would build all imports for three platforms; the file tells as much.
			list := exec.Command("go", "list", "-f={{.GoFiles}}", c.flag, "coatcheck/internal/atom")
			list.Env = append(os.Environ(), "GOARCH="+c.arch)
			out, err := list.CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.Contains(t, string(out), " release.go", c)
			assert.NotContains(t, string(out), "release_amd64.go", c)
			continue
		}
		code := body.FindString("\n" + testkit.Compile(t, c.arch, "-S", c.flag, "coatcheck/internal/atom"))
		require.NotEmpty(t, code, c)
		orders := regexp.MustCompile(`\tXCHG|\tSTLR|atomic\.Store`).MatchString(code)
		assert.Equal(t, !c.plain, orders, "%v\n%s", c, code)
	}
}
