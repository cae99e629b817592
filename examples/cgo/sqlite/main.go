// Command sqlite puts the callback handles of github.com/mattn/go-sqlite3 on a pool, in a
// copy, runs that package's own tests on it, and measures the difference.
//
//	go -C examples/cgo run ./sqlite
//
// It fetches the module with the go command, removes the functions of its table of handles
// by their names, and adds testdata/handles.go in their place. Compiling SQLite twice, with
// testdata/measure_test.go, takes a minute or two. Other load hits both copies alike, since
// they are measured in alternating processes.
package main

import (
	"bytes"
	"context"
	_ "embed"
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

	"coatcheck/examples/internal/rounds"
	"coatcheck/internal/check/turns"

	"golang.org/x/sync/errgroup"
)

const (
	module  = "github.com/mattn/go-sqlite3"
	version = "v1.14.53"
	tags    = "sqlite_vtable,sqlite_preupdate_hook,sqlite_unlock_notify,sqlite_math_functions"
)

// What is removed, from one file. The rest of the package calls these functions, and its
// tests read the variable.
const tableFile = "callback.go"

var tableNames = []string{"handleVals", "newHandle", "lookupHandleVal", "lookupHandle", "deleteHandle", "deleteHandles"}

var (
	//go:embed testdata/handles.go
	handles []byte
	//go:embed testdata/measure_test.go
	measurement []byte
)

func main() {
	turns := flag.Int("rounds", 9, "`rounds` of measuring")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *turns); err != nil {
		fmt.Fprintln(os.Stderr, "sqlite:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, most int) error {
	dir, err := os.MkdirTemp("", "sqlite-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	before, after, err := prepare(ctx, dir)
	if err != nil {
		return err
	}
	progress("compiling SQLite, twice")
	both, stop := errgroup.WithContext(ctx)
	both.Go(func() error { return before.compile(stop) })
	both.Go(func() error { return after.compile(stop) })
	if err := both.Wait(); err != nil {
		return err
	}
	fmt.Printf("%s %s, %s, %s/%s, %d processors\n\n", module, version, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	for _, c := range []copied{before, after} {
		progress("its own tests, " + c.name)
		if err := c.test(ctx); err != nil {
			return err
		}
	}
	return compare(ctx, before, after, most)
}

func progress(what string) { fmt.Fprintln(os.Stderr, what, "…") }

// copied is a copy of the module, with the measurement among its tests.
type copied struct{ name, dir string }

// prepare makes both copies.
func prepare(ctx context.Context, dir string) (before, after copied, err error) {
	progress("fetching " + module + " " + version)
	tool := func(dir string, args ...string) (printed string) { // the first error ends it
		if err == nil {
			var out []byte
			out, err = output(ctx, dir, "go", args...)
			printed = strings.TrimSpace(string(out))
		}
		return printed
	}
	tool(".", "mod", "download", module+"@"+version)
	source := tool(".", "list", "-m", "-f", "{{.Dir}}", module+"@"+version)
	root := tool(".", "list", "-f", "{{.Module.Dir}}", "coatcheck/pool") // which handles.go imports
	before, after = copied{"before", filepath.Join(dir, "before")}, copied{"after", filepath.Join(dir, "after")}
	for _, c := range []copied{before, after} {
		if err == nil {
			err = os.CopyFS(c.dir, os.DirFS(source)) // the copies are writable, unlike the module cache
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(c.dir, "measure_test.go"), measurement, 0o666)
		}
		edit := []string{"mod", "edit", "-go=1.24.0"} // the same language version in both
		if c == after && err == nil {
			edit = append(edit, "-require=coatcheck@v0.0.0", "-replace=coatcheck="+root)
			err = c.replace()
		}
		tool(c.dir, edit...)
		tool(c.dir, "mod", "tidy")
	}
	return before, after, err
}

// replace replaces the package's own table by that of this example.
func (c copied) replace() error {
	path := filepath.Join(c.dir, tableFile)
	source, err := os.ReadFile(path)
	if err == nil {
		source, err = cut(source, tableNames...)
	}
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(path, source, 0o666),
		os.WriteFile(filepath.Join(c.dir, "handles.go"), handles, 0o666))
}

// cut returns formatted source without the functions and variables of these names and their
// comments, and without the import of sync if nothing else uses it. Each must be declared
// once, in a declaration of its own.
func cut(source []byte, names ...string) ([]byte, error) {
	for _, name := range names {
		declaration := regexp.MustCompile(`(?m)^(?://.*\n)*(?:func ` + name + `\((?:.*\n)*?}\n|var ` + name + ` .*\n)`)
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

func (c copied) binary() string { return filepath.Join(c.dir, "sqlite3.test") }

func (c copied) compile(ctx context.Context) error {
	_, err := output(ctx, c.dir, "go", "test", "-c", "-tags", tags, "-o", c.binary(), ".")
	return err
}

// test runs the package's own tests.
func (c copied) test(ctx context.Context) error {
	results, err := output(ctx, c.dir, c.binary(), "-test.v", "-test.timeout=5m")
	if err != nil {
		return err
	}
	count := func(word string) int { return bytes.Count(results, []byte("\n--- "+word+": ")) }
	fmt.Printf("its own tests, %-7s %d pass, %d skipped\n", c.name+":", count("PASS"), count("SKIP")-1) // the measurement is skipped
	return nil
}

// measure appends the figures of one measurement to those before, and returns their
// names in order.
func (c copied) measure(ctx context.Context, before map[string][]float64) (names []string, err error) {
	out, err := output(ctx, c.dir, "env", "MEASURE_HANDLES=1", c.binary(), "-test.run=^TestMeasureHandles$")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if parts := strings.Split(strings.TrimSpace(line), "\t"); len(parts) == 3 && parts[0] == "figure" {
			x, err := strconv.ParseFloat(parts[2], 64)
			if err != nil {
				return nil, err
			}
			names, before[parts[1]] = append(names, parts[1]), append(before[parts[1]], x)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("the measurement printed no figures:\n%s", out)
	}
	return names, nil
}

// compare measures both copies alternately, and prints the table.
func compare(ctx context.Context, before, after copied, most int) error {
	var names []string
	figures := map[copied]map[string][]float64{before: {}, after: {}}
	start := time.Now()
	for r, i := range turns.Order(most, 2) {
		progress(fmt.Sprintf("round %d of %d, %.0f s so far", r+1, most, time.Since(start).Seconds()))
		c := []copied{before, after}[i]
		var err error
		if names, err = c.measure(ctx, figures[c]); err != nil {
			return err
		}
	}
	table(os.Stdout, names, figures[before], figures[after])
	return nil
}

// table prints the medians, and whether each figure is better.
func table(out io.Writer, names []string, olds, news map[string][]float64) {
	rows := [][]string{{"what", "before", "after", "ratio", ""}}
	for _, name := range names {
		low, _, high := rounds.Ratios(news[name], olds[name])
		verdict := "no better"
		switch {
		case high < 1:
			verdict = "better"
		case low > 1:
			verdict = "**worse**"
		}
		rows = append(rows, []string{name, fmt.Sprintf("%.4g", turns.Median(olds[name])), fmt.Sprintf("%.4g", turns.Median(news[name])),
			rounds.Ratio(news[name], olds[name]), verdict})
	}
	fmt.Fprintf(out, "\nMedians of rounds: %d. In parentheses: the middle half of the rounds' ratios.\n\n", len(olds[names[0]]))
	rounds.Table(out, rows)
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
