package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progress tells how far a run is: on a terminal in one line that is rewritten
// in place, elsewhere in a line now and then, more and more seldom, so that a
// log stays short. It has no goroutine of its own; the packages that get done
// keep it going.
type progress struct {
	out      io.Writer // written under mu
	inPlace  bool
	verbose  bool   // a line for each package
	run      string // which run it is: "2 workers"
	packages int    // in all

	mu sync.Mutex

	// Under mu from here on.

	done  int
	files int // of the packages that are done
	lines int
	every time.Duration // least time between two writes
	last  time.Time     // when it wrote
}

// newProgress starts to tell of a run over so many packages.
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

// isTerminal tells whether out is a character device, which is as much as the
// standard library knows of terminals.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// packageDone counts a package, and writes when it is time to.
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
	// In a log the lines of single packages tell enough.
	if now := time.Now(); now.Sub(p.last) >= p.every && (p.inPlace || !p.verbose) {
		p.last = now
		p.write()
		if !p.inPlace {
			p.every = min(2*p.every, 10*time.Second)
		}
	}
}

// write writes where the run is, in fewer than 80 columns: a line that wraps is
// not rewritten in place.
func (p *progress) write() {
	p.wipe()
	fmt.Fprintf(p.out, "%s: %d of %d packages, %d files, %d lines", p.run, p.done, p.packages, p.files, p.lines)
	if !p.inPlace {
		fmt.Fprintln(p.out)
	}
}

// wipe empties the line that is rewritten in place: back to its start, erase to
// its end (ANSI's EL).
func (p *progress) wipe() {
	if p.inPlace {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// end tells where the run ended, or on a terminal makes room for what is
// written after it.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inPlace {
		p.wipe()
	} else {
		p.write()
	}
}
