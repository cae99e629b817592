//go:build interleave

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The pictures in docs are what the program draws now, and walk.md shows each of them.
func TestPicturesAreOfTheCode(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	text, err := os.ReadFile(filepath.Join(docs, "walk.md"))
	require.NoError(t, err)
	ps := pictures()
	for _, p := range ps {
		file := "walk-" + p.name + ".svg"
		drawn, err := os.ReadFile(filepath.Join(docs, file))
		require.NoError(t, err)
		require.True(t, p.svg() == string(drawn), "%s is out of date: go run -tags interleave ./internal/walk", file)
		require.Contains(t, string(text), "("+file+")")
	}
	require.Equal(t, len(ps), strings.Count(string(text), "(walk-"), "pictures that are not drawn")
}
