package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"coatcheck/bench/suite"
)

// view is the contents of a chart: some of a question's figures, in one unit.
type view struct {
	q      *suite.Question
	chart  suite.Chart
	unit   unit
	cells  []*cell  // in the order of their parameters
	varied []string // the parameters in which cells differ
}

// cell is all contestants under one set of parameters.
type cell struct {
	params []suite.Param
	rows   []row // by role, those of a role from the best to the worst
}

// row is one contestant in a cell.
type row struct {
	impl string // with its own parameter: "pool, by guard"
	role suite.Role
	figure
}

func (c *cell) row(impl string) (row, bool) {
	for _, r := range c.rows {
		if r.impl == impl {
			return r, true
		}
	}
	return row{}, false
}

// best returns the best row with the role.
func (c *cell) best(role suite.Role) (best row, ok bool) {
	for _, r := range c.rows {
		if r.role == role {
			return r, true
		}
	}
	return
}

// label returns the cell's parameters that vary: "live 1,000, goroutines 2".
func (v *view) label(c *cell) string {
	var parts []string
	for _, key := range v.varied {
		if p := value(c.params, key); p != "" {
			parts = append(parts, paramText(suite.Param{Key: key, Value: p}))
		}
	}
	return strings.Join(parts, ", ")
}

// place identifies a cell within its question: the parameters that the chart selects, those
// that vary, and the unit unless it is the time of an operation.
func (v *view) place(c *cell) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(v.chart.Where)) {
		parts = append(parts, paramText(suite.Param{Key: key, Value: v.chart.Where[key]}))
	}
	parts = append(parts, v.label(c))
	if v.unit.name != unitTime {
		parts = append(parts, v.unit.label())
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

func paramText(p suite.Param) string { return p.Key + " " + number(p.Value) }

// views returns the question's charts that have figures.
func (f *Figures) views(q *suite.Question) (vs []*view) {
	for _, c := range q.Charts {
		if v := f.view(q, c); v != nil {
			vs = append(vs, v)
		}
	}
	return
}

// view returns a chart with its figures, or nil if there are none.
func (f *Figures) view(q *suite.Question, chart suite.Chart) *view {
	v := &view{q: q, chart: chart, unit: f.unitOf(chart.Unit, chart.More)}
	if v.chart.Title == "" {
		v.chart.Title = q.Title
	}
	byParams := map[string]*cell{}
	// References come last: one that has fewer parameters than the contestants is in every
	// cell that has these.
	for _, shared := range []bool{false, true} {
		for _, s := range f.Series {
			role := q.Roles[s.Impl]
			fig, ok := s.figure(v.unit)
			if !ok || s.ID != q.ID || !s.admitted(chart.Where) || shared != (role == suite.Reference) {
				continue
			}
			impl, params := s.contestant(q.Own)
			r, found := row{impl, role, fig}, false
			for _, c := range v.cells {
				if _, has := c.row(impl); shared && !has && includes(c.params, params) {
					c.rows, found = append(c.rows, r), true
				}
			}
			if found {
				continue
			}
			key := fmt.Sprint(params)
			if byParams[key] == nil {
				byParams[key] = &cell{params: params}
				v.cells = append(v.cells, byParams[key])
			}
			byParams[key].rows = append(byParams[key].rows, r)
		}
	}
	if len(v.cells) == 0 {
		return nil
	}
	v.vary()
	for _, c := range v.cells {
		slices.SortStableFunc(c.rows, func(a, b row) int {
			if a.role == b.role && a.mid != b.mid {
				return map[bool]int{true: -1, false: 1}[v.unit.ahead(a.mid, b.mid)]
			}
			return cmp.Compare(a.role, b.role)
		})
	}
	return v
}

// contestant returns the name of s, with the parameter own if it has one, and the
// parameters of its cell.
func (s *Series) contestant(own string) (impl string, params []suite.Param) {
	impl = s.Impl
	for _, p := range s.Params {
		if p.Key == own {
			impl += ", " + paramText(p)
		} else {
			params = append(params, p)
		}
	}
	return
}

// admitted reports whether s has the parameters that a chart selects.
func (s *Series) admitted(where map[string]string) bool {
	for key, want := range where {
		if value(s.Params, key) != want {
			return false
		}
	}
	return true
}

// figure returns the series' figure in the unit. It derives a rate from the times.
func (s *Series) figure(u unit) (figure, bool) {
	if rounds := s.Rounds[u.name]; len(rounds) > 0 {
		return summarize(rounds), true
	}
	times := s.Rounds[unitTime]
	if len(times) == 0 || u.name != unitRate || slices.Min(times) <= 0 {
		return figure{}, false
	}
	rates := make([]float64, len(times))
	for i := range times {
		rates[i] = 1 / times[i]
	}
	return summarize(rates), true
}

// includes reports whether ps has all parameters of sub.
func includes(ps, sub []suite.Param) bool {
	for _, p := range sub {
		if value(ps, p.Key) != p.Value {
			return false
		}
	}
	return true
}

// vary finds the parameters in which the cells differ and sorts the cells by them: numbers
// by value, others in the order of the file.
func (v *view) vary() {
	v.varied = nil
	order := map[string][]string{} // values of each key
	var keys []string
	for _, c := range v.cells {
		for _, p := range c.params {
			if order[p.Key] == nil {
				keys = append(keys, p.Key)
			}
			if !slices.Contains(order[p.Key], p.Value) {
				order[p.Key] = append(order[p.Key], p.Value)
			}
		}
	}
	for _, key := range keys {
		if len(order[key]) > 1 {
			v.varied = append(v.varied, key)
		}
		slices.SortStableFunc(order[key], func(a, b string) int {
			x, ok := numeric(a)
			y, also := numeric(b)
			if !ok || !also {
				return 0
			}
			return cmp.Compare(x, y)
		})
	}
	slices.SortStableFunc(v.cells, func(a, b *cell) int {
		for _, key := range v.varied {
			if c := slices.Index(order[key], value(a.params, key)) - slices.Index(order[key], value(b.params, key)); c != 0 {
				return c
			}
		}
		return 0
	})
}
