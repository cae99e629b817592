package main

import (
	"bytes"
	"fmt"
	"io"
	"time"
)

// report is what the program prints at the end.
type report struct {
	outcome
	units   []*unit
	workers int
	lines   int
	wall    time.Duration
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
	elsewhere := 100 * float64(r.elsewhere) / float64(r.removed)
	row("packages", len(r.units), "those with tests alone included")
	row("files", files, "without tests, for this platform")
	row("lines", r.lines, "bodies of functions included")
	row("jobs inserted", r.inserted, "a package or a file each")
	row("jobs removed", r.removed, "the pool is empty")
	row("  on another worker", r.elsewhere, fmt.Sprintf("%.1f %% of the removals: not by the worker that inserted", elsewhere))
	row("slots allocated", r.allocated, fmt.Sprintf("%d of them were used", r.inserted-r.reuses))
	row("reuses", r.reuses, "insertions into a slot that had held a job before")
	row("wall time", r.wall, plural(r.workers, "worker"))
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
