//go:build !race

package tree_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
)

// TestLoopsInline: the compiler puts a Reader's loops into their caller, with the body, the look-ups and the
// atomic loads. A function literal that is called once may cost 800 for that; a walk costs almost so much.
func TestLoopsInline(t *testing.T) {
	// Always for amd64: a 32-bit platform makes a call of each 64-bit atomic.
	out := testkit.Compile(t, "amd64", "-m=2", "./testdata/inline")
	inlined := func(at, what string) {
		t.Helper()
		require.True(t, regexp.MustCompile(at+`:\d+:\d+: inlining call to `+what).MatchString(out), "%s is not put into its caller", what)
	}
	for loop, literal := range map[string]string{"children": "walk", "descendants": "walk", "postOrder": "walk", "ancestors": "ancestors"} {
		inlined(`inline\.go`, loop+`\..*\)\.`+literal+`\.func`)
		inlined(`inline\.go`, loop+`-range1`)
	}
	inlined(`inline\.go`, `pool\.\(\*Pool\[.*\]\)\.Pointer`)
	inlined(`inline\.go`, `tree\.\(\*field\[.*\]\)\.embedded`)
	inlined(`inline\.go`, `atomic\.\(\*Uint64\)\.Load`)
	for _, verb := range []string{"Reader", "Forest"} {
		inlined(`inline\.go`, `tree\.\(\*`+verb+`\[.*\]\)\.Next`)
	}
	inlined(`neighbour\.go`, `pool\.\(\*Pool\[.*\]\)\.Pointer`)
	inlined(`neighbour\.go`, `pool\.\(\*Pool\[.*\]\)\.Contains`)
	inlined(`iterate\.go`, `pool\.\(\*Pool\[.*\]\)\.Pointer`)
	inlined(`walk\.go`, `tree\.\(\*field\[.*\]\)\.links`)
}
