package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/build"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
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
// their graph. An error of go list, such as an unknown package or an import cycle, is returned
// in its own words. Its warnings, such as a pattern without matches, go to warnings.
//
// The alternative, go/build and a walk over the imports, supports neither modules nor
// vendored packages; x/tools/go/packages calls go list as well.
func Load(ctx context.Context, patterns []string, warnings io.Writer) ([]*Unit, error) {
	// It is several times faster if asked for these fields only.
	args := append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,Imports,ImportMap", "--"}, patterns...)
	cmd := exec.CommandContext(ctx, "go", args...)
	// Without cgo every package is plain Go, which is all that go/types reads. The
	// platform is explicit, so that sizes and files are of the same one.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+build.Default.GOOS, "GOARCH="+build.Default.GOARCH)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second // for a grandchild that keeps the pipes open after go list ends
	switch err := cmd.Run(); {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("go list: %w\n%s", err, strings.TrimSpace(stderr.String()))
	}
	if _, err := stderr.WriteTo(warnings); err != nil {
		return nil, err
	}
	units, err := connect(&stdout)
	// A package may be named that has only tests.
	if err == nil && !slices.ContainsFunc(units, func(u *Unit) bool { return len(u.Files) > 0 }) {
		err = fmt.Errorf("nothing to check in %s", strings.Join(patterns, " "))
	}
	return units, err
}

// connect makes the graph from the stream of JSON objects that go list writes. It has refused
// import cycles, and writes a package after all that it imports.
func connect(output io.Reader) ([]*Unit, error) {
	var units []*Unit
	byPath := map[string]*Unit{}
	for d := json.NewDecoder(output); d.More(); {
		var p struct {
			ImportPath, Dir string
			GoFiles         []string          // without tests, for this platform
			Imports         []string          // import paths, without duplicates
			ImportMap       map[string]string // import paths, by the paths in the files that differ from them
		}
		if err := d.Decode(&p); err != nil {
			return nil, fmt.Errorf("reading go list's output: %w", err)
		}
		if p.ImportPath == "unsafe" { // its file is documentation
			continue
		}
		u := &Unit{Index: len(units), Path: p.ImportPath, BySpell: map[string]*Unit{}}
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
		// vendor/golang.org/x.
		for spelt, path := range p.ImportMap {
			if v, ok := byPath[path]; ok {
				u.BySpell[spelt] = v
			}
		}
		units, byPath[u.Path] = append(units, u), u
	}
	return units, nil
}
