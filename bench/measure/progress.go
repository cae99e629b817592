package measure

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// Progress tells a person how far a run has come: on a terminal by a line that is
// overwritten, elsewhere by a line for each question.
type Progress struct {
	out      *os.File
	terminal bool
	begin    time.Time
	shown    time.Time
	wide     int // columns of the last line
	current  string
	since    time.Time
}

// NewProgress returns a Progress that writes to f.
func NewProgress(f *os.File) *Progress {
	info, err := f.Stat()
	return &Progress{out: f, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0, begin: time.Now()}
}

// Begin is called when another question, or whatever a run has in its place, begins.
func (p *Progress) Begin(name string) {
	p.finish()
	p.current, p.since = name, time.Now()
}

func (p *Progress) finish() {
	if p.current != "" && !p.terminal {
		fmt.Fprintf(p.out, "%-12s %6.1f s\n", p.current, time.Since(p.since).Seconds())
	}
	p.current = ""
}

// Show is called before each turn. part, of 1, is done.
func (p *Progress) Show(name string, part float64) {
	if !p.terminal || time.Since(p.shown) < 100*time.Millisecond {
		return
	}
	p.shown = time.Now()
	const room = 60
	if len(name) > room {
		name = name[:room-1] + "…"
	}
	left := "…"
	if gone := time.Since(p.begin); gone > time.Second && part > 0 {
		left = time.Duration(float64(gone) * (1 - part) / part).Round(time.Second).String()
	}
	p.print(fmt.Sprintf("%3.0f %%  %8s left  %s", 100*part, left, name))
}

func (p *Progress) print(line string) {
	wide := len([]rune(line))
	fmt.Fprint(p.out, "\r", line, strings.Repeat(" ", max(0, p.wide-wide)))
	p.wide = wide
}

// End is called when a pass is over.
func (p *Progress) End() {
	p.finish()
	if p.terminal {
		p.print("")
		fmt.Fprint(p.out, "\r")
		p.wide = 0
	}
}
