// Recall measures what coatvet does not see. In the code of this repository it deletes each ending of
// a Guard, a Ref or a Reservation, one at a time, and counts after which deletions coatvet says
// something new:
//
//	go run ./internal/recall           # in pool/coatvet; a minute
//	go run ./internal/recall -write    # the deletions that nobody tells go to testdata/missed.txt
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
)

func main() {
	log.SetFlags(0)
	write := flag.Bool("write", false, "write the deletions that are not told to testdata/missed.txt")
	verbose := flag.Bool("v", false, "print what is told of each deletion")
	flag.Parse()
	root, err := output(".", "go", "list", "-m", "-f", "{{.Dir}}", "coatcheck")
	if err != nil {
		log.Fatal("recall runs in pool/coatvet: ", err)
	}
	modules, err := withEndings(root)
	if err != nil {
		log.Fatal(err)
	}
	deleted, told := map[string]int{}, map[string]int{}
	var missed []string
	for _, module := range modules {
		err := measure(filepath.Join(root, module), func(e *ending, news []string) {
			deleted[e.resource]++
			where, err := filepath.Rel(root, e.at.Filename)
			if err != nil {
				log.Fatal(err)
			}
			where = filepath.ToSlash(where)
			if len(news) > 0 {
				told[e.resource]++
			} else {
				missed = append(missed, fmt.Sprintf("%s: %s in %s", where, e.text, e.function))
			}
			if *verbose {
				fmt.Printf("%s:%d: without %s: %q\n", where, e.at.Line, e.text, news)
			}
		})
		if err != nil {
			log.Fatalf("%s: %v", module, err)
		}
	}
	slices.Sort(missed)
	text := ""
	for _, name := range slices.Sorted(maps.Keys(deleted)) {
		text += fmt.Sprintf("# %s: %d of %d deletions are told (%.0f%%)\n", name, told[name], deleted[name], 100*float64(told[name])/float64(deleted[name]))
	}
	text += strings.Join(missed, "\n") + "\n"
	fmt.Print(text)
	if *write {
		text = "# Endings of this repository that can be deleted without a word of coatvet: go run ./internal/recall -write\n" + text
		if err := os.WriteFile(filepath.Join(root, "pool/coatvet/testdata/missed.txt"), []byte(text), 0o666); err != nil {
			log.Fatal(err)
		}
	}
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
