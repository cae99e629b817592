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
// imports of packages and the number of their files. load.go and graph.go make the graph,
// check.go does the work, and progress.go, tally.go, report.go and processors.go report on it.
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

const usage = `usage: jobs [-workers n] [-once] [-v] [packages]

Jobs type-checks Go packages and everything that they import, in dependency
order and in parallel. Packages are named as for "go list"; without any it
checks the standard library (std). It reads them as for a build without cgo, on
the platform that GOOS and GOARCH say.

Function bodies are checked as well: the standard library takes a few seconds of
processor time, shared among the workers. Then it does the same once more with
one worker, for comparison, and prints a table. (Go's garbage collector runs
beside the workers in both cases, so one worker keeps more than one processor
busy.)

It exits with 1, and says why, when a package is unknown, has an error, or
imports itself through others; with 2 when the command line is wrong.

	-workers n  this many workers; default: GOMAXPROCS, here %d
	-once       do not repeat the run with one worker
	-v          a line for each package when it is done
	-h          this text
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// A second interrupt ends the program at once.
	context.AfterFunc(ctx, stop)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// settings are the settings on the command line.
type settings struct {
	patterns []string
	workers  int
	once     bool
	verbose  bool
}

// command is the program without its process: it returns the exit status.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	set, err := parseArgs(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, usage, runtime.GOMAXPROCS(0))
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "jobs: %v\nRun jobs -h for help.\n", err)
		return 2
	}
	rep, err := checkAll(ctx, set, stderr)
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		fmt.Fprintln(stderr, "jobs: interrupted")
		return 1
	case err != nil:
		fmt.Fprintf(stderr, "jobs: %v\n", err)
		return 1
	}
	if _, err := rep.WriteTo(stdout); err != nil {
		fmt.Fprintf(stderr, "jobs: %v\n", err)
		return 1
	}
	return 0
}

// parseArgs reads the command line.
func parseArgs(args []string) (settings, error) {
	var set settings
	flags := flag.NewFlagSet("jobs", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the caller reports the error
	flags.IntVar(&set.workers, "workers", runtime.GOMAXPROCS(0), "")
	flags.BoolVar(&set.once, "once", false, "")
	flags.BoolVar(&set.verbose, "v", false, "")
	if err := flags.Parse(args); err != nil {
		return set, err
	}
	if set.workers < 1 {
		return set, fmt.Errorf("-workers %d: at least one worker is needed", set.workers)
	}
	set.patterns = flags.Args()
	if len(set.patterns) == 0 {
		set.patterns = []string{"std"}
	}
	return set, nil
}

// checkAll lists the packages, checks them, and checks them once more with one
// worker if there were more.
func checkAll(ctx context.Context, set settings, stderr io.Writer) (*report, error) {
	compare, again := set.workers > 1 && !set.once, ""
	if compare {
		again = ", and again with 1 for comparison"
	}
	fmt.Fprintf(stderr, "type-checking %s and all that they import, by %s%s\n", strings.Join(set.patterns, " "), plural(set.workers, "worker"), again)
	packages, err := list(ctx, set.patterns, stderr)
	if err != nil {
		return nil, err
	}
	units, err := connect(packages)
	if err != nil {
		return nil, err
	}
	rep := &report{units: units}
	if rep.run, err = checkOnce(ctx, units, set.workers, set.verbose, stderr); err != nil {
		return nil, err
	}
	if compare {
		runtime.GC() // the second run must not collect the garbage of the first
		alone, err := checkOnce(ctx, units, 1, false, stderr)
		if err != nil {
			return nil, err
		}
		rep.alone, rep.gave = &alone, gave(set.workers)
	}
	return rep, nil
}

// checkOnce is one run over the graph, with a pool of its own.
func checkOnce(ctx context.Context, units []*unit, workers int, verbose bool, stderr io.Writer) (result, error) {
	told := newProgress(stderr, verbose, plural(workers, "worker"), len(units))
	defer told.end()
	c := newChecker(units, told.packageDone)
	start := time.Now()
	out, err := schedule(ctx, units, workers, c)
	return result{outcome: out, workers: workers, lines: c.totalLines(), wall: time.Since(start)}, err
}
