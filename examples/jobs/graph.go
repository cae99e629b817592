package main

import (
	"fmt"
	"path/filepath"
)

// unit is one package of the graph. It is complete before the first worker starts and
// never changes after, so any goroutine may read it, and a second run may use the same
// graph. The results of a run are in the checker, at the unit's index.
type unit struct {
	index   int    // its index in the graph
	path    string // import path
	files   []string
	imports []*unit          // without duplicates
	bySpell map[string]*unit // the same by the path in the files
}

// connect makes the graph from the output of go list, which has refused import cycles.
func connect(packages []listed) ([]*unit, error) {
	units := make([]*unit, len(packages))
	byPath := make(map[string]*unit, len(packages))
	for i := range packages {
		p := &packages[i]
		u := &unit{index: i, path: p.ImportPath}
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
