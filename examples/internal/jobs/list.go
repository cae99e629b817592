package jobs

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
	"slices"
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

	DepOnly bool // imported, but not named by a pattern
}

// listedFields are the fields of listed. go list is several times faster if asked for
// these only.
const listedFields = "ImportPath,Dir,GoFiles,Imports,ImportMap,DepOnly"

// list asks go list for the packages that the patterns match and for everything that they
// import. An error of go list, such as an unknown package or an import cycle, is returned
// in its own words. Its warnings, such as a pattern without matches, go to warnings.
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
	switch err := cmd.Run(); {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("go list: %w\n%s", err, strings.TrimSpace(stderr.String()))
	}
	if _, err := stderr.WriteTo(warnings); err != nil {
		return nil, err
	}
	packages, err := decode(&stdout)
	// A package may be named that has only tests, or files for another platform.
	if err == nil && !slices.ContainsFunc(packages, func(p listed) bool { return !p.DepOnly && len(p.GoFiles) > 0 }) {
		err = fmt.Errorf("nothing to check in %s", strings.Join(patterns, " "))
	}
	return packages, err
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
		if p.ImportPath != "unsafe" { // its file is documentation
			packages = append(packages, p)
		}
	}
}
