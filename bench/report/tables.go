package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchunit"

	"coatcheck/bench/suite"
)

// cell is all contestants of a chart under one set of parameters.
type cell struct {
	id, title string // of the question, and of the chart
	params    []suite.Param
	label     string // those parameters in which the chart's cells differ: "live 1,000, goroutines 2"
	unit      unit
	rows      []row // by role, those of a role from the best to the worst
}

// row is one contestant in a cell.
type row struct {
	impl string
	role suite.Role
	figure
}

// String returns the contestant and its figure, "" for none.
func (r *row) String() string {
	if r == nil {
		return ""
	}
	return r.impl + " " + r.figure.String()
}

// best returns the best row with the role, or nil.
func (c *cell) best(role suite.Role) *row {
	return c.find(func(r row) bool { return r.role == role })
}

// impl returns the row of a contestant, or nil.
func (c *cell) impl(name string) *row {
	return c.find(func(r row) bool { return r.impl == name })
}

func (c *cell) find(is func(row) bool) *row {
	if i := slices.IndexFunc(c.rows, is); i >= 0 {
		return &c.rows[i]
	}
	return nil
}

// place identifies a cell within its question.
func (c *cell) place() string {
	text := label(c.params, func(suite.Param) bool { return true })
	if c.unit.name != unitTime {
		text += ", " + c.unit.label()
	}
	return text
}

// label returns some of the parameters: "live 1,000, goroutines 2".
func label(params []suite.Param, has func(suite.Param) bool) string {
	var parts []string
	for _, p := range params {
		if has(p) {
			parts = append(parts, p.Key+" "+number(p.Value))
		}
	}
	return strings.Join(parts, ", ")
}

// cells returns the cells of a question's k-th chart.
func (f *Figures) cells(q *suite.Question, k int) (cs []*cell) {
	chart := q.Charts[k]
	_, tidy := benchunit.Tidy(1, chart.Unit)
	u := unit{tidy, chart.More}
	for _, s := range f.series {
		rounds, outside := s.rounds[u.name], s.id != q.ID
		for key, want := range chart.Where {
			outside = outside || value(s.params, key) != want
		}
		if outside || len(rounds) == 0 {
			continue
		}
		i := slices.IndexFunc(cs, func(c *cell) bool { return slices.Equal(c.params, s.params) })
		if i < 0 {
			i = len(cs)
			cs = append(cs, &cell{id: q.ID, title: cmp.Or(chart.Title, q.Title), params: s.params, unit: u})
		}
		cs[i].rows = append(cs[i].rows, row{s.impl, q.Roles[s.impl], summarize(rounds, u)})
	}
	for _, c := range cs {
		c.label = label(c.params, func(p suite.Param) bool {
			return slices.ContainsFunc(cs, func(o *cell) bool { return value(o.params, p.Key) != p.Value })
		})
		slices.SortStableFunc(c.rows, func(a, b row) int {
			if u.more && a.role == b.role {
				a, b = b, a
			}
			return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(a.mid, b.mid))
		})
	}
	return cs
}

// contests returns the cells that have one of ours, each once.
func (f *Figures) contests(qs []suite.Question) (cs []*cell) {
	seen := map[string]bool{}
	for i := range qs {
		for k := range qs[i].Charts {
			for _, c := range f.cells(&qs[i], k) {
				if key := c.id + c.place(); c.best(suite.Ours) != nil && !seen[key] {
					seen[key] = true
					cs = append(cs, c)
				}
			}
		}
	}
	return cs
}

// heading is the heading of the table of contests.
var heading = []string{"question", "at", "the plain pool", "best of ours", "best that does the job", "ratio", "best reference, which does less"}

// texts returns a contest's row under heading. The ratio is that of the best of ours.
func (c *cell) texts() []string {
	ours, theirs, ratio := c.best(suite.Ours), c.best(suite.Theirs), ""
	if theirs != nil {
		ratio = times(ours.mid, theirs.mid)
		if !differ(ours.figure, theirs.figure) {
			ratio = "~" + ratio
		}
	}
	return []string{c.id, c.place(), strings.TrimPrefix(c.impl("pool").String(), "pool "), ours.String(), theirs.String(), ratio, c.best(suite.Reference).String()}
}

// losses returns the comparisons in which the best of ours is behind one of theirs, beyond the
// noise, the worst first, and a sentence with their number.
func losses(cs []*cell) (rows [][]string, score string) {
	type loss struct {
		by    float64
		texts []string
	}
	var all []loss
	comparisons, plainly := 0, 0
	for _, c := range cs {
		ours, plain := c.best(suite.Ours), c.impl("pool")
		for _, theirs := range c.rows {
			if theirs.role != suite.Theirs {
				continue
			}
			comparisons++
			if plain != nil && behind(plain.figure, theirs.figure) {
				plainly++
			}
			if behind(ours.figure, theirs.figure) {
				by := max(ours.mid, theirs.mid) / min(ours.mid, theirs.mid)
				all = append(all, loss{by, []string{c.id, c.place(), ours.String(), theirs.String(), times(ours.mid, theirs.mid)}})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b loss) int { return cmp.Compare(b.by, a.by) })
	for _, l := range all {
		rows = append(rows, l.texts)
	}
	return rows, fmt.Sprintf("We lose %d of %d comparisons; without Workers and Guards, %d.", len(rows), comparisons, plainly)
}

// Text writes the tables for the terminal: a row for each contest, and where we lose.
func Text(w io.Writer, f *Figures, qs []suite.Question) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(texts ...string) { fmt.Fprintln(t, strings.Join(texts, "\t")) }
	cs := f.contests(qs)
	lost, score := losses(cs)
	line(f.origin() + "\n")
	line(heading...)
	for _, c := range cs {
		line(c.texts()...)
	}
	line()
	line("question", "at", "best of ours", "is behind", "ratio")
	for _, texts := range lost {
		line(texts...)
	}
	line("\n" + score + " Costs: below 1 is better. Rates: above 1 is better. ~ is within the noise.")
	return t.Flush()
}
