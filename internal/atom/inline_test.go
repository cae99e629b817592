//go:build !interleave && !race

package atom_test

import (
	"os"
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
	out := testkit.Compile(t, "amd64", "-S", "coatcheck/internal/hint", "coatcheck/epoch", "coatcheck/shard/slots", "coatcheck/shard", "coatcheck/pool", "coatcheck/pool/dense", "coatcheck/pool/testdata/inline")
	require.Contains(t, out, "LOCK", "no listing")
	require.NotRegexp(t, `CALL\s+coatcheck/internal/atom\.StoreLast`, out)
	require.Empty(t, regexp.MustCompile(`.*CALL\s+sync/atomic\.\(\*U?[Ii]nt\w+\)\.[^L].*`).FindString(out))
}
