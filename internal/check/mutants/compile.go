package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// program is the packages that some tests need, under one set of build tags. Mutants are
// type-checked against it, which takes a hundredth of the time to build them.
type program struct {
	root     string
	packages map[string]*listed // by path
	of       map[string]string  // the package of a file, or of a folder
	fset     *token.FileSet
	exported types.Importer
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles, Deps           []string
}

// newProgram builds the packages in some folders of the tree at root.
func newProgram(root, tags string, folders []string) (*program, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-trimpath", "-tags", tags, "-json=ImportPath,Dir,Export,GoFiles,Deps")
	for _, folder := range folders {
		cmd.Args = append(cmd.Args, "./"+folder)
	}
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(cmd.Environ(), environment...)
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	p := &program{root: root, packages: map[string]*listed{}, of: map[string]string{}, fset: token.NewFileSet()}
	for all := json.NewDecoder(bytes.NewReader(text)); all.More(); {
		l := new(listed)
		if err := all.Decode(l); err != nil {
			return nil, err
		}
		p.packages[l.ImportPath] = l
		if l.Dir, err = filepath.Rel(root, l.Dir); err != nil {
			return nil, err
		}
		for _, file := range append(l.GoFiles, "") {
			p.of[filepath.Join(l.Dir, file)] = l.ImportPath
		}
	}
	p.exported = importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(p.packages[path].Export)
	})
	return p, nil
}

// importing is a types.Importer.
type importing func(path string) (*types.Package, error)

func (f importing) Import(path string) (*types.Package, error) { return f(path) }

// compile type-checks the package in a folder and those that it imports, with the files in
// after in place of the tree's. Each of these must be part of one.
func (p *program) compile(folder string, after map[string]string) error {
	var changed []string // packages
	for name := range after {
		changed = append(changed, p.of[name])
	}
	isChanged := func(path string) bool { return slices.Contains(changed, path) }
	top := p.of[folder]
	for _, path := range changed {
		if path != top && !slices.Contains(p.packages[top].Deps, path) {
			return errors.New("it changes what the tests of its killer do not use")
		}
	}
	checked := map[string]*types.Package{}
	var load importing
	load = func(path string) (*types.Package, error) {
		l := p.packages[path]
		switch {
		case l == nil || !isChanged(path) && !slices.ContainsFunc(l.Deps, isChanged):
			return p.exported.Import(path)
		case checked[path] != nil:
			return checked[path], nil
		}
		var files []*ast.File
		for _, file := range l.GoFiles {
			name := filepath.Join(l.Dir, file)
			var text any // nil: the file's own
			if mutated, ok := after[name]; ok {
				text = mutated
			}
			f, err := parser.ParseFile(p.fset, filepath.Join(p.root, name), text, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
		is, err := (&types.Config{Importer: load}).Check(path, p.fset, files, nil)
		checked[path] = is
		return is, err
	}
	_, err := load(top)
	return err
}
