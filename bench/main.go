// Command bench measures the pool side by side with what people would use in its
// place, and reports it.
//
//	go -C bench run .
//
// takes less than two minutes on two cores. It prints tables, and writes the
// figures in Go's benchmark format and a report with charts, an HTML file that
// needs no other. -h explains the flags.
//
// What is measured stands in package workload, question by question; what it is
// measured on in package peer, a file for each contestant; how, in package
// measure; and package report makes the rest of the figures. Between the last two
// lies nothing but the file of figures, so those of another machine can be
// reported here:
//
//	go -C bench build -o /tmp/bench .         # CGO_ENABLED=0 for a static binary
//	/tmp/bench -out results                   # on the other machine
//	go -C bench run . -from results/bench.txt # here
//
// benchstat compares the files of two runs, or the contestants within one. It puts
// figures from under different circumstances into different tables, so tell it which
// circumstances do not matter:
//
//	go -C bench tool benchstat -ignore commit,date,command old.txt new.txt
//	go -C bench tool benchstat -filter .name:Churn -col /impl new.txt
//
// The program exits with 1 when a contestant's values or counts were wrong, and
// with 2 when it was not asked rightly.
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

	"coatcheck/bench/measure"
	"coatcheck/bench/report"
	"coatcheck/bench/suite"
	"coatcheck/bench/workload"
)

// What the program writes, in the directory that -out names.
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

// answer measures, unless there are figures already, and reports. It reports what
// was measured also when a check failed, and says so in its error.
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
			return fmt.Errorf("no question and no case matches -only %s", asked.only)
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

// directory returns the directory to write to, which it makes: one for temporary
// files if none was asked for, so that nothing is left in the source tree.
func directory(asked *flags) (string, error) {
	if asked.out == "" {
		return os.MkdirTemp("", "bench-")
	}
	return asked.out, os.MkdirAll(asked.out, 0o777)
}

// gather measures the questions and writes the figures to the file of that path.
func gather(ctx context.Context, asked *flags, qs []suite.Question, path string, stderr io.Writer) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	o := asked.options
	o.Config = circumstances(asked)
	o.Begin = func(question string, part float64) { fmt.Fprintf(stderr, "%3.0f %%  %s\n", 100*part, question) }
	err = measure.Questions(ctx, f, qs, o)
	if o.Only != nil || measure.Stopped(err) {
		return err
	}
	return errors.Join(err, misuse(f, o.Quick))
}

// show prints the tables and writes the page.
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
// project's README.
func readme(figures *report.Figures, qs []suite.Question) error {
	return errors.Join(
		report.Readme("README.md", figures, qs, report.Full),
		report.Readme(filepath.Join("..", "docs", "performance.md"), figures, qs, report.Short),
		report.Readme(filepath.Join("..", "README.md"), figures, qs, report.Brief),
	)
}
