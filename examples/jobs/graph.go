package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// unit is one package of the graph. It is complete before the first worker starts and
// never changes after, so any goroutine may read it, and a second run may use the same
// graph. The results of a run are in the checker, at the unit's index.
type unit struct {
	index     int    // its index in the graph
	path      string // import path
	goVersion string // language version, as in "go1.24"; empty: the newest
	files     []string
	imports   []*unit          // without duplicates
	bySpell   map[string]*unit // the same by the path in the files
}

// connect makes the graph from the output of go list, and refuses a graph with a cycle.
// go list itself refuses import cycles, but the scheduler would wait for ever on one, so
// it is checked here as well.
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
			return fmt.Errorf("package %s imports %s, which go list did not return", u.path, path)
		}
		u.imports = append(u.imports, v)
		u.bySpell[path] = v
	}
	// Files of the standard library that import golang.org/x/… mean a package under
	// vendor/golang.org/x. Other paths mean themselves and are not in the map.
	for spelt, path := range p.ImportMap {
		if v, ok := byPath[path]; ok {
			u.bySpell[spelt] = v
		}
	}
	return nil
}

// findCycle returns the import paths along one cycle of the graph, the first of them
// again at the end, or nil if there is no cycle.
//
// It is a depth-first search that visits each unit once. A unit that is reached from one
// of its own imports closes a cycle, which is the end of the current path from that unit
// on.
func findCycle(units []*unit) []string {
	const (
		onPath = iota + 1 // an importer of the unit being visited
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
