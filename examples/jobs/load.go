package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// listed is go list's output for one package. The field names are go list's.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string // without tests, for this platform
	Imports    []string // import paths, without duplicates

	// ImportMap maps paths in the files to import paths, if they differ, as they do for
	// vendored packages.
	ImportMap map[string]string

	DepOnly bool                        // imported, but not named by a pattern
	Module  *struct{ GoVersion string } // nil in the standard library
	Error   *struct{ Err string }
}

// listedFields are the fields of listed. go list is several times faster if asked for
// these only.
const listedFields = "ImportPath,Dir,GoFiles,Imports,ImportMap,DepOnly,Module,Error"

// list asks go list for the packages that the patterns match and for everything that they
// import. An error of go list, such as an unknown package, a pattern without matches or
// an import cycle, is returned in its own words. Its warnings are written to warnings.
//
// The alternative, go/build and a walk over the imports, supports neither modules nor
// vendored packages; x/tools/go/packages calls go list as well.
func list(ctx context.Context, patterns []string, warnings io.Writer) ([]listed, error) {
	args := append([]string{"list", "-deps", "-json=" + listedFields, "--"}, patterns...)
	cmd := exec.CommandContext(ctx, "go", args...)
	// Without cgo every package is plain Go, which is all that go/types reads. The
	// platform is explicit, so that sizes and files are of the same one.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+build.Default.GOOS, "GOARCH="+build.Default.GOARCH)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second // for a grandchild that keeps the pipes open after go list ends
	err := cmd.Run()
	// A progress line of the go command ("go: downloading …") may precede the reason; it
	// is kept.
	said := strings.TrimSpace(stderr.String())
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && said != "":
		return nil, fmt.Errorf("go list: %s", said)
	case err != nil:
		return nil, fmt.Errorf("go list: %w", err)
	}

	packages, err := decode(&stdout)
	if err != nil {
		return nil, err
	}
	if !anyFiles(packages) {
		if said == "" {
			said = "only tests, or files for other platforms or for cgo"
		}
		return nil, fmt.Errorf("nothing to check in %s: %s", strings.Join(patterns, " "), said)
	}
	if said != "" {
		fmt.Fprintln(warnings, said)
	}
	return packages, nil
}

// decode reads the stream of JSON objects that go list writes.
func decode(r io.Reader) ([]listed, error) {
	var packages []listed
	for d := json.NewDecoder(r); ; {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading go list's output: %w", err)
		}
		if p.Error != nil {
			return nil, fmt.Errorf("package %s: %s", p.ImportPath, strings.TrimSpace(p.Error.Err))
		}
		packages = append(packages, p)
	}
}

// anyFiles reports whether a package that was named, not only imported, has Go files.
func anyFiles(packages []listed) bool {
	for i := range packages {
		if !packages[i].DepOnly && len(packages[i].GoFiles) > 0 {
			return true
		}
	}
	return false
}
