// Recall measures what coatvet does not see. In the code of this repository it deletes each ending of
// a Guard, a Ref or a Reservation, one at a time, and counts after which deletions coatvet says
// something new:
//
//	go run ./internal/recall           # in pool/coatvet; a minute
//	go run ./internal/recall -write    # and write that to testdata/missed.txt
//
// An ending is a statement x.Unpin(), x.Release(), x.Commit() or x.Cancel(), deferred or not, or a
// statement that hands such a method to another function, as t.Cleanup(x.Release) does. Of a Commit
// whose result is used, the deletion leaves the handle: x.Commit() becomes x.Handle().
package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"coatcheck/pool/coatvet"
	"coatcheck/pool/coatvet/internal/api"
)

func main() {
	log.SetFlags(0)
	write := flag.Bool("write", false, "write what it finds to testdata/missed.txt")
	verbose := flag.Bool("v", false, "print what is told of each deletion")
	flag.Parse()
	module, err := output(".", "go", "env", "GOMOD")
	if err != nil {
		log.Fatal(err)
	}
	root := filepath.Join(module, "..", "..", "..")
	if module != filepath.Join(root, "pool", "coatvet", "go.mod") {
		log.Fatal("recall runs in pool/coatvet")
	}
	modules, err := withEndings(root)
	if err != nil {
		log.Fatal(err)
	}
	counts := map[string]*count{}
	for _, r := range api.Resources {
		counts[r.Name] = &count{}
	}
	for _, module := range modules {
		err := measure(filepath.Join(root, module), func(e *ending, news []string) {
			where, err := filepath.Rel(root, e.at.Filename)
			if err != nil {
				log.Fatal(err)
			}
			counts[e.resource].add(e, filepath.ToSlash(where), len(news) > 0)
			if *verbose {
				fmt.Printf("%s:%d: without %s: %q\n", where, e.at.Line, e.text, news)
			}
		})
		if err != nil {
			log.Fatalf("%s: %v", module, err)
		}
	}
	text := "# Endings that can be deleted in this repository without a word of coatvet: go run ./internal/recall -write\n"
	for _, r := range api.Resources {
		text += counts[r.Name].String(r.Name)
	}
	fmt.Print(text)
	if *write {
		if err := os.WriteFile(filepath.Join(root, "pool/coatvet/testdata/missed.txt"), []byte(text), 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

// A count counts the deletions for one resource.
type count struct {
	deleted, told int
	missed        []string
	refused       int // of those missed, how many do not compile
}

func (c *count) add(e *ending, file string, told bool) {
	c.deleted++
	if told {
		c.told++
		return
	}
	line := fmt.Sprintf("%s: %s in %s", file, e.text, e.function)
	if e.refused {
		c.refused++
		line += " (the compiler refuses it)"
	}
	c.missed = append(c.missed, line)
}

// String returns a summary and the misses, for a resource of that name.
func (c *count) String(name string) string {
	slices.Sort(c.missed)
	percent := func(n int) float64 { return 100 * float64(n) / float64(c.deleted) }
	s := fmt.Sprintf("\n# %s: coatvet tells %d of %d, which are %.0f%%", name, c.told, c.deleted, percent(c.told))
	if c.refused > 0 {
		s += fmt.Sprintf("; with those that the compiler refuses, %.0f%%", percent(c.told+c.refused))
	}
	return s + "\n" + strings.Join(c.missed, "\n") + "\n"
}

// withEndings returns the folders of the modules whose files have an ending, the root's first.
func withEndings(root string) (modules []string, err error) {
	files, err := output(root, "grep", "-rlE", "--include=*.go", `\.(Unpin|Release|Commit|Cancel)\b`, ".")
	if err != nil {
		return nil, err
	}
	for _, file := range strings.Fields(files) {
		dir := filepath.Dir(file)
		for ; dir != "."; dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(root, dir, "go.mod")); err == nil {
				break
			}
		}
		if !slices.Contains(modules, dir) && dir != "pool/coatvet" {
			modules = append(modules, dir)
		}
	}
	slices.Sort(modules)
	return modules, nil
}

func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// measure deletes each ending of a module, and calls tell with what coatvet says that it did not say
// before.
func measure(dir string, tell func(e *ending, news []string)) error {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Dir: dir, Tests: true}, "./...")
	if err != nil {
		return err
	}
	if n := packages.PrintErrors(pkgs); n > 0 {
		return fmt.Errorf("%d errors", n)
	}
	// The test variant of a package has its files too.
	slices.SortStableFunc(pkgs, func(a, b *packages.Package) int { return len(b.ID) - len(a.ID) })
	d, seen := &driver{facts: map[factKey]fact{}, done: map[*packages.Package]bool{}}, map[string]bool{}
	for _, pkg := range pkgs {
		var all []*ending
		for _, e := range endings(pkg) {
			if !seen[e.at.String()] {
				seen[e.at.String()] = true
				all = append(all, e)
			}
		}
		if len(all) == 0 {
			continue
		}
		before, err := d.diagnose(coatvet.Analyzers, pkg)
		if err != nil {
			return err
		}
		for _, e := range all {
			e.delete()
			after, err := d.diagnose(coatvet.Analyzers, pkg)
			if err != nil {
				return err
			}
			e.restore()
			for said := range before {
				delete(after, said)
			}
			tell(e, slices.Sorted(maps.Keys(after)))
		}
	}
	return nil
}
