// Command jobs type-checks Go packages in parallel, in dependency order: the
// standard library, or the packages that are named on its command line.
//
// It shows what a pool is for. A job system makes and drops small records all the time,
// on many goroutines, and its records refer to each other: a job to the jobs that wait
// for it, a task to its job. Here the records are nodes in one pool and all links are
// handles. So slots are reused during the run, a link to a finished job is detected, and
// no record needs a lock, or a guard: only the worker that runs a job removes it.
//
// In ../internal/jobs read node.go, sched.go and worker.go for the scheduler, which knows
// only the imports of packages and the number of their files. graph.go makes the graph, and
// check.go does the work. examples/remote has other processes do it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"coatcheck/examples/internal/jobs"
)

const usage = `usage: jobs [packages]

Jobs type-checks Go packages and everything that they import, function bodies
included. Packages are named as for "go list"; the default is the standard
library (std). Files are those of a build without cgo, for GOOS and GOARCH.
As many workers as GOMAXPROCS do it.
`

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	jobs.Main("jobs", func(ctx context.Context, patterns []string) error {
		return checkAll(ctx, patterns, runtime.GOMAXPROCS(0), os.Stdout, os.Stderr)
	})
}

// checkAll lists the packages that match the patterns, checks them with a pool of their own,
// and prints a table.
func checkAll(ctx context.Context, patterns []string, workers int, stdout, stderr io.Writer) error {
	fmt.Fprintf(stderr, "type-checking %s and all that they import, by %d workers\n", strings.Join(patterns, " "), workers)
	units, err := jobs.Load(ctx, patterns, stderr)
	if err != nil {
		return err
	}
	c := jobs.NewChecker(units)
	start := time.Now()
	out, err := jobs.Schedule(ctx, units, workers, c)
	if err != nil {
		return err
	}
	took := time.Since(start)
	files := 0
	for _, u := range units {
		files += len(u.Files)
	}
	_, err = fmt.Fprintf(stdout, `packages            %9d  also those that have only tests
files               %9d  without tests, for this platform
declarations         %.8s  a digest of all of them, and of their types
jobs inserted       %9d  a package or a file each
jobs removed        %9d  the pool is empty
  on another worker %9d  %.1f %% of them, which another worker had inserted
slots allocated     %9d  %d of them were used
reuses              %9d  insertions into a slot that had held a job before
wall time           %7.2f s
`, len(units), files, jobs.DigestAll(c.Digests()), out.Inserted, out.Removed, out.Elsewhere, 100*float64(out.Elsewhere)/float64(out.Removed),
		out.Allocated, out.Inserted-out.Reuses, out.Reuses, took.Seconds())
	return err
}
