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
	row     int    // of the table in rows.go; 0 if it is our own
	attacks string // the invariant, publication, lemma or promise that it breaks
	edits   []edit
	by      []string // scenarios that should kill it, the quickest first
	quick   bool     // part of -short
}

// edit is one change of a file: old must occur in it exactly once.
type edit struct {
	file     string
	old, new string
}

// seeds are all seeds.
var seeds = slices.Concat(epochSeeds, cellSeeds, freelistSeeds, limboSeeds, reclaimSeeds, freshSeeds, queueSeeds, poolSeeds, workerSeeds, holdSeeds, trimSeeds, snapshotSeeds)

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
