// Home gives the module, in its clone, a path that other modules can require:
//
//	go run -C internal/tools ./home github.com/you/coatcheck
//
// It renames the module and the nested ones, their require and replace lines, and every
// mention of a package by its path in imports, comments, strings and documents. Package
// names, the build tag coatcheck_debug, environment variables, the name in prose and this
// command stay. It does not commit the changes.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// self is the directory of this command.
const self = "internal/tools/home/"

func main() {
	force := flag.Bool("force", false, "go on in a tree that has uncommitted changes")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: go run -C internal/tools ./home [-force] github.com/you/coatcheck")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	root, err := filepath.Abs("../..") // git's may be that of an outer repository
	if err == nil {
		err = move(root, flag.Arg(0), *force)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "home:", err)
		os.Exit(1)
	}
}

// move renames the module in the clone at root to path.
func move(root, path string, force bool) error {
	if err := module.CheckPath(path); err != nil {
		return err
	}
	if _, major, _ := module.SplitPathVersion(path); major != "" {
		return fmt.Errorf("%s: a path that ends in %s is for version 2 or later", path, major)
	}
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if _, missing := os.Stat(filepath.Join(root, self)); err != nil || missing != nil {
		return fmt.Errorf("%s is no clone; run this with -C internal/tools", root)
	}
	old := modfile.ModulePath(gomod)
	if old == path {
		return fmt.Errorf("nothing to do: the module's path is %s already", path)
	}
	changes, err := git(root, "status", "--porcelain", ".")
	if err != nil {
		return err
	}
	if changes != "" && !force {
		return errors.New("the tree has changes that are not committed; -force goes on")
	}
	list, err := git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	names := strings.FieldsFunc(list, func(r rune) bool { return r == 0 })
	mentions, err := newMentions(old, path, names)
	if err != nil {
		return err
	}
	changed := 0
	for _, name := range names {
		if strings.HasPrefix(name, self) {
			continue
		}
		file := filepath.Join(root, name)
		info, err := os.Lstat(file)
		if errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue // removed but not committed, or a link
		}
		if err != nil {
			return err
		}
		before, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		after, err := renamed(name, before, mentions)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if bytes.Equal(before, after) {
			continue
		}
		if err := os.WriteFile(file, after, info.Mode().Perm()); err != nil {
			return err
		}
		changed++
	}
	fmt.Printf("%s is %s now, in %d files; git diff shows them\n", old, path, changed)
	return nil
}

// renamed returns the new text of a file.
func renamed(name string, text []byte, m *mentions) ([]byte, error) {
	switch {
	case bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text):
		return text, nil // a binary file
	case filepath.Base(name) == "go.mod":
		return m.inModule(name, text)
	}
	after := m.inText(text)
	switch {
	case name == "README.md":
		return m.inReadme(after)
	case filepath.Ext(name) == ".go" && !bytes.Equal(text, after):
		return format.Source(after) // longer paths move comments beside them
	}
	return after, nil
}

func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return string(out), nil
}
