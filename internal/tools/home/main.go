// Home gives the module, in its clone, a path and a version that other modules can require:
//
//	go run -C internal/tools ./home github.com/you/coatcheck v0.1.0
//
// It renames the module and the nested ones, their require and replace lines, and every
// mention of a package by its path in imports, comments, strings and documents. Package
// names, the build tag coatcheck_debug, the key of field tags, environment variables, the name
// in prose and this command stay. The nested modules require that version of the module. Home
// prints the commands that commit and tag it, and runs none of them.
//
//	go run -C internal/tools ./home -check github.com/you/coatcheck v0.1.0
//
// checks that the commit that is checked out is that version, with every tag that it needs.
package main

import (
	"errors"
	"flag"
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
	checks := flag.Bool("check", false, "check that the commit that is checked out is this version, and change nothing")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: go run -C internal/tools ./home [-check] github.com/you/coatcheck v0.1.0")
	}
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	root, path, version := filepath.Join("..", ".."), flag.Arg(0), flag.Arg(1)
	var tags []string
	var err error
	if *checks {
		err = check(root, path, version)
	} else {
		tags, err = move(root, path, version)
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "home:", err)
		os.Exit(1)
	case *checks:
		fmt.Printf("This commit is %s %s, and has its tags.\n", path, version)
	default:
		fmt.Printf("The module is %s %s now; git diff shows the changes. To publish it:\n\n\tgit commit -a -m 'Publish %[2]s'\n", path, version)
		for _, tag := range tags {
			fmt.Printf("\tgit tag %s\n", tag)
		}
		// The module's own tag, the first, goes last: whoever sees it finds the others.
		fmt.Printf("\tgit push origin %s\n\tgit push origin %s\n", strings.Join(tags[1:], " "), tags[0])
	}
}

// valid returns an error unless home can give a module that path and version.
func valid(path, version string) error {
	if err := module.Check(path, version); err != nil {
		return err
	}
	if _, major, _ := module.SplitPathVersion(path); major != "" {
		return fmt.Errorf("%s: home gives no path that ends in %s, for version 2 or later", path, major)
	}
	return nil
}

// move renames the module in the clone at root to path, and lets the nested modules require
// that version of it. It returns the tags of the version, the module's first.
func move(root, path, version string) (tags []string, err error) {
	if err := valid(path, version); err != nil {
		return nil, err
	}
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if _, missing := os.Stat(filepath.Join(root, self)); err != nil || missing != nil {
		return nil, errors.New("this is no clone; run it with -C internal/tools")
	}
	old := modfile.ModulePath(gomod)
	if changes, err := git(root, "status", "--porcelain", "."); err != nil || changes != "" {
		return nil, errors.Join(err, errors.New("the tree has changes that are not committed"))
	}
	folders, err := git(root, "ls-tree", "-d", "-z", "--name-only", "HEAD")
	if err != nil {
		return nil, err
	}
	names, err := git(root, "grep", "-l", "-z", "-I", "-F", old) // not in binary files
	if err != nil {
		return nil, err
	}
	m := newMentions(old, path, version, list(folders))
	for _, name := range list(names) {
		if strings.HasPrefix(name, self) {
			continue
		}
		file := filepath.Join(root, name)
		before, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		after, err := m.renamed(name, string(before))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(file, []byte(after), 0o666); err != nil {
			return nil, err
		}
	}
	dirs, err := published(root)
	if err != nil {
		return nil, err
	}
	return tagsOf(root, dirs, version)
}

// renamed returns the new text of a file.
func (m *mentions) renamed(name, text string) (string, error) {
	if filepath.Base(name) == "go.mod" {
		return m.inModule(text)
	}
	after := m.inText(text)
	switch {
	case name == "README.md" || name == "docs/install.md":
		return m.inDocument(after)
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
