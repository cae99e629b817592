package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"coatcheck/bench/suite"
)

// Named is a contestant, and what readers who do not know it are told.
type Named struct{ Impl, Text string }

// Widest returns the figures of the machine with the most processors.
func Widest(all []*Figures) *Figures {
	return slices.MaxFunc(all, func(a, b *Figures) int { return cmp.Compare(a.procs(), b.procs()) })
}

func (f *Figures) procs() int {
	n, _ := strconv.Atoi(f.config["gomaxprocs"])
	return n
}

// Scaling returns a table of what a question's k-th chart has for 2, 4, 8… goroutines, up to the
// number of processors, as multiples of what it has for one. More must be better there. It has a row
// for each contestant.
func Scaling(f *Figures, q *suite.Question, k int, of []Named) (string, error) {
	var counts []float64
	for n := 2; n <= f.procs(); n *= 2 {
		counts = append(counts, float64(n))
	}
	g, err := f.grid(q, k, of)
	if err != nil {
		return "", err
	}
	table := [][]string{{""}}
	for _, n := range counts {
		table[0] = append(table[0], fmt.Sprint(n))
	}
	for i, l := range g {
		row, one := []string{of[i].Text}, l.at(1)
		for _, n := range counts {
			text := missing
			if y := l.at(n); one != nil && y != nil {
				text = times(y.mid, one.mid)
			}
			row = append(row, text)
		}
		table = append(table, row)
	}
	return f.source() + markdown(table), nil
}

// Goroutines returns a table of what a question's k-th chart has for one goroutine and for as many
// as there are processors. It has a column for each contestant.
func Goroutines(f *Figures, q *suite.Question, k int, of []Named) (string, error) {
	g, err := f.grid(q, k, of)
	if err != nil {
		return "", err
	}
	table := [][]string{{"goroutines"}, {"1"}, {fmt.Sprint(f.procs())}}
	for i, l := range g {
		table[0] = append(table[0], of[i].Text)
		for j, n := range []int{1, f.procs()} {
			text := missing
			if y := l.at(float64(n)); y != nil {
				text = y.unit.text(y.mid)
			}
			table[1+j] = append(table[1+j], text)
		}
	}
	return f.source() + markdown(table), nil
}

// grid returns the lines of contestants of a chart, over the number of goroutines. A contestant
// without figures is an error.
func (f *Figures) grid(q *suite.Question, k int, of []Named) (g []*line, err error) {
	all := lines(f.cells(q, k), "goroutines")
	for _, want := range of {
		at := slices.IndexFunc(all, func(l *line) bool { return l.impl == want.Impl })
		if at < 0 {
			return nil, fmt.Errorf("%s has no figures of %s for several numbers of goroutines", q.ID, want.Impl)
		}
		g = append(g, all[at])
	}
	return g, nil
}

// at returns the line's figure at x, or nil.
func (l *line) at(x float64) *figure {
	if i := slices.Index(l.xs, x); i >= 0 {
		return &l.ys[i]
	}
	return nil
}

// source is a paragraph that says where a table's figures are from.
func (f *Figures) source() string {
	return fmt.Sprintf("Medians on %s.\n\n", listed([][3]string{
		{"", f.machine(), ""}, {"", f.config["go"], ""}, {"commit ", f.config["commit"], ""}, {"", f.config["date"], ""},
	}))
}
