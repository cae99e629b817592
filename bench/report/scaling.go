package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coatcheck/bench/suite"
)

// Widest returns the figures of the machine with the most processors.
func Widest(all []*Figures) *Figures {
	return slices.MaxFunc(all, func(a, b *Figures) int { return cmp.Compare(a.procs(), b.procs()) })
}

func (f *Figures) procs() int {
	n, _ := strconv.Atoi(f.config["gomaxprocs"])
	return n
}

// Scaled is a row of Scaling: a contestant, and its name there.
type Scaled struct{ Impl, Text string }

// Scaling returns a table of what a question's k-th chart has for 2, 4, 8… goroutines, up to the
// number of processors, as multiples of what it has for one. More must be better there. A contestant
// without figures is an error.
func Scaling(f *Figures, q *suite.Question, k int, of []Scaled) (string, error) {
	lines := lines(f.cells(q, k), "goroutines")
	head, rule := "| |", "|---|"
	for n := 2; n <= f.procs(); n *= 2 {
		head, rule = head+fmt.Sprintf(" %d |", n), rule+"---|"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Medians on %s, commit %s.\n\n%s\n%s\n", f.machine(), f.config["commit"], head, rule)
	for _, want := range of {
		at := slices.IndexFunc(lines, func(l *line) bool { return l.impl == want.Impl && l.xs[0] == 1 })
		if at < 0 {
			return "", fmt.Errorf("%s has no figures of %s for one goroutine and for more", q.ID, want.Impl)
		}
		fmt.Fprintf(&b, "| %s |", want.Text)
		l := lines[at]
		for n := 2; n <= f.procs(); n *= 2 {
			text := "–"
			if i := slices.Index(l.xs, float64(n)); i >= 0 {
				text = times(l.ys[i].mid, l.ys[0].mid)
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}
