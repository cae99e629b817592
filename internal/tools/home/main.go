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
	"errors"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// self is the directory of this command.
const self = "internal/tools/home/"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run -C internal/tools ./home github.com/you/coatcheck")
		os.Exit(2)
	}
	if err := move(filepath.Join("..", ".."), os.Args[1]); err != nil { // git's root may be that of an outer repository
		fmt.Fprintln(os.Stderr, "home:", err)
		os.Exit(1)
	}
}

// move renames the module in the clone at root to path.
func move(root, path string) error {
	if err := module.CheckPath(path); err != nil {
		return err
	}
	if _, major, _ := module.SplitPathVersion(path); major != "" {
		return fmt.Errorf("%s: a path that ends in %s is for version 2 or later", path, major)
	}
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if _, missing := os.Stat(filepath.Join(root, self)); err != nil || missing != nil {
		return errors.New("this is no clone; run it with -C internal/tools")
	}
	old := modfile.ModulePath(gomod)
	if old == path {
		return fmt.Errorf("nothing to do: the module's path is %s already", path)
	}
	if changes, err := git(root, "status", "--porcelain", "."); err != nil || changes != "" {
		return errors.Join(err, errors.New("the tree has changes that are not committed"))
	}
	folders, err := git(root, "ls-tree", "-d", "-z", "--name-only", "HEAD")
	if err != nil {
		return err
	}
	names, err := git(root, "grep", "-l", "-z", "-I", "-F", old) // not in binary files
	if err != nil {
		return err
	}
	m := newMentions(old, path, list(folders))
	for _, name := range list(names) {
		if strings.HasPrefix(name, self) {
			continue
		}
		file := filepath.Join(root, name)
		before, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		after, err := m.renamed(name, string(before))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(file, []byte(after), 0o666); err != nil {
			return err
		}
	}
	fmt.Printf("%s is %s now; git diff shows the changes\n", old, path)
	return nil
}

// renamed returns the new text of a file.
func (m *mentions) renamed(name, text string) (string, error) {
	if filepath.Base(name) == "go.mod" {
		return m.inModule(text)
	}
	after := m.inText(text)
	switch {
	case name == "README.md":
		return m.inReadme(after)
	case filepath.Ext(name) == ".go" && after != text:
		formatted, err := format.Source([]byte(after)) // longer paths move comments beside them
		return string(formatted), err
	}
	return after, nil
}

// list splits a list of git's that ends each entry with a zero byte.
func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == 0 })
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
