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

// listed is what go list says of one package. The fields are go list's own.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string // without tests, for this platform
	Imports    []string // import paths, each once

	// ImportMap leads from what the files spell to an import path, where the
	// two differ, as they do for vendored packages.
	ImportMap map[string]string

	DepOnly bool                        // no pattern named it, another package imports it
	Module  *struct{ GoVersion string } // nil in the standard library
	Error   *struct{ Err string }
}

// listedFields are the fields of listed. go list is several times faster when
// it is not asked for the rest.
const listedFields = "ImportPath,Dir,GoFiles,Imports,ImportMap,DepOnly,Module,Error"

// list asks go list for the packages that the patterns match and for everything
// they import. What go list refuses comes back as an error in its own words: an
// unknown package, a pattern that matches nothing, an import cycle. What it only
// warns of goes to warnings.
//
// The alternative, go/build and a walk over the imports, knows neither modules
// nor vendored packages; x/tools/go/packages calls go list as well.
func list(ctx context.Context, patterns []string, warnings io.Writer) ([]listed, error) {
	args := append([]string{"list", "-deps", "-json=" + listedFields, "--"}, patterns...)
	cmd := exec.CommandContext(ctx, "go", args...)
	// Without cgo every package is plain Go, which is all that go/types reads.
	// The platform is said aloud, for sizes and files have to be of the same.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+build.Default.GOOS, "GOARCH="+build.Default.GOARCH)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second // for a grandchild that keeps the pipes when go list is gone
	err := cmd.Run()
	// A progress line of go's own ("go: downloading …") may stand in front of
	// the reason; it is passed on with it.
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
			return nil, fmt.Errorf("reading go list's answer: %w", err)
		}
		if p.Error != nil {
			return nil, fmt.Errorf("package %s: %s", p.ImportPath, strings.TrimSpace(p.Error.Err))
		}
		packages = append(packages, p)
	}
}

// anyFiles tells whether a package that was named, not only imported, has Go
// files.
func anyFiles(packages []listed) bool {
	for i := range packages {
		if !packages[i].DepOnly && len(packages[i].GoFiles) > 0 {
			return true
		}
	}
	return false
}
