package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// seed is one bug.
type seed struct {
	name    string
	in      string // the package whose tests must notice; "" is pool
	row     int    // of the table in rows.go; 0 if it is our own
	attacks string // the invariant, publication, lemma or promise that it breaks
	edits   []edit
	by      []string // scenarios that should kill it, the quickest first
	tests   []string // ordinary tests that should, where schedules do not matter
	ends    kind     // how they end if the bug breaks no invariant: stuck or panics
	quick   bool     // part of -short
}

// edit is one change of a file: old must occur in it exactly once.
type edit struct {
	file     string
	old, new string
}

// seeds are all seeds.
var seeds = slices.Concat(epochSeeds, cellSeeds, markSeeds, freelistSeeds, limboSeeds, reclaimSeeds, freshSeeds, queueSeeds, claimSeeds, chainSeeds, poolSeeds, magazineSeeds, holdSeeds, releaseSeeds, trimSeeds, snapshotSeeds,
	denseSeeds, treeSeeds, commandSeeds)

// pkg is the package whose tests must notice s.
func (s *seed) pkg() string {
	if s.in == "" {
		return poolPackage
	}
	return s.in
}

// kills answers whether a scenario or a test that ends so kills s.
func (s *seed) kills(k kind) bool {
	if s.ends != "" {
		return k == s.ends
	}
	return k == broken || k == failed
}

// mutate returns the files that s changes, as they are and as s makes them. The
// edits of one file are applied in order.
func (s *seed) mutate(root string) (before, after map[string]string, err error) {
	before, after = make(map[string]string), make(map[string]string)
	for _, e := range s.edits {
		text, ok := after[e.file]
		if !ok {
			data, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return nil, nil, err
			}
			text = string(data)
			before[e.file] = text
		}
		if n := strings.Count(text, e.old); n != 1 {
			return nil, nil, fmt.Errorf("this text occurs %d times in %s; want once:\n%s", n, e.file, e.old)
		}
		after[e.file] = strings.Replace(text, e.old, e.new, 1)
	}
	return before, after, nil
}
