package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// unit is one package of the graph. It is complete before the first worker
// starts and never changes after, so that any goroutine may read it, and a
// second run may start from the same graph. What a run finds out about a
// package stands in the checker, at the unit's index.
type unit struct {
	index     int    // its place in the graph
	path      string // import path
	goVersion string // language version, as in "go1.24"; empty: the newest
	files     []string
	imports   []*unit          // each one once
	bySpell   map[string]*unit // the same by the path that the files spell
}

// connect makes the graph of what go list gave, and refuses one that no order
// can satisfy. go list itself refuses import cycles; but a scheduler whose jobs
// wait for each other must not trust the hand that feeds it.
func connect(packages []listed) ([]*unit, error) {
	units := make([]*unit, len(packages))
	byPath := make(map[string]*unit, len(packages))
	for i := range packages {
		p := &packages[i]
		u := &unit{index: i, path: p.ImportPath}
		if p.Module != nil && p.Module.GoVersion != "" {
			u.goVersion = "go" + p.Module.GoVersion
		}
		// The compiler knows package unsafe; its file is documentation.
		if p.ImportPath != "unsafe" {
			for _, name := range p.GoFiles {
				u.files = append(u.files, filepath.Join(p.Dir, name))
			}
		}
		units[i], byPath[u.path] = u, u
	}
	for i := range packages {
		if err := units[i].resolve(&packages[i], byPath); err != nil {
			return nil, err
		}
	}
	if cycle := findCycle(units); cycle != nil {
		return nil, fmt.Errorf("import cycle: %s", strings.Join(cycle, " → "))
	}
	return units, nil
}

// resolve finds the units that u imports.
func (u *unit) resolve(p *listed, byPath map[string]*unit) error {
	u.bySpell = make(map[string]*unit, len(p.Imports))
	for _, path := range p.Imports {
		v, ok := byPath[path]
		if !ok {
			return fmt.Errorf("package %s imports %s, which go list did not give", u.path, path)
		}
		u.imports = append(u.imports, v)
		u.bySpell[path] = v
	}
	// Files of the standard library spell golang.org/x/… and mean a package
	// under vendor/golang.org/x; what is not in the map is spelt as it is.
	for spelt, path := range p.ImportMap {
		if v, ok := byPath[path]; ok {
			u.bySpell[spelt] = v
		}
	}
	return nil
}

// findCycle gives the import paths along one cycle of the graph, the first of
// them once more at the end, or nil when there is no cycle.
//
// It is a depth-first search that visits each unit once: a unit that is met
// while its own imports are being looked at closes a cycle, which is the end of
// the path from there.
func findCycle(units []*unit) []string {
	const (
		onPath = iota + 1 // an importer of what is looked at now
		clear             // no cycle can be reached from it
	)
	state := make(map[*unit]int, len(units))
	var path []string
	var visit func(u *unit) bool
	visit = func(u *unit) bool {
		switch state[u] {
		case clear:
			return false
		case onPath:
			path = append(path[slices.Index(path, u.path):], u.path)
			return true
		}
		state[u] = onPath
		path = append(path, u.path)
		if slices.ContainsFunc(u.imports, visit) {
			return true
		}
		path = path[:len(path)-1]
		state[u] = clear
		return false
	}
	if slices.ContainsFunc(units, visit) {
		return path
	}
	return nil
}
