package jobs

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
)

// Unit is one package of the graph. It is complete before the first worker starts and
// never changes after, so any goroutine may read it, and a second run may use the same
// graph. The results of a run are in the checker, at the unit's index.
type Unit struct {
	Index   int    // its index in the graph
	Path    string // import path
	Files   []string
	Imports []*Unit          // without duplicates, and without unsafe, which the compiler knows
	BySpell map[string]*Unit // the same by the path in the files
}

// Load lists the packages that the patterns match and everything that they import, and makes
// their graph. Warnings of go list go to warnings.
func Load(ctx context.Context, patterns []string, warnings io.Writer) ([]*Unit, error) {
	packages, err := list(ctx, patterns, warnings)
	if err != nil {
		return nil, err
	}
	return connect(packages)
}

// connect makes the graph from the output of go list, which has refused import cycles, and
// lists a package after all that it imports.
func connect(packages []listed) ([]*Unit, error) {
	units := make([]*Unit, len(packages))
	byPath := make(map[string]*Unit, len(packages))
	for i, p := range packages {
		u := &Unit{Index: i, Path: p.ImportPath, BySpell: make(map[string]*Unit, len(p.Imports))}
		for _, name := range p.GoFiles {
			u.Files = append(u.Files, filepath.Join(p.Dir, name))
		}
		for _, path := range p.Imports {
			v, ok := byPath[path]
			if ok {
				u.Imports = append(u.Imports, v)
				u.BySpell[path] = v
			} else if path != "unsafe" {
				return nil, fmt.Errorf("package %s imports %s, which go list did not return", u.Path, path)
			}
		}
		// Files of the standard library that import golang.org/x/… mean a package under
		// vendor/golang.org/x. Other paths mean themselves and are not in the map.
		for spelt, path := range p.ImportMap {
			if v, ok := byPath[path]; ok {
				u.BySpell[spelt] = v
			}
		}
		units[i], byPath[u.Path] = u, u
	}
	return units, nil
}
