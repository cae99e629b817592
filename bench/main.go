// Command bench measures the pool beside what programs use in its place.
//
//	go -C bench run .
//
// takes some seven minutes on two cores. It prints tables, and writes the figures in
// Go's benchmark format. -h explains the flags.
//
// Package workload has the questions, package apps the programs, package peer the contestants, package measure the
// method, and package report the tables and the chart. The last two share only the file of
// figures, so those of another machine can be reported here; docs/performance.md says how.
//
// The program exits with 1 if a contestant's values or counts were wrong, and with 2 if a
// flag is wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"coatcheck/bench/apps"
	"coatcheck/bench/measure"
	"coatcheck/bench/peer"
	"coatcheck/bench/report"
	"coatcheck/bench/suite"
	"coatcheck/bench/workload"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	asked, err := parse(os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintf(os.Stderr, "bench: %v\nbench -h explains the flags.\n", err)
		os.Exit(2)
	}
	if err := answer(ctx, asked, workload.All(), os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

// answer measures, unless -from names a file, and reports. If a check fails, it reports
// the other figures and returns the error. With -quick it prints a line for each question that
// works.
func answer(ctx context.Context, asked *flags, qs []suite.Question, stdout, stderr io.Writer) (failed error) {
	switch {
	case asked.spin:
		apps.Spin(os.Stdin)
	case asked.app != "":
		return apps.Child(stdout, asked.app, asked.load, asked.profile)
	case asked.Quick:
		o := asked.Options
		o.Done = func(question string, cases int) { fmt.Fprintf(stdout, "%-8s %3d cases work\n", question, cases) }
		return measure.Questions(ctx, io.Discard, qs, o)
	}
	from := asked.from
	if from == "" {
		if asked.out == "" {
			asked.out, failed = os.MkdirTemp("", "bench-")
		} else {
			failed = os.MkdirAll(asked.out, 0o777)
		}
		if failed != nil {
			return failed
		}
		from = filepath.Join(asked.out, fileName())
		o := asked.Options
		o.Config = circumstances(asked) // before the file is written, which belongs to the tree
		failed = write(from, func(w io.Writer) error {
			o.Begin = func(question string) { fmt.Fprintln(stderr, question) }
			return measure.Questions(ctx, w, qs, o)
		})
	}
	figures, err := report.ReadFile(from)
	if err != nil {
		return errors.Join(failed, err)
	}
	err = report.Text(stdout, figures, qs)
	fmt.Fprintf(stdout, "\nfigures  %s\n", from)
	if failed != nil || err != nil || !asked.readme {
		return errors.Join(failed, err)
	}
	return readme(from, figures, qs)
}

// chartNote is below the chart of docs/performance.md, and chartNames are beside its lines.
const chartNote = "Dashed: does not detect stale names. locked: two locked instructions, and no store."

var chartNames = map[string]string{
	peer.NameWorker: "pool, a Worker", peer.NameMutex: "slot map, mutex", peer.NameMap: "map, mutex", peer.NameSyncMap: "sync.Map",
	peer.NameXsync: "xsync.Map", peer.NameSyncPool: "sync.Pool", peer.NameNew: "new, and the GC",
}

// scaled are the rows of the table of many processors.
var scaled = []report.Named{
	{Impl: workload.NameLocked, Text: "two locked instructions, sharing nothing"},
	{Impl: peer.NamePool, Text: "a pool"}, {Impl: peer.NameWorker, Text: "a pool, a Worker each"},
	{Impl: peer.NameSyncPool, Text: "sync.Pool, which has no handles"},
	{Impl: peer.NameMutex, Text: "a slot map under a mutex"}, {Impl: peer.NameMap, Text: "a map under a mutex"}, {Impl: peer.NameSyncMap, Text: "sync.Map"}, {Impl: peer.NameXsync, Text: "xsync.Map"},
}

// changed are the columns of the table of values and pointers.
var changed = []report.Named{
	{Impl: peer.NamePool, Text: "`Pool[T]` with `View`"}, {Impl: workload.NamePointers, Text: "`Pool[*T]` with `Get`"},
	{Impl: peer.NameWorker, Text: "`Pool[T]` with a Guard and a Worker"},
	{Impl: peer.NameMap, Text: "map of pointers under a mutex"}, {Impl: peer.NameXsync, Text: "xsync.Map of pointers"},
}

// instead are the rows of the README's table of what programs use in a pool's place.
var instead = []report.Row{
	{Name: "`sync.Map`", Better: "Keys come from outside, and few change.", Text: "95 look-ups of 100", Question: "Mix", Params: params("reads", "95", "goroutines", "2"), Ours: peer.NamePool, Theirs: peer.NameSyncMap},
	{Name: "xsync.Map", Better: "Keys come from outside, and many change.", Text: "50 look-ups of 100", Question: "Mix", Params: params("reads", "50", "goroutines", "2"), Ours: peer.NamePool, Theirs: peer.NameXsync},
	{Name: "otter", Better: "A cache that chooses what to evict.", Text: "look-up among 10,000", Question: "Others", Params: params("use", "cached", "live", "10000", "goroutines", "2"), Ours: peer.NamePool, Theirs: workload.NameOtter},
	{Name: "puddle", Better: "Connections that are borrowed, checked and aged.", Text: "borrow and return", Question: "Others", Params: params("use", "idle", "live", "4", "goroutines", "2"), Ours: peer.NamePool, Theirs: workload.NamePuddle},
	{Name: "`sync.Pool`", Better: "Buffers to which nothing refers.", Text: "get and put", Question: "Pair", Params: params("goroutines", "2"), Ours: peer.NamePool, Theirs: peer.NameSyncPool},
	{Name: "`runtime/cgo.Handle`", Better: "C has few names.", Text: "make, look up, delete", Question: "Others", Params: params("use", "named", "live", "1000", "goroutines", "1"), Ours: peer.NamePool, Theirs: peer.NameSyncMap},
	{Name: "a slot map with a mutex, or a map", Better: "There is one goroutine, or little to do.", Text: "replace one of a million", Question: "Churn", Params: params("live", "1000000", "goroutines", "1"), Ours: peer.NamePool, Theirs: peer.NameMutex},
}

// params returns parameters of keys and values.
func params(texts ...string) (all []suite.Param) {
	for pair := range slices.Chunk(texts, 2) {
		all = append(all, suite.Param{Key: pair[0], Value: pair[1]})
	}
	return all
}

// programs are the rows of the README's table of programs, and beside are its other columns.
var (
	programs = []report.Row{
		{Text: "Fork and join, a job: by `Pointer`", Question: "ForkJoin", Ours: peer.NamePool},
		{Text: "Fork and join: under a Guard", Question: "ForkJoin", Ours: peer.NameGuard},
		{Text: "Fork and join: in a `Pool[*T]`", Question: "ForkJoin", Ours: apps.NamePoolPointers},
		{Text: "Graph of jobs with priorities, a job", Question: "Graph", Ours: peer.NamePool},
		{Text: "Timer wheel, a timer", Question: "Timers", Ours: peer.NamePool},
		{Text: "Chat, a message to 16 sessions", Question: "Chat", Ours: peer.NameGuard},
		{Text: "LRU cache, a look-up", Question: "LRU", Ours: peer.NamePool},
		{Text: "Game, a frame: ships in a pool, 185,000 guns and shots in slices", Question: "Game", Ours: peer.NamePool},
		{Text: "Game, a frame: all of them in pools", Question: "Game", Ours: apps.NameAll},
	}
	beside = []report.Named{{Impl: apps.NamePointers, Text: "pointers"}, {Impl: peer.NameMap, Text: "map, mutex"}}
)

// readme rewrites the tables of the README and of docs/performance.md, and the chart. All are of this
// file, so that they are of one run, except that of many processors: it has the figures of the widest
// machine among the files beside this one.
func readme(from string, figures *report.Figures, qs []suite.Question) error {
	if !figures.HasPrograms() || !figures.HasParts() {
		return fmt.Errorf("-readme needs a file with the figures of all questions: %s has not", from)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(from), "*.txt"))
	if err != nil {
		return err
	}
	var all []*report.Figures
	for _, file := range files {
		f, err := report.ReadFile(file)
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	question := func(id string) *suite.Question {
		return &qs[slices.IndexFunc(qs, func(q suite.Question) bool { return q.ID == id })]
	}
	const home, page = "../README.md", "../docs/performance.md"
	pairs := question("Pair")
	for _, table := range []struct {
		file, mark string
		text       func() (string, error)
	}{
		{home, "programs", func() (string, error) { return report.Programs(figures, beside, "pool", programs) }},
		{home, "instead", func() (string, error) { return report.Instead(figures, instead) }},
		{page, "programs", func() (string, error) { return report.Contestants(figures, qs), nil }},
		{page, "values", func() (string, error) { return report.Goroutines(figures, question("Change"), 0, changed) }},
		{page, "scaling", func() (string, error) { return report.Scaling(report.Widest(all), pairs, 1, scaled) }},
		{page, "questions", func() (string, error) { return report.Table(figures, qs, "Change", "Others"), nil }},
	} {
		text, err := table.text()
		if err != nil {
			return err
		}
		if err := report.Rewrite(table.file, table.mark, text); err != nil {
			return err
		}
	}
	return write("../docs/throughput.svg", func(w io.Writer) error {
		return report.SVG(w, figures, pairs, 1, "goroutines", chartNames, chartNote)
	})
}

// write writes a file.
func write(path string, contents func(w io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(contents(f), f.Close())
}
