package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"time"
)

// checker is the work of one run: it parses and type-checks packages, and keeps the
// results. Each element of its slices has one writer, and is read only by jobs that the
// scheduler runs after that writer. So they need no lock.
type checker struct {
	fset    *token.FileSet // has its own lock
	sizes   types.Sizes
	syntax  [][]*ast.File    // by unit, by file: written by the file's parse, dropped by the unit's check
	lines   [][]int          // by unit, by file: written by the file's parse
	checked []*types.Package // by unit: written by its check, read by those of its importers
	done    func(u *unit, lines int, took time.Duration)
}

// newChecker makes the checker for one run over the units. It calls done, on any
// goroutine, for each package that has been checked.
func newChecker(units []*unit, done func(u *unit, lines int, took time.Duration)) *checker {
	c := &checker{
		fset:    token.NewFileSet(),
		sizes:   types.SizesFor("gc", build.Default.GOARCH),
		syntax:  make([][]*ast.File, len(units)),
		lines:   make([][]int, len(units)),
		checked: make([]*types.Package, len(units)),
		done:    done,
	}
	for i, u := range units {
		c.syntax[i] = make([]*ast.File, len(u.files))
		c.lines[i] = make([]int, len(u.files))
	}
	return c
}

// parse reads one file of u.
func (c *checker) parse(u *unit, file int) error {
	source, err := os.ReadFile(u.files[file])
	if err != nil {
		return err
	}
	// go/types does not use the objects that the parser can resolve.
	tree, err := parser.ParseFile(c.fset, u.files[file], source, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("package %s: %w", u.path, err)
	}
	c.syntax[u.index][file] = tree
	c.lines[u.index][file] = bytes.Count(source, []byte("\n"))
	return nil
}

// check type-checks u against the packages that it imports.
func (c *checker) check(u *unit) error {
	start := time.Now()
	if u.path == "unsafe" {
		c.checked[u.index] = types.Unsafe
	} else {
		var found typeErrors
		config := types.Config{
			GoVersion: u.goVersion,
			Importer:  importer{c, u},
			Sizes:     c.sizes,
			Error:     func(err error) { found.errs = append(found.errs, err) },
		}
		// With an Error function, Check continues after an error and returns the first;
		// found has all of them.
		p, err := config.Check(u.path, c.fset, c.syntax[u.index], nil)
		if err != nil {
			found.path = u.path
			return &found
		}
		c.checked[u.index] = p
	}
	c.syntax[u.index] = nil
	c.done(u, sum(c.lines[u.index]), time.Since(start))
	return nil
}

// totalLines counts the lines of the parsed files. Call it after the run.
func (c *checker) totalLines() (lines int) {
	for i := range c.lines {
		lines += sum(c.lines[i])
	}
	return lines
}

// sum adds up numbers.
func sum(ns []int) (total int) {
	for _, n := range ns {
		total += n
	}
	return total
}

// importer finds the packages that one unit imports among the checked ones. It looks them
// up by the path in the unit's files, which for a vendored package is not its import
// path.
type importer struct {
	*checker
	unit *unit
}

func (i importer) Import(spelt string) (*types.Package, error) {
	u, ok := i.unit.bySpell[spelt]
	if !ok {
		return nil, fmt.Errorf("go list names no such import of %s", i.unit.path)
	}
	return i.checked[u.index], nil
}

// typeErrors are the errors in one package.
type typeErrors struct {
	path string
	errs []error
}

// mostErrors is how many errors of a package are printed; the compiler also stops at ten.
const mostErrors = 10

func (e *typeErrors) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s has type errors:", e.path)
	for _, err := range e.errs[:min(len(e.errs), mostErrors)] {
		fmt.Fprintf(&b, "\n\t%v", err)
	}
	if more := len(e.errs) - mostErrors; more > 0 {
		fmt.Fprintf(&b, "\n\tand %d more", more)
	}
	return b.String()
}

func (e *typeErrors) Unwrap() []error { return e.errs }
