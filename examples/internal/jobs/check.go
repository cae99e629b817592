package jobs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
)

// Checker is the work of one run in this process: it parses and type-checks packages, and
// keeps the results. Each element of its slices has one writer, and is read only by jobs that
// the scheduler runs after that writer. So they need no lock.
type Checker struct {
	fset    *token.FileSet   // has its own lock
	syntax  [][]*ast.File    // by unit, by file: written by the file's Parse, dropped by the unit's Check
	checked []*types.Package // by unit: written by its Check, read by those of its importers
}

// NewChecker makes the checker for one run over the units.
func NewChecker(units []*Unit) *Checker {
	c := &Checker{token.NewFileSet(), make([][]*ast.File, len(units)), make([]*types.Package, len(units))}
	for i, u := range units {
		c.syntax[i] = make([]*ast.File, len(u.Files))
	}
	return c
}

// Parse reads and parses one file of u.
func (c *Checker) Parse(u *Unit, file int) error {
	source, err := os.ReadFile(u.Files[file])
	if err != nil {
		return err
	}
	c.syntax[u.Index][file], err = ParseFile(c.fset, u.Path, u.Files[file], source)
	return err
}

// Check type-checks u against the packages that it imports.
func (c *Checker) Check(_ context.Context, u *Unit) error {
	imports := make(Imports, len(u.BySpell))
	for spelt, v := range u.BySpell {
		imports[spelt] = c.checked[v.Index]
	}
	p, err := CheckFiles(c.fset, u.Path, build.Default.GOARCH, c.syntax[u.Index], imports)
	c.checked[u.Index], c.syntax[u.Index] = p, nil
	return err
}

// Digests returns the digest of each package, by unit. Call it after the run.
func (c *Checker) Digests() []string {
	digests := make([]string, len(c.checked))
	for i, p := range c.checked {
		digests[i] = Digest(p)
	}
	return digests
}

// ParseFile parses one file of a package.
func ParseFile(fset *token.FileSet, path, file string, source []byte) (*ast.File, error) {
	// go/types does not use the objects that the parser can resolve.
	tree, err := parser.ParseFile(fset, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", path, err)
	}
	return tree, nil
}

// CheckFiles type-checks a package for an architecture. It returns the first errors together,
// ten at most, as the compiler does.
func CheckFiles(fset *token.FileSet, path, arch string, files []*ast.File, imports Imports) (*types.Package, error) {
	var found []error
	config := types.Config{
		Importer: imports,
		Sizes:    types.SizesFor("gc", arch),
		Error:    func(err error) { found = append(found, err) },
	}
	p, err := config.Check(path, fset, files, nil)
	if err != nil {
		return nil, fmt.Errorf("package %s has type errors:\n%w", path, errors.Join(found[:min(len(found), 10)]...))
	}
	return p, nil
}

// Imports has the checked packages that one package imports. The key is the path in the files,
// which for a vendored package is not its import path.
type Imports map[string]*types.Package

// Import implements types.Importer.
func (i Imports) Import(spelt string) (*types.Package, error) {
	if spelt == "unsafe" {
		return types.Unsafe, nil
	}
	if p := i[spelt]; p != nil {
		return p, nil
	}
	return nil, errors.New("go list names no such import")
}

// DigestAll returns a digest of digests.
func DigestAll(digests []string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(digests, "\n"))))
}

// Digest returns a digest of the declarations of p and of their types.
func Digest(p *types.Package) string {
	h := sha256.New()
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		fmt.Fprintln(h, object)
		if named, ok := object.Type().(*types.Named); ok && named.Obj() == object {
			for method := range named.Methods() {
				fmt.Fprintln(h, method)
			}
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
