package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
)

var scenarioName = regexp.MustCompile(`(?m)^\t\{"([^"]+)", func\(w \*world\) \{$`)

// scenarios returns the names of the scenarios in the tree at root, as they are
// written in its sources.
func scenarios(root string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(root, "pool", "interleave_scenarios*_test.go"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, m := range scenarioName.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	if len(names) == 0 {
		return nil, errors.New("no scenarios in pool/interleave_scenarios*_test.go")
	}
	return names, nil
}
