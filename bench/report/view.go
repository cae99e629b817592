package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"golang.org/x/perf/benchunit"

	"coatcheck/bench/suite"
)

// view is the contents of a chart: some of a question's figures, in one unit.
type view struct {
	q      *suite.Question
	chart  suite.Chart
	first  bool // of the question's
	unit   unit
	title  string
	cells  []*cell
	varied []string // the parameters in which cells differ
}

// cell is all contestants under one set of parameters.
type cell struct {
	params []suite.Param
	label  string // those parameters in which cells differ: "live 1,000, goroutines 2"
	rows   []row  // by role, those of a role from the best to the worst
}

// row is one contestant in a cell.
type row struct {
	impl string
	role suite.Role
	figure
}

func (r row) String() string { return r.impl + " " + r.figure.String() }

// best returns the best row with the role.
func (c *cell) best(role suite.Role) (best row, ok bool) {
	return c.find(func(r row) bool { return r.role == role })
}

func (c *cell) find(is func(row) bool) (found row, ok bool) {
	i := slices.IndexFunc(c.rows, is)
	if i < 0 {
		return row{}, false
	}
	return c.rows[i], true
}

// place identifies a cell within its question: the parameters that the chart selects, those
// that vary, and the unit unless it is the time of an operation.
func (v *view) place(c *cell) string {
	parts := []string{label(c.params, slices.Sorted(maps.Keys(v.chart.Where))), c.label}
	if v.unit.name != unitTime {
		parts = append(parts, v.unit.label())
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// label returns those of the parameters: "live 1,000, goroutines 2".
func label(params []suite.Param, keys []string) string {
	var parts []string
	for _, key := range keys {
		if v := value(params, key); v != "" {
			parts = append(parts, key+" "+number(v))
		}
	}
	return strings.Join(parts, ", ")
}

// views returns the charts of a question that have figures.
func (f *Figures) views(q *suite.Question) (vs []*view) {
	for i, chart := range q.Charts {
		_, tidy := benchunit.Tidy(1, chart.Unit)
		v := &view{q: q, chart: chart, first: i == 0, unit: unit{tidy, chart.More}, title: cmp.Or(chart.Title, q.Title)}
		for _, s := range f.series {
			if s.id == q.ID {
				v.add(s)
			}
		}
		if len(v.cells) > 0 {
			v.finish()
			vs = append(vs, v)
		}
	}
	return vs
}

// add adds a row to its cell, if it is part of the chart.
func (v *view) add(s *series) {
	rounds := s.rounds[v.unit.name]
	for key, want := range v.chart.Where {
		if value(s.params, key) != want {
			return
		}
	}
	if len(rounds) == 0 {
		return
	}
	i := slices.IndexFunc(v.cells, func(c *cell) bool { return slices.Equal(c.params, s.params) })
	if i < 0 {
		i = len(v.cells)
		v.cells = append(v.cells, &cell{params: s.params})
	}
	v.cells[i].rows = append(v.cells[i].rows, row{s.impl, v.q.Roles[s.impl], summarize(rounds, v.unit)})
}

// finish sorts the rows and labels the cells.
func (v *view) finish() {
	for _, c := range v.cells {
		slices.SortStableFunc(c.rows, func(a, b row) int {
			if v.unit.more && a.role == b.role {
				a, b = b, a
			}
			return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(a.mid, b.mid))
		})
		for _, p := range c.params {
			differs := func(o *cell) bool { return value(o.params, p.Key) != p.Value }
			if !slices.Contains(v.varied, p.Key) && slices.ContainsFunc(v.cells, differs) {
				v.varied = append(v.varied, p.Key)
			}
		}
	}
	for _, c := range v.cells {
		c.label = label(c.params, v.varied)
	}
}
