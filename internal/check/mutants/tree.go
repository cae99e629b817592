package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// findRoot returns the directory of the module that the working directory lies in.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod here or above")
		}
		dir = up
	}
}

// copyTree copies what a build of the tests reads of the module at root: its Go
// files, go.mod and go.sum. Of the tests it takes those of packages, benchmarks aside,
// and of package pool those that explore. The others would be built for nothing, and somebody may
// be in the middle of writing one. Modules inside the module, and directories that
// Go ignores, stay behind.
func copyTree(root, to string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone since its directory was read; if it matters, the build says so
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && ignored(path, d.Name()) {
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		}
		if !d.Type().IsRegular() || !wanted(filepath.ToSlash(rel)) {
			return nil
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o666)
	})
}

var (
	// explorerFile is a file of tests that explore, explorerTest one of these or
	// what they need.
	explorerFile = regexp.MustCompile(`^interleave(_\w+)?_test\.go$`)
	explorerTest = regexp.MustCompile(`^(interleave(_\w+)?|export)_test\.go$`)
	benchmark    = regexp.MustCompile(`^(bench|baseline)_test\.go$`)
)

// wanted answers whether the file name, a path from the module's root, is copied.
func wanted(name string) bool {
	switch {
	case name == "go.mod" || name == "go.sum":
		return true
	case strings.HasSuffix(name, "_test.go"):
		pkg, base := path.Split(name)
		pkg = path.Clean(pkg)
		return slices.Contains(packages, pkg) && !benchmark.MatchString(base) || pkg == poolPackage && explorerTest.MatchString(base)
	}
	return strings.HasSuffix(name, ".go")
}

// ignored answers whether the directory at path is no part of the module.
func ignored(path, name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

// hideTests writes, beside the copy, an overlay in which it has no ordinary tests, so
// that they are not built where schedules are explored.
func hideTests(tree string) error {
	var overlay struct{ Replace map[string]string }
	overlay.Replace = make(map[string]string)
	for _, pkg := range packages {
		files, err := filepath.Glob(filepath.Join(tree, pkg, "*_test.go"))
		if err != nil {
			return err
		}
		for _, file := range files {
			if !explorerTest.MatchString(filepath.Base(file)) {
				overlay.Replace[file] = ""
			}
		}
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		return err
	}
	return os.WriteFile(overlayOf(tree), text, 0o666)
}

func overlayOf(tree string) string { return tree + ".json" }

// writeFiles writes files, by their names in the tree at root.
func writeFiles(root string, files map[string]string) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
