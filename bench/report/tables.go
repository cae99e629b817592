package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"coatcheck/bench/suite"
)

// contest is a cell that has one of ours.
type contest struct {
	*view
	cell *cell
	ours row // the best of them
}

// contests returns the cells that have one of ours, each once.
func (f *Figures) contests(qs []suite.Question) (cs []contest) {
	seen := map[string]bool{}
	for i := range qs {
		for _, v := range f.views(&qs[i]) {
			for _, c := range v.cells {
				key := fmt.Sprint(v.q.ID, v.unit.name, c.params)
				if ours, ok := c.best(suite.Ours); ok && !seen[key] {
					seen[key] = true
					cs = append(cs, contest{v, c, ours})
				}
			}
		}
	}
	return cs
}

// heading is the heading of all tables of contests but for the first column or two, and but for
// the brief one.
var heading = []string{"the plain pool", "best of ours", "best that does the job", "ratio", "best reference, which does less"}

// texts returns a contest's row under heading. The ratio is that of the best of ours.
func (c contest) texts() []string {
	texts := []string{"", c.ours.String(), "", "", ""}
	if plain, ok := c.cell.plain(); ok {
		texts[0] = plain.figure.String()
	}
	if theirs, ok := c.cell.best(suite.Theirs); ok {
		v, quotient := compare(c.ours.figure, theirs.figure)
		texts[2], texts[3] = theirs.String(), times(quotient)
		if v == level && !math.IsNaN(quotient) {
			texts[3] = "~" + texts[3]
		}
	}
	if reference, ok := c.cell.best(suite.Reference); ok {
		texts[4] = reference.String()
	}
	return texts
}

// plain returns the row of the pool without a Worker, a guard or an option.
func (c *cell) plain() (row, bool) { return c.find(func(r row) bool { return r.impl == "pool" }) }

// losses returns the comparisons in which the best of ours is behind one of theirs, beyond the
// noise, the worst first, and a sentence with their number.
func losses(cs []contest) (rows [][]string, score string) {
	type loss struct {
		by    float64 // above 1
		texts []string
	}
	var all []loss
	comparisons, plainly := 0, 0
	for _, c := range cs {
		for _, theirs := range c.cell.rows {
			if theirs.role != suite.Theirs {
				continue
			}
			comparisons++
			if plain, ok := c.cell.plain(); ok {
				if v, _ := compare(plain.figure, theirs.figure); v == behind {
					plainly++
				}
			}
			v, quotient := compare(c.ours.figure, theirs.figure)
			if v != behind {
				continue
			}
			by := quotient
			if c.unit.more {
				by = 1 / quotient
			}
			if math.IsNaN(by) {
				by = math.Inf(1) // theirs need nothing
			}
			all = append(all, loss{by, []string{c.q.ID, c.place(c.cell), c.ours.String(), theirs.String(), times(quotient)}})
		}
	}
	slices.SortStableFunc(all, func(a, b loss) int { return cmp.Compare(b.by, a.by) })
	for _, l := range all {
		rows = append(rows, l.texts)
	}
	return rows, fmt.Sprintf("We lose %d of %d comparisons, with the plain pool alone %d.", len(rows), comparisons, plainly)
}

// Text writes the tables for the terminal: a row for each contest, and where we lose.
func Text(w io.Writer, f *Figures, qs []suite.Question) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(texts ...string) { fmt.Fprintln(t, strings.Join(texts, "\t")) }
	cs := f.contests(qs)
	lost, score := losses(cs)
	line(f.origin() + "\n")
	line(append([]string{"question", "at"}, heading...)...)
	for _, c := range cs {
		line(append([]string{c.q.ID, c.place(c.cell)}, c.texts()...)...)
	}
	line()
	line("question", "at", "best of ours", "is behind", "ratio")
	for _, texts := range lost {
		line(texts...)
	}
	line("\n" + score)
	return t.Flush()
}
