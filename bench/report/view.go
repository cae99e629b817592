package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchunit"

	"coatcheck/bench/suite"
)

// view is the contents of a chart: some of a question's figures, in one unit.
type view struct {
	q     *suite.Question
	chart suite.Chart
	unit  unit
	Title string
	Cells []*cell

	varied []string // the parameters in which cells differ
}

// cell is all contestants under one set of parameters.
type cell struct {
	params []suite.Param
	Label  string // those parameters in which cells differ: "live 1,000, goroutines 2"
	Rows   []row  // by role, those of a role from the best to the worst
}

// row is one contestant in a cell.
type row struct {
	Impl string
	Role suite.Role
	figure
}

func (r row) String() string {
	return strings.TrimSpace(r.Impl + " " + r.Text() + " " + r.Spread())
}

// best returns the best row with the role.
func (c *cell) best(role suite.Role) (best row, ok bool) {
	i := slices.IndexFunc(c.Rows, func(r row) bool { return r.Role == role })
	if i < 0 {
		return row{}, false
	}
	return c.Rows[i], true
}

// Part returns a figure as a percentage of the cell's longest.
func (c *cell) Part(x float64) float64 {
	longest := math.SmallestNonzeroFloat64
	for _, r := range c.Rows {
		longest = max(longest, r.Hi)
	}
	return math.Round(1000*max(0, x)/longest) / 10
}

// place identifies a cell within its question: the parameters that the chart selects, those
// that vary, and the unit unless it is the time of an operation.
func (v *view) place(c *cell) string {
	parts := []string{label(c.params, slices.Sorted(maps.Keys(v.chart.Where))), c.Label}
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
	for _, chart := range q.Charts {
		_, tidy := benchunit.Tidy(1, chart.Unit)
		v := &view{q: q, chart: chart, unit: unit{tidy, chart.More}, Title: cmp.Or(chart.Title, q.Title)}
		for _, s := range f.Series {
			if s.ID == q.ID {
				v.add(s)
			}
		}
		if len(v.Cells) > 0 {
			v.finish()
			vs = append(vs, v)
		}
	}
	return vs
}

// add adds a row to its cell, if it is part of the chart.
func (v *view) add(s *Series) {
	rounds := s.Rounds[v.unit.name]
	for key, want := range v.chart.Where {
		if value(s.Params, key) != want {
			return
		}
	}
	if len(rounds) == 0 {
		return
	}
	i := slices.IndexFunc(v.Cells, func(c *cell) bool { return slices.Equal(c.params, s.Params) })
	if i < 0 {
		i = len(v.Cells)
		v.Cells = append(v.Cells, &cell{params: s.Params})
	}
	v.Cells[i].Rows = append(v.Cells[i].Rows, row{s.Impl, v.q.Roles[s.Impl], summarize(rounds, v.unit)})
}

// finish sorts the rows and labels the cells.
func (v *view) finish() {
	for _, c := range v.Cells {
		slices.SortStableFunc(c.Rows, func(a, b row) int {
			if v.unit.more && a.Role == b.Role {
				a, b = b, a
			}
			return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Mid, b.Mid))
		})
		for _, p := range c.params {
			differs := func(o *cell) bool { return value(o.params, p.Key) != p.Value }
			if !slices.Contains(v.varied, p.Key) && slices.ContainsFunc(v.Cells, differs) {
				v.varied = append(v.varied, p.Key)
			}
		}
	}
	for _, c := range v.Cells {
		c.Label = label(c.params, v.varied)
	}
}
