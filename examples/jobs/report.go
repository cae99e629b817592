package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
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

// WriteTo writes the table.
func (r *report) WriteTo(w io.Writer) (int64, error) {
	// Packages with only tests match std too. They are jobs like the others, without
	// files.
	files, bare := 0, 0
	for _, u := range r.units {
		files += len(u.files)
		if len(u.files) == 0 && u.path != "unsafe" {
			bare++
		}
	}
	run := &r.run

	var b bytes.Buffer
	row := func(name, value, remark string) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-19s %11s  %s", name, value, remark), " "))
		b.WriteByte('\n')
	}
	// A remark explains a number whose name is not enough.
	packages := ""
	if bare > 0 {
		packages = fmt.Sprintf("%d of them without files but tests", bare)
	}
	row("packages", group(len(r.units)), packages)
	row("files", group(files), "")
	row("lines", group(run.lines), "")
	row("jobs inserted", group(run.inserted), "a package or a file each")
	row("jobs removed", group(run.removed), "the pool is empty")
	row("  on another worker", group(run.elsewhere), percent(run.elsewhere, run.removed)+" of the removals: not by the worker that inserted")
	row("peak live", group(run.peakLive), "jobs in the pool at one time")
	row("slots allocated", group(run.allocated), group(run.slots())+" of them were used")
	row("reuses", group(run.reuses), "insertions into a slot that had held a job before")
	row("wall time", seconds(run.wall), plural(run.workers, "worker"))
	if r.alone != nil {
		row("with one worker", seconds(r.alone.wall),
			fmt.Sprintf("%.2f times as long", r.alone.wall.Seconds()/run.wall.Seconds()))
		row("processors", fmt.Sprintf("%.2f", r.gave), "what the machine gave: a loop that shares nothing, by all workers and by one")
	}
	return b.WriteTo(w)
}

// group formats n with a comma between groups of three digits.
func group(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// percent formats a part of a whole.
func percent(part, whole int) string {
	if whole == 0 {
		return "0.0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// seconds formats a duration.
func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// plural formats a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return group(n) + " " + thing + "s"
}
