package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgramPrintsTheSameForAnyWorkers: the checksum is the same. Half-way all handles are, and
// the picture shows leaves.
func TestProgramPrintsTheSameForAnyWorkers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meadow.png")
	checksum := func(workers int) string {
		var out bytes.Buffer
		require.NoError(t, play(t.Context(), options{seed: 1, ticks: 40, workers: workers, picture: path}, &out))
		require.Contains(t, out.String(), "handles, live and stale, mean the same")
		_, after, found := strings.Cut(out.String(), "checksum    ")
		require.True(t, found, out.String())
		return after[:16]
	}
	require.Equal(t, checksum(1), checksum(8))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	img, err := png.Decode(f)
	require.NoError(t, err)
	green := 0
	for y := range height {
		for x := range width {
			if r, g, b, _ := img.At(x, y).RGBA(); g > r+r/4 && g > b+b/4 {
				green++
			}
		}
	}
	require.Greater(t, green, 3_000)
}
