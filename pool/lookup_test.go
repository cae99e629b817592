package pool_test

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The fast paths are as fast as they are because they end up in the caller's
// loop. One node too many, or a helper whose body is not handed on, and each
// costs a call or three: nothing fails but the benchmarks.
func TestLookupsInline(t *testing.T) {
	// Always for amd64: a 32-bit platform makes a call of each 64-bit atomic.
	build := exec.Command("go", "build", "-gcflags=-m=2", "./testdata/inline", "./testdata/inline/dense")
	build.Env = append(os.Environ(), "GOARCH=amd64")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for what, said := range map[string]string{
		"Guard.Get":    `inline\.go:\d+:\d+: inlining call to pool\.\(\*Guard\[.*\]\)\.Get`,
		"Pool.Pin":     `inline\.go:\d+:\d+: inlining call to pool\.\(\*Pool\[.*\]\)\.Pin`,
		"Guard.Unpin":  `inline\.go:\d+:\d+: inlining call to pool\.\(\*Guard\[.*\]\)\.Unpin`,
		"Contains":     `inline\.go:\d+:\d+: inlining call to pool\.\(\*Pool\[.*\]\)\.Contains`,
		"All":          `inline\.go:\d+:\d+: inlining call to pool\.\(\*Pool\[.*\]\)\.All`,
		"All's body":   `inline\.go:\d+:\d+: inlining call to all\.\(\*Pool\[.*\]\)\.All`,
		"atomic loads": `inline\.go:\d+:\d+: inlining call to atomic\.\(\*Uint64\)\.Load`,
		"slot words":   `limbo\.go:\d+:\d+: inlining call to shard\.Vacated`,
		"hints":        `inlining call to hint\.Goroutine`,

		"an index in dense":      `dense/lookup\.go:\d+:\d+: inlining call to shard\.Low`,
		"a generation in dense":  `dense/lookup\.go:\d+:\d+: inlining call to shard\.Generation`,
		"a handle made by dense": `dense/create\.go:\d+:\d+: inlining call to shard\.Pack`,
		"a next handle in dense": `dense/closeup\.go:\d+:\d+: inlining call to shard\.Reborn`,
	} {
		require.True(t, regexp.MustCompile(said).Match(out), "%s is not put into its caller", what)
	}
}
