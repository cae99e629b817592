//go:build interleave

// Walk draws the pictures of docs/walk.md:
//
//	go run -tags interleave ./internal/walk
//
// Each step of a picture is an operation of the real code, on an arena with pages and
// batches of two slots. The picture is drawn from its words. A step states what it must
// show, and nothing is drawn if it does not.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	for _, p := range pictures() {
		if err := os.WriteFile(filepath.Join("docs", "walk-"+p.name+".svg"), []byte(p.svg()), 0o666); err != nil {
			fmt.Fprintln(os.Stderr, "walk:", err)
			os.Exit(1)
		}
	}
}
