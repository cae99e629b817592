package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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

// copyTree copies what a build of the scenarios reads of the module at root: its
// Go files, of the tests those in explorerTests alone, go.mod and go.sum. The
// other tests would be built for nothing, and somebody may be in the middle of
// writing one. Modules inside the module, and directories that Go ignores, stay
// behind.
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

// explorerTests are the tests of package pool that explore, with what they need.
var explorerTests = regexp.MustCompile(`^pool/(interleave(_\w+)?|export)_test\.go$`)

// wanted answers whether the file name, a path from the module's root, is copied.
func wanted(name string) bool {
	switch {
	case name == "go.mod" || name == "go.sum":
		return true
	case strings.HasSuffix(name, "_test.go"):
		return explorerTests.MatchString(name)
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

// writeFiles writes files, by their names in the tree at root.
func writeFiles(root string, files map[string]string) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
