// Command bench measures the pool beside what programs use in its place.
//
//	go -C bench run .
//
// takes some eight minutes on two cores. It prints tables, and writes the figures in
// Go's benchmark format. -h explains the flags.
//
// Package workload has the questions, package apps the programs, package peer the contestants, package measure the
// method, and package report the tables and the chart. The last two share only the file of
// figures, so those of another machine can be reported here; README.md says how.
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
		failed = write(from, func(w io.Writer) error {
			o := asked.Options
			o.Config = circumstances(asked)
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

// inWords are the rows of the README, which says below them what they have in common.
var inWords = func() (rows []report.Row) {
	at := func(text, question, theirs, ours, goroutines, live string) {
		params := []suite.Param{{Key: "live", Value: live}, {Key: "goroutines", Value: goroutines}}
		rows = append(rows, report.Row{Text: text, Question: question, Params: params, Ours: ours, Theirs: theirs})
	}
	at("Replace one of a million values", "Churn", peer.NameMutex, peer.NamePool, "1", "1000000")
	at("Look up one of 10,000 values, by `Get`", "Read", peer.NameMap, peer.NamePool, "1", "10000")
	at("Change a value ten times, by `View`", "Change", peer.NameMap, peer.NamePool, "2", "1000")
	at("Change a value ten times, by `Get` of a `Pool[*T]`", "Change", peer.NameMap, workload.NamePointers, "2", "1000")
	at("Change a value ten times, under a Guard, with a Worker", "Change", peer.NameMap, peer.NameWorker, "2", "1000")
	return rows
}()

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
		{Text: "Game with 200,000 things, a frame", Question: "Game", Ours: peer.NamePool},
	}
	beside = []report.Named{{Impl: apps.NamePointers, Text: "pointers"}, {Impl: peer.NameMap, Text: "map, mutex"}}
)

// readme rewrites the tables of docs/performance.md and docs/questions.md by all files of figures that are
// beside this one, and the project's chart and the README's tables by this one. If this one has no figures of
// programs, or of programs alone, it leaves the tables of what is missing.
func readme(from string, figures *report.Figures, qs []suite.Question) error {
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
	const page = "../docs/performance.md"
	question := func(id string) *suite.Question {
		return &qs[slices.IndexFunc(qs, func(q suite.Question) bool { return q.ID == id })]
	}
	if figures.HasPrograms() {
		table, err := report.Programs(figures, beside, "pool", programs)
		if err != nil {
			return err
		}
		err = errors.Join(report.Rewrite("../README.md", "programs", table), report.Rewrite(page, "programs", report.Contestants(figures, qs)))
		if err != nil || !figures.HasParts() {
			return err
		}
	}
	pairs := question("Pair")
	words, err := report.Words(figures, "under a mutex", "in a pool", inWords)
	if err != nil {
		return err
	}
	scaling, err := report.Scaling(report.Widest(all), pairs, 1, scaled)
	if err != nil {
		return err
	}
	values, err := report.Goroutines(figures, question("Change"), 0, changed)
	if err != nil {
		return err
	}
	return errors.Join(
		report.Rewrite("../README.md", "bench", words),
		write("../docs/throughput.svg", func(w io.Writer) error {
			return report.SVG(w, figures, pairs, 1, "goroutines", chartNames, chartNote)
		}),
		report.Rewrite("../docs/questions.md", "bench", report.Table(all, qs)),
		report.Rewrite(page, "values", values),
		report.Rewrite(page, "scaling", scaling),
	)
}

// write writes a file.
func write(path string, contents func(w io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(contents(f), f.Close())
}
