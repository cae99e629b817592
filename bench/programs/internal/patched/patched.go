// Package patched puts tables of another module on a pool, in a copy, runs that module's own
// tests before and after, and measures the difference.
package patched

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"coatcheck/internal/turns"

	"golang.org/x/sync/errgroup"
)

// Module is what is copied and changed.
type Module struct {
	Path, Version string
	Folder        string // of the package
	Tags          string
	File          string   // in the package, where the table is
	Cut           []string // functions and variables that go from File
	Edits         []Edit   // what else changes
	Added         []byte   // the new table, a file of the package
	Measurement   []byte   // a file of its tests, with TestMeasureHandles; in both copies
}

// Edit replaces Old, which must be once in a file of the package.
type Edit struct{ File, Old, New string }

// Main runs it all, and ends the program if that fails.
func Main(m Module) {
	turns := flag.Int("rounds", 9, "`rounds` of measuring")
	flag.Parse()
	if *turns < 1 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := m.run(ctx, *turns); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (m Module) run(ctx context.Context, most int) error {
	dir, err := os.MkdirTemp("", "patched-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	before, after, err := m.prepare(ctx, dir)
	if err != nil {
		return err
	}
	progress("compiling it, twice")
	both, stop := errgroup.WithContext(ctx)
	both.Go(func() error { return before.compile(stop) })
	both.Go(func() error { return after.compile(stop) })
	if err := both.Wait(); err != nil {
		return err
	}
	fmt.Printf("%s %s, %s, %s/%s, %d processors\n\n", m.Path, m.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	for _, c := range []*copied{before, after} {
		progress("its own tests, " + c.name)
		if err := c.test(ctx); err != nil {
			return err
		}
	}
	return compare(ctx, before, after, most)
}

func progress(what string) { fmt.Fprintln(os.Stderr, what, "…") }

// copied is a copy of the module, with the measurement among its tests.
type copied struct {
	Module
	name, root string
}

// prepare makes both copies.
func (m Module) prepare(ctx context.Context, dir string) (before, after *copied, err error) {
	progress("fetching " + m.Path + " " + m.Version)
	tool := func(dir string, args ...string) (printed string) { // the first error ends it
		if err == nil {
			var out []byte
			out, err = output(ctx, dir, "go", args...)
			printed = strings.TrimSpace(string(out))
		}
		return printed
	}
	tool(".", "mod", "download", m.Path+"@"+m.Version)
	source := tool(".", "list", "-m", "-f", "{{.Dir}}", m.Path+"@"+m.Version)
	root := tool(".", "list", "-f", "{{.Module.Dir}}", "coatcheck/pool") // which the new table imports
	before, after = &copied{m, "before", filepath.Join(dir, "before")}, &copied{m, "after", filepath.Join(dir, "after")}
	for _, c := range []*copied{before, after} {
		if err == nil {
			err = os.CopyFS(c.root, os.DirFS(source)) // the copies are writable, unlike the module cache
		}
		if err == nil {
			err = os.WriteFile(c.path("measure_test.go"), m.Measurement, 0o666)
		}
		edit := []string{"mod", "edit", "-go=1.24.0"} // the same language version in both
		if c == after && err == nil {
			edit = append(edit, "-require=coatcheck@v0.0.0", "-replace=coatcheck="+root)
			err = c.replace()
		}
		tool(c.root, edit...)
	}
	return before, after, err
}

// path returns the path of a file of the package.
func (c *copied) path(name string) string { return filepath.Join(c.root, c.Folder, name) }

// replace replaces the package's own table by the new one.
func (c *copied) replace() error {
	if err := c.change(c.File, func(source []byte) ([]byte, error) { return cut(source, c.Cut...) }); err != nil {
		return err
	}
	for _, e := range c.Edits {
		if err := c.change(e.File, e.apply); err != nil {
			return err
		}
	}
	return os.WriteFile(c.path("handles.go"), c.Added, 0o666)
}

// change changes a file of the package.
func (c *copied) change(name string, change func([]byte) ([]byte, error)) error {
	source, err := os.ReadFile(c.path(name))
	if err == nil {
		source, err = change(source)
	}
	return errors.Join(err, os.WriteFile(c.path(name), source, 0o666))
}

func (e Edit) apply(source []byte) ([]byte, error) {
	if n := bytes.Count(source, []byte(e.Old)); n != 1 {
		return source, fmt.Errorf("%q is there %d times, want once: is it another version?", e.Old, n)
	}
	return bytes.Replace(source, []byte(e.Old), []byte(e.New), 1), nil
}

// cut returns formatted source without the functions and variables of these names and their
// comments, and without the import of sync if nothing else uses it. Each must be declared
// once, in a declaration of its own. A method's name begins with its receiver.
func cut(source []byte, names ...string) ([]byte, error) {
	for _, name := range names {
		declaration := regexp.MustCompile(`(?m)^(?://.*\n)*(?:func ` + regexp.QuoteMeta(name) + `\((?:.*\n)*?}\n|var ` + regexp.QuoteMeta(name) + ` .*\n)`)
		found := declaration.FindAllIndex(source, -1)
		if len(found) != 1 {
			return nil, fmt.Errorf("%d declarations of %q, want one: is it another version?", len(found), name)
		}
		source = slices.Delete(slices.Clone(source), found[0][0], found[0][1])
	}
	if !bytes.Contains(source, []byte("sync.")) {
		source = bytes.Replace(source, []byte("\t\"sync\"\n"), nil, 1)
	}
	return source, nil
}

func (c *copied) binary() string { return filepath.Join(c.root, "own.test") }

func (c *copied) compile(ctx context.Context) error {
	_, err := output(ctx, c.path("."), "go", "test", "-c", "-mod=mod", "-tags", c.Tags, "-o", c.binary(), ".")
	return err
}

// test runs the package's own tests.
func (c *copied) test(ctx context.Context) error {
	results, err := output(ctx, c.path("."), c.binary(), "-test.v", "-test.timeout=5m")
	if err != nil {
		return err
	}
	count := func(word string) int { return bytes.Count(results, []byte("\n--- "+word+": ")) }
	fmt.Printf("its own tests, %-7s %d pass, %d skipped\n", c.name+":", count("PASS"), count("SKIP")-1) // the measurement is skipped
	return nil
}

// measure appends the figures of one measurement to those before, and returns their
// names in order.
func (c *copied) measure(ctx context.Context, before map[string][]float64) (names []string, err error) {
	out, err := output(ctx, c.path("."), "env", "MEASURE_HANDLES=1", c.binary(), "-test.run=^TestMeasureHandles$")
	if err != nil {
		return nil, err
	}
	for _, figure := range regexp.MustCompile(`(?m)^figure\t(.*)\t(.*)$`).FindAllStringSubmatch(string(out), -1) {
		x, err := strconv.ParseFloat(figure[2], 64)
		if err != nil {
			return nil, err
		}
		names, before[figure[1]] = append(names, figure[1]), append(before[figure[1]], x)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("the measurement printed no figures:\n%s", out)
	}
	return names, nil
}

// compare measures both copies alternately, and prints the table.
func compare(ctx context.Context, before, after *copied, most int) error {
	var names []string
	figures := map[*copied]map[string][]float64{before: {}, after: {}}
	start := time.Now()
	for r, i := range turns.Order(most, 2) {
		c := []*copied{before, after}[i]
		progress(fmt.Sprintf("round %d of %d, %s, %.0f s so far", r+1, most, c.name, time.Since(start).Seconds()))
		var err error
		if names, err = c.measure(ctx, figures[c]); err != nil {
			return err
		}
	}
	table(os.Stdout, names, figures[before], figures[after])
	return nil
}

// enough rounds tell a difference from noise.
const enough = 4

// table prints each figure before and after, and whether each figure is better if there are enough
// rounds.
func table(out io.Writer, names []string, olds, news map[string][]float64) {
	rows := [][]string{{"what", "before", "after", "ratio", ""}}
	for _, name := range names {
		both := turns.Pair{Of: news[name], To: olds[name]}
		low, high := both.Quartiles()
		verdict := "no better"
		switch {
		case len(news[name]) < enough:
			verdict = "" // noise may be all of the difference
		case high < 1:
			verdict = "better"
		case low > 1:
			verdict = "**worse**"
		}
		at := both.Middle()
		rows = append(rows, []string{name, fmt.Sprintf("%.6g", both.To[at]), fmt.Sprintf("%.6g", both.Of[at]), both.Ratio(), verdict})
	}
	fmt.Fprintf(out, "\n%s\n\n", turns.Caption(len(olds[names[0]])))
	turns.Table(out, rows)
}

// output runs a command in a directory, and returns its standard output.
func output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, &failed)
	}
	return out, nil
}
