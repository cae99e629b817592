//go:build !race

package comments_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A slot's address is computed in one way (unsafe register, U2). It is spelt out wherever the
// compiler would not inline a call, so this test compares the copies.
var (
	address = regexp.MustCompile(`unsafe\.Add\(\*\(\*unsafe\.Pointer\)\(unsafe\.Add\((?:t\.Array|array), uint64\(i\)\*(?:t\.Inverse|inverse)>>32\*pointerSize\)\), ` +
		`uintptr\(i&(?:t\.Mask|mask)\)\*(t\.size|unsafe\.Sizeof\((?:slots\.)?Slot\[T\]\{\}\)-unsafe\.Offsetof\((?:slots\.)?Slot\[T\]\{\}\.Hook\))\)`)
	begun = regexp.MustCompile(`\* ?(?:\w+\.Inverse|inverse) ?>>`) // each multiplies by it
	space = regexp.MustCompile(`\s+`)
)

func TestSlotsAddressIsComputedInOneWay(t *testing.T) {
	x := read(t)
	n := 0
	for path := range x.comments {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		src := space.ReplaceAllString(text(t, path), " ")
		of := len(address.FindAllString(src, -1))
		require.Len(t, begun.FindAllString(src, -1), of, "%s computes a slot's address in another way", path)
		n += of
	}
	require.Equal(t, 7, n, "places that compute the address of a slot")
}
