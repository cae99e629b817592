//go:build !interleave && !race

package atom_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

// The types of this package are those of sync/atomic, and cost no more: a program that uses a
// pool, and does not import sync/atomic, calls none of its methods.
func TestAtomicsInline(t *testing.T) {
	if testkit.Short() {
		t.Skip("compiles the protocol")
	}
	for _, dir := range []string{".", "../hint", "../../epoch", "../../shard/slots", "../../shard", "../../pool", "../../pool/dense"} {
		files, err := filepath.Glob(dir + "/*.go")
		require.NoError(t, err)
		for _, name := range files { // what go test looks at before it repeats an old result
			_, err := os.Stat(name)
			require.NoError(t, err)
		}
	}
	build := exec.Command("go", "build", "-gcflags=-S", "coatcheck/internal/hint", "coatcheck/epoch", "coatcheck/shard/slots", "coatcheck/shard", "coatcheck/pool", "coatcheck/pool/dense", "coatcheck/pool/testdata/inline")
	build.Dir = "../.."
	build.Env = append(os.Environ(), "GOARCH=amd64")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "LOCK", "no listing")
	require.NotRegexp(t, `CALL\s+coatcheck/internal/atom\.StoreLast`, string(out))
	require.Empty(t, regexp.MustCompile(`.*CALL\s+sync/atomic\.\(\*U?[Ii]nt\w+\)\.[^L].*`).FindString(string(out)))
}
