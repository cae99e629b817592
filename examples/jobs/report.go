package main

import (
	"bytes"
	"fmt"
	"io"
	"time"
)

// result is the result of one run.
type result struct {
	outcome
	workers int
	lines   int
	wall    time.Duration
}

// report is what the program prints at the end.
type report struct {
	units []*unit
	run   result
	alone *result // the same with one worker; nil if run had one, or with -once
	gave  float64 // how many processors the workers had, where there is alone
}

// print writes the table. A remark explains a number whose name is not enough.
func (r *report) print(w io.Writer) error {
	files := 0
	for _, u := range r.units {
		files += len(u.files)
	}
	var b bytes.Buffer
	row := func(name string, value any, remark string) {
		if seconds, ok := value.(time.Duration); ok {
			value = fmt.Sprintf("%.2f s", seconds.Seconds())
		}
		fmt.Fprintf(&b, "%-19s %9v  %s\n", name, value, remark)
	}
	run := &r.run
	elsewhere := 100 * float64(run.elsewhere) / float64(run.removed)
	row("packages", len(r.units), "those with tests alone included")
	row("files", files, "without tests, for this platform")
	row("lines", run.lines, "bodies of functions included")
	row("jobs inserted", run.inserted, "a package or a file each")
	row("jobs removed", run.removed, "the pool is empty")
	row("  on another worker", run.elsewhere, fmt.Sprintf("%.1f %% of the removals: not by the worker that inserted", elsewhere))
	row("slots allocated", run.allocated, fmt.Sprintf("%d of them were used", run.inserted-run.reuses))
	row("reuses", run.reuses, "insertions into a slot that had held a job before")
	row("wall time", run.wall, plural(run.workers, "worker"))
	if r.alone != nil {
		row("with one worker", r.alone.wall, fmt.Sprintf("%.2f times as long", r.alone.wall.Seconds()/run.wall.Seconds()))
		row("processors", fmt.Sprintf("%.2f", r.gave), "what the machine gave: a loop that shares nothing, by all workers and by one")
	}
	_, err := b.WriteTo(w)
	return err
}

// plural formats a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
