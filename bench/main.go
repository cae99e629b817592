// Command bench measures the pool beside what programs use in its place.
//
//	go -C bench run .
//
// takes less than two minutes on two cores. It prints tables, and writes the figures in
// Go's benchmark format and a report with charts as one HTML file. -h explains the flags.
//
// Package workload has the questions, package peer the contestants, package measure the
// method, and package report the tables and charts. The last two share only the file of
// figures, so those of another machine can be reported here; README.md says how.
//
// The program exits with 1 if a contestant's values or counts were wrong, and with 2 if a
// flag is wrong.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"coatcheck/bench/measure"
	"coatcheck/bench/report"
	"coatcheck/bench/suite"
	"coatcheck/bench/workload"
)

// The files that the program writes, in the directory that -out names.
const (
	figuresFile = "bench.txt"
	reportFile  = "report.html"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	asked, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "bench: %v\nbench -h explains the flags.\n", err)
		return 2
	}
	if err := answer(ctx, asked, workload.All(), stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "bench: %v\n", err)
		return 1
	}
	return 0
}

// answer measures, unless -from names a file, and reports. If a check fails, it reports
// the other figures and returns the error.
func answer(ctx context.Context, asked *flags, qs []suite.Question, stdout, stderr io.Writer) error {
	dir, err := directory(asked)
	if err != nil {
		return err
	}
	from := asked.from
	var failed error
	if from == "" {
		from = filepath.Join(dir, figuresFile)
		failed = gather(ctx, asked, qs, from, stderr)
		if errors.Is(failed, measure.ErrNothing) {
			return fmt.Errorf("-only %s: %w", asked.only, failed)
		}
	}
	figures, err := report.ReadFile(from)
	if err != nil {
		return errors.Join(failed, err)
	}
	page := filepath.Join(dir, reportFile)
	if err := show(figures, qs, page, stdout); err != nil {
		return errors.Join(failed, err)
	}
	if asked.from == "" {
		fmt.Fprintf(stdout, "\nfigures  %s\n", from)
	}
	fmt.Fprintf(stdout, "report   %s\n", page)
	if failed != nil {
		return failed
	}
	if asked.readme {
		return readme(figures, qs)
	}
	return nil
}

// directory makes and returns the directory to write to: a temporary one by default.
func directory(asked *flags) (string, error) {
	if asked.out == "" {
		return os.MkdirTemp("", "bench-")
	}
	return asked.out, os.MkdirAll(asked.out, 0o777)
}

// gather measures the questions and writes the figures to a file.
func gather(ctx context.Context, asked *flags, qs []suite.Question, path string, stderr io.Writer) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	o := asked.options
	o.Config = circumstances(asked)
	o.Begin = func(question string, part float64) { fmt.Fprintf(stderr, "%3.0f %%  %s\n", 100*part, question) }
	return measure.Questions(ctx, f, qs, o)
}

// show prints the tables and writes the report.
func show(figures *report.Figures, qs []suite.Question, page string, stdout io.Writer) (err error) {
	if err := report.Text(stdout, figures, qs); err != nil {
		return err
	}
	f, err := os.Create(page)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return report.HTML(f, figures, qs)
}

// readme rewrites the tables of bench's README, of docs/performance.md and of the
// project's README, and the project's chart.
func readme(figures *report.Figures, qs []suite.Question) error {
	charted := slices.IndexFunc(qs, func(q suite.Question) bool { return q.ID == "ScalePair" })
	var chart bytes.Buffer
	if err := report.File(&chart, figures, &qs[charted]); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join("..", "docs", "throughput.svg"), chart.Bytes(), 0o666),
		report.Readme("README.md", figures, qs, report.Full),
		report.Readme(filepath.Join("..", "docs", "performance.md"), figures, qs, report.Short),
		report.Readme(filepath.Join("..", "README.md"), figures, qs, report.Brief),
	)
}
