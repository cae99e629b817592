package main

import (
	"fmt"
	"go/types"
	"maps"
	"os"
	"reflect"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
)

// A driver runs analyzers on packages. It runs those with facts on each dependency once, whatever is
// deleted in packages above it.
type driver struct {
	facts map[factKey]fact
	done  map[*packages.Package]bool // packages whose facts are known
}

type factKey struct {
	obj types.Object
	typ reflect.Type
}

type fact = analysis.Fact

// diagnose returns what analyzers say of a package.
func (d *driver) diagnose(analyzers []*analysis.Analyzer, pkg *packages.Package) (said map[string]bool, err error) {
	for _, p := range pkg.Imports {
		if err := d.dependency(analyzers, p); err != nil {
			return nil, err
		}
	}
	r := &round{driver: d, pkg: pkg, facts: maps.Clone(d.facts), results: map[*analysis.Analyzer]any{}, said: map[string]bool{}}
	for _, a := range analyzers {
		if err := r.run(a); err != nil {
			return nil, err
		}
	}
	return r.said, nil
}

// dependency finds the facts of a package and of those below it.
func (d *driver) dependency(analyzers []*analysis.Analyzer, pkg *packages.Package) error {
	if d.done[pkg] {
		return nil
	}
	d.done[pkg] = true
	for _, p := range pkg.Imports {
		if err := d.dependency(analyzers, p); err != nil {
			return err
		}
	}
	r := &round{driver: d, pkg: pkg, facts: d.facts, results: map[*analysis.Analyzer]any{}, said: map[string]bool{}}
	for _, a := range analyzers {
		if err := r.factual(a); err != nil {
			return err
		}
	}
	return nil
}

// A round runs analyzers on one package.
type round struct {
	*driver
	pkg     *packages.Package
	facts   map[factKey]fact
	results map[*analysis.Analyzer]any
	said    map[string]bool
}

// factual runs the analyzers that have facts, among a and what it requires.
func (r *round) factual(a *analysis.Analyzer) error {
	if len(a.FactTypes) > 0 {
		return r.run(a)
	}
	for _, b := range a.Requires {
		if err := r.factual(b); err != nil {
			return err
		}
	}
	return nil
}

func (r *round) run(a *analysis.Analyzer) (err error) {
	if _, done := r.results[a]; done {
		return nil
	}
	pass := &analysis.Pass{
		Analyzer: a, Fset: r.pkg.Fset, Files: r.pkg.Syntax, Pkg: r.pkg.Types, TypesInfo: r.pkg.TypesInfo,
		TypesSizes: r.pkg.TypesSizes, Module: &analysis.Module{}, ResultOf: map[*analysis.Analyzer]any{}, ReadFile: os.ReadFile,
		Report: func(x analysis.Diagnostic) {
			pos := r.pkg.Fset.Position(x.Pos)
			r.said[fmt.Sprintf("%s:%d: %s", pos.Filename, pos.Line, x.Message)] = true
		},
		ExportObjectFact: func(obj types.Object, f fact) { r.facts[factKey{obj, reflect.TypeOf(f)}] = f },
		ImportObjectFact: func(obj types.Object, f fact) bool {
			found, ok := r.facts[factKey{obj, reflect.TypeOf(f)}]
			if ok {
				reflect.ValueOf(f).Elem().Set(reflect.ValueOf(found).Elem())
			}
			return ok
		},
	}
	for _, b := range a.Requires {
		if err := r.run(b); err != nil {
			return err
		}
		pass.ResultOf[b] = r.results[b]
	}
	r.results[a], err = a.Run(pass)
	return err
}
