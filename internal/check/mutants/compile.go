package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// compiler type-checks mutants under one set of build tags, which takes a hundredth of the time to
// build them. It looks at the packages that a mutant changes, and not at those that import them.
type compiler struct {
	root   string
	fset   *token.FileSet
	source types.ImporterFrom
	known  map[string]*types.Package // by path
}

// newCompiler returns one for the tree at root. It changes go/build's context, so only the last
// one may be used.
func newCompiler(root, tags string) *compiler {
	build.Default.BuildTags, build.Default.CgoEnabled = []string{tags}, false
	if out, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		build.Default.GOROOT = strings.TrimSpace(string(out)) // a test that is built with -trimpath does not know it
	}
	fset := token.NewFileSet()
	return &compiler{root, fset, importer.ForCompiler(fset, "source", nil).(types.ImporterFrom), map[string]*types.Package{}}
}

// Import imports a package of the unmutated tree, or another.
func (c *compiler) Import(path string) (p *types.Package, err error) {
	if c.known[path] == nil {
		c.known[path], err = c.source.ImportFrom(path, c.root, 0) // asks the go command each time
	}
	return c.known[path], err
}

// compile type-checks the packages of the files in after, with these instead of the tree's. Each
// must be part of a build.
func (c *compiler) compile(after map[string]string) error {
	for name := range after {
		dir := filepath.Join(c.root, filepath.Dir(name))
		pkg, err := build.ImportDir(dir, 0)
		if err != nil {
			return err
		}
		if !slices.Contains(pkg.GoFiles, filepath.Base(name)) {
			return fmt.Errorf("the build of its killer has no %s", name)
		}
		var files []*ast.File
		for _, file := range pkg.GoFiles {
			var text any // nil: the file's own
			if mutated, ok := after[filepath.Join(filepath.Dir(name), file)]; ok {
				text = mutated
			}
			f, err := parser.ParseFile(c.fset, filepath.Join(dir, file), text, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		if _, err := (&types.Config{Importer: c}).Check(dir, c.fset, files, nil); err != nil {
			return err
		}
	}
	return nil
}
