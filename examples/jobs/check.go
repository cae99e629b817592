package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
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
}

// newChecker makes the checker for one run over the units.
func newChecker(units []*unit) *checker {
	c := &checker{
		fset:    token.NewFileSet(),
		sizes:   types.SizesFor("gc", build.Default.GOARCH),
		syntax:  make([][]*ast.File, len(units)),
		lines:   make([][]int, len(units)),
		checked: make([]*types.Package, len(units)),
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

// check type-checks u against the packages that it imports. It returns the first errors of
// a package together, ten at most, as the compiler does.
func (c *checker) check(u *unit) error {
	if u.path == "unsafe" {
		c.checked[u.index] = types.Unsafe
		return nil
	}
	var found []error
	config := types.Config{
		Importer: importer{c, u},
		Sizes:    c.sizes,
		Error:    func(err error) { found = append(found, err) },
	}
	p, err := config.Check(u.path, c.fset, c.syntax[u.index], nil)
	if err != nil {
		return fmt.Errorf("package %s has type errors:\n%w", u.path, errors.Join(found[:min(len(found), 10)]...))
	}
	c.checked[u.index], c.syntax[u.index] = p, nil
	return nil
}

// total counts the parsed files and their lines. Call it after the run.
func (c *checker) total() (files, lines int) {
	for _, of := range c.lines {
		files += len(of)
		for _, n := range of {
			lines += n
		}
	}
	return files, lines
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
