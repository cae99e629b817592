package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progress shows how far a run is. On a terminal it rewrites one line in place. Elsewhere
// it writes lines at growing intervals, so that a log stays short. It has no goroutine:
// finished packages drive it.
type progress struct {
	out      io.Writer // written under mu
	inPlace  bool
	verbose  bool   // a line for each package
	run      string // the name of the run: "2 workers"
	packages int    // in all

	mu sync.Mutex

	// Under mu from here on.

	done  int
	files int // of the packages that are done
	lines int
	every time.Duration // least time between two writes
	last  time.Time     // the time of the last write
}

// newProgress begins the progress of a run over that many packages.
func newProgress(out io.Writer, verbose bool, run string, packages int) *progress {
	p := &progress{
		out:      out,
		inPlace:  isTerminal(out),
		verbose:  verbose,
		every:    100 * time.Millisecond,
		run:      run,
		packages: packages,
		last:     time.Now(),
	}
	p.write()
	return p
}

// isTerminal reports whether out is a character device, the best test that the standard
// library has for a terminal.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// packageDone counts a package, and writes if it is time.
func (p *progress) packageDone(u *unit, lines int, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.files += len(u.files)
	p.lines += lines
	if p.verbose {
		p.wipe()
		fmt.Fprintf(p.out, "%-40s %4d files %7d lines %9s\n", u.path, len(u.files), lines, took.Round(10*time.Microsecond))
	}
	// In a verbose log the lines of single packages are enough.
	if now := time.Now(); now.Sub(p.last) >= p.every && (p.inPlace || !p.verbose) {
		p.last = now
		p.write()
		if !p.inPlace {
			p.every = min(2*p.every, 10*time.Second)
		}
	}
}

// write writes the progress in fewer than 80 columns, since a line that wraps cannot be
// rewritten in place.
func (p *progress) write() {
	p.wipe()
	fmt.Fprintf(p.out, "%s: %d of %d packages, %d files, %d lines", p.run, p.done, p.packages, p.files, p.lines)
	if !p.inPlace {
		fmt.Fprintln(p.out)
	}
}

// wipe erases the line that is rewritten in place (carriage return, ANSI's EL).
func (p *progress) wipe() {
	if p.inPlace {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// end writes the final progress, or on a terminal erases the line.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inPlace {
		p.wipe()
	} else {
		p.write()
	}
}
