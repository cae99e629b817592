// Command jobs type-checks Go packages in parallel, in dependency order: the
// standard library, or the packages that are named on its command line.
//
// It shows what a pool is for. A job system makes and drops small records all the time,
// on many goroutines, and its records refer to each other: a job to the jobs that wait
// for it, a task to its job. Here the records are nodes in one pool and all links are
// handles. So slots are reused during the run, a link to a finished job is detected, and
// no record needs a lock.
//
// Read node.go, sched.go, worker.go and queue.go for the scheduler, which knows only the
// imports of packages and the number of their files. list.go and graph.go make the graph,
// check.go does the work, and report.go reports on it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"
)

const usage = `usage: jobs [-workers n] [packages]

Jobs type-checks Go packages and everything that they import, function bodies
included. Packages are named as for "go list"; the default is the standard
library (std). Files are those of a build without cgo, for GOOS and GOARCH.

It exits with 1 when a package is unknown or has an error, and with 2 when the
command line is wrong.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// command is the program without its process: it returns the exit status.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("jobs", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	workers := flags.Int("workers", runtime.GOMAXPROCS(0), "run `n` workers")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil: // Parse has printed it
		return 2
	case *workers < 1:
		fmt.Fprintf(stderr, "jobs: -workers %d: at least one worker is needed\n", *workers)
		return 2
	}
	patterns := flags.Args()
	if len(patterns) == 0 {
		patterns = []string{"std"}
	}
	rep, err := checkAll(ctx, patterns, *workers, stderr)
	if err == nil {
		err = rep.print(stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "jobs: %v\n", err)
		return 1
	}
	return 0
}

// checkAll lists the packages that match the patterns, and checks them with a pool of their
// own. It begins with a line that tells so.
func checkAll(ctx context.Context, patterns []string, workers int, stderr io.Writer) (*report, error) {
	fmt.Fprintf(stderr, "type-checking %s and all that they import, by %s\n", strings.Join(patterns, " "), plural(workers, "worker"))
	packages, err := list(ctx, patterns, stderr)
	if err != nil {
		return nil, err
	}
	units, err := connect(packages)
	if err != nil {
		return nil, err
	}
	c := newChecker(units)
	start := time.Now()
	out, err := schedule(ctx, units, workers, c)
	return &report{out, units, workers, c.totalLines(), time.Since(start)}, err
}
