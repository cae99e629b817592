package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// published returns the folders of the modules that others may require, the module's own first.
func published(root string) (dirs []string, err error) {
	files, err := git(root, "ls-files", "-z", "go.mod", "*/go.mod")
	dirs = []string{"."}
	for _, file := range list(files) {
		if dir := path.Dir(file); dir != "." && !strings.Contains("/"+dir, "/internal/") {
			dirs = append(dirs, dir)
		}
	}
	return dirs, err
}

// tagsOf returns the tags of a version of the modules in dirs.
func tagsOf(root string, dirs []string, version string) (tags []string, err error) {
	prefix, err := git(root, "rev-parse", "--show-prefix") // the clone may be a folder of an outer repository
	for _, dir := range dirs {
		tags = append(tags, path.Join(strings.TrimSpace(prefix), dir, version))
	}
	return tags, err
}

// check returns an error that tells what keeps the commit that is checked out at root from being
// the version of the module of that path: a module with another path, one that requires another
// version, or a tag that is missing or names another commit.
func check(root, modulePath, version string) error {
	if err := valid(modulePath, version); err != nil {
		return err
	}
	dirs, err := published(root)
	if err != nil {
		return err
	}
	tags, err := tagsOf(root, dirs, version)
	if err != nil {
		return err
	}
	head, err := git(root, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	for i, dir := range dirs {
		err = errors.Join(err, checkModule(root, dir, modulePath, version))
		switch commit, wrong := git(root, "for-each-ref", "--format=%(*objectname)%(objectname)", "refs/tags/"+tags[i]); {
		case wrong != nil:
			err = errors.Join(err, wrong)
		case commit == "":
			err = errors.Join(err, fmt.Errorf("there is no tag %s", tags[i]))
		case !strings.HasPrefix(commit, strings.TrimSpace(head)): // of an annotated tag, its commit comes first
			err = errors.Join(err, fmt.Errorf("tag %s names another commit", tags[i]))
		}
	}
	return err
}

// checkModule checks the go.mod of the module in a folder.
func checkModule(root, dir, modulePath, version string) error {
	name := filepath.Join(root, dir, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := modfile.Parse(name, text, nil)
	if err != nil {
		return err
	}
	if f.Module == nil || f.Module.Mod.Path != path.Join(modulePath, dir) {
		err = fmt.Errorf("%s/go.mod: want module %s", dir, path.Join(modulePath, dir))
	}
	requires := dir == "."
	for _, r := range f.Require {
		if r.Mod.Path == modulePath {
			requires = r.Mod.Version == version
		}
	}
	if !requires {
		err = errors.Join(err, fmt.Errorf("%s/go.mod: want it to require %s %s", dir, modulePath, version))
	}
	return err
}
