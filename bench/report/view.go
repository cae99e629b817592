package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"coatcheck/bench/suite"
)

// view is what one chart shows: some of a question's figures, in one unit.
type view struct {
	q      *suite.Question
	chart  suite.Chart
	unit   unit
	cells  []*cell           // in the order of their parameters
	varied []string          // the parameters in which cells differ, in the order of the name
	fixed  []suite.Param     // the others
	missed map[string]string // what contestants let through, nil if nobody tried
	once   bool              // nothing of the file was measured more than once
}

// cell is all contestants under one set of parameters.
type cell struct {
	params []suite.Param
	rows   []row // in the order of first appearance in the file
}

// row is one contestant in a cell.
type row struct {
	impl string // its name, with parameters that are its own: "fifo, rest 4,096"
	role suite.Role
	figure
}

// row returns the contestant's row in the cell.
func (c *cell) row(impl string) (row, bool) {
	for _, r := range c.rows {
		if r.impl == impl {
			return r, true
		}
	}
	return row{}, false
}

// best returns the best row of those who have the role.
func (c *cell) best(role suite.Role, u unit) (best row, ok bool) {
	for _, r := range c.rows {
		if r.role == role && (!ok || u.ahead(r.mid, best.mid)) {
			best, ok = r, true
		}
	}
	return
}

// safest returns the best of the others that catch stale names and double removals.
func (v *view) safest(c *cell) (best row, ok bool) {
	if v.missed == nil {
		return
	}
	for _, r := range c.rows {
		missed, tried := v.missed[base(r.impl)]
		if r.role == suite.Theirs && tried && missed == "" && (!ok || v.unit.ahead(r.mid, best.mid)) {
			best, ok = r, true
		}
	}
	return
}

// ahead says whether a is better than b.
func (u unit) ahead(a, b float64) bool {
	if u.more {
		return a > b
	}
	return a < b
}

// label is the cell's parameters that vary, "live 1,000, goroutines 2".
func (v *view) label(c *cell) string { return paramText(c.params, v.varied) }

// place tells a cell from all others of its question: what it was chosen by, its
// parameters that vary, and its unit, if that is not the usual one.
func (v *view) place(c *cell) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(v.chart.Where)) {
		parts = append(parts, paramLabel(suite.Param{Key: key, Value: v.chart.Where[key]}))
	}
	if label := v.label(c); label != "" {
		parts = append(parts, label)
	}
	if v.unit.name != unitTime {
		parts = append(parts, v.unit.label())
	}
	return strings.Join(parts, ", ")
}

func paramText(ps []suite.Param, keys []string) string {
	var parts []string
	for _, key := range keys {
		if p := value(ps, key); p != "" {
			parts = append(parts, paramLabel(suite.Param{Key: key, Value: p}))
		}
	}
	return strings.Join(parts, ", ")
}

// paramLabel writes one parameter: "live 1,000", "value 16B", "GOMAXPROCS 4".
func paramLabel(p suite.Param) string {
	switch {
	case p.Key == procs:
		return "GOMAXPROCS " + p.Value
	case strings.HasPrefix(p.Key, "#"):
		return p.Value
	}
	return p.Key + " " + number(p.Value)
}

// views returns the question's charts with their figures, without those that have
// none.
func (f *Figures) views(q *suite.Question) (vs []*view) {
	for _, c := range q.Charts {
		if v := f.view(q, c); v != nil {
			vs = append(vs, v)
		}
	}
	return
}

// view returns a chart with its figures, nil if there are none.
func (f *Figures) view(q *suite.Question, chart suite.Chart) *view {
	v := &view{q: q, chart: chart, unit: f.unitOf(chart.Unit, chart.More), missed: f.missed(), once: f.once()}
	if v.chart.Title == "" {
		v.chart.Title = q.Title
	}
	var all, shared []*Series // shared: floors and controls, which may lack parameters that others have
	for _, s := range f.Series {
		if _, ok := s.figure(v.unit); ok && s.ID == q.ID && s.admitted(chart.Where) {
			all = append(all, s)
		}
	}
	own := ownParams(all, chart.X)
	cells := map[string]*cell{}
	for _, s := range all {
		if role := q.RoleOf(s.Impl); role == suite.Floor || role == suite.Control {
			shared = append(shared, s)
			continue
		}
		fig, _ := s.figure(v.unit)
		impl, params := own.apply(s)
		key := fmt.Sprint(params)
		c := cells[key]
		if c == nil {
			c = &cell{params: params}
			cells[key] = c
			v.cells = append(v.cells, c)
		}
		c.rows = append(c.rows, row{impl, q.RoleOf(s.Impl), fig})
	}
	v.share(shared, own)
	if len(v.cells) == 0 {
		return nil
	}
	v.vary()
	if v.unit.name == unitEfficiency && !f.measured(q.ID, unitEfficiency) {
		v.efficiency()
		if len(v.cells) == 0 {
			return nil
		}
	}
	return v
}

// admitted says whether a chart is about s.
func (s *Series) admitted(where map[string]string) bool {
	for key, want := range where {
		got := s.param(key)
		if key == "impl" {
			got = s.Impl
		}
		if got != want {
			return false
		}
	}
	return true
}

// figure returns the series' figure in the unit, derived from its times if the
// unit is. That of efficiency is a time at first; see view.efficiency.
func (s *Series) figure(u unit) (figure, bool) {
	if rounds := s.Rounds[u.name]; len(rounds) > 0 {
		return summarize(rounds), true
	}
	times := s.Rounds[unitTime]
	if len(times) == 0 {
		return figure{}, false
	}
	switch u.name {
	case unitEfficiency, unitSpeedUp:
		return summarize(times), true
	case unitRate:
		rates := make([]float64, len(times))
		for i, t := range times {
			if t <= 0 {
				return figure{}, false
			}
			rates[i] = 1 / t
		}
		return summarize(rates), true
	}
	return figure{}, false
}

// measured says whether the file itself has the unit for a question.
func (f *Figures) measured(id, unit string) bool {
	for _, s := range f.Series {
		if s.ID == id && len(s.Rounds[unit]) > 0 {
			return true
		}
	}
	return false
}

// share puts floors and controls into each cell whose parameters include theirs: a
// floor that nothing but the number of goroutines changes is measured once for each
// number.
func (v *view) share(shared []*Series, own ownKeys) {
	for _, s := range shared {
		fig, _ := s.figure(v.unit)
		impl, params := own.apply(s)
		r := row{impl, v.q.RoleOf(s.Impl), fig}
		var found bool
		for _, c := range v.cells {
			if _, has := c.row(impl); !has && includes(c.params, params) {
				c.rows, found = append(c.rows, r), true
			}
		}
		if !found {
			v.cells = append(v.cells, &cell{params, []row{r}})
		}
	}
}

// includes says whether all of sub's parameters stand in ps.
func includes(ps, sub []suite.Param) bool {
	for _, p := range sub {
		if value(ps, p.Key) != p.Value {
			return false
		}
	}
	return true
}

// vary finds the parameters in which the cells differ, and sorts the cells by them.
func (v *view) vary() {
	var keys []string
	for _, c := range v.cells {
		for _, p := range c.params {
			if !slices.Contains(keys, p.Key) {
				keys = append(keys, p.Key)
			}
		}
	}
	v.varied, v.fixed = nil, nil
	order := map[string][]string{} // values of each key
	for _, key := range keys {
		for _, c := range v.cells {
			if got := value(c.params, key); !slices.Contains(order[key], got) {
				order[key] = append(order[key], got)
			}
		}
		if len(order[key]) > 1 {
			v.varied = append(v.varied, key)
		} else {
			v.fixed = append(v.fixed, suite.Param{Key: key, Value: order[key][0]})
		}
		sortValues(order[key])
	}
	slices.SortStableFunc(v.cells, func(a, b *cell) int {
		for _, key := range v.varied {
			i, j := slices.Index(order[key], value(a.params, key)), slices.Index(order[key], value(b.params, key))
			if i != j {
				return cmp.Compare(i, j)
			}
		}
		return 0
	})
}

// sortValues sorts a parameter's values if all of them are numbers, of bytes, of
// anything; others stay in the order of the file.
func sortValues(vs []string) {
	for _, v := range vs {
		if _, ok := numeric(v); !ok {
			return
		}
	}
	slices.SortStableFunc(vs, func(a, b string) int {
		x, _ := numeric(a)
		y, _ := numeric(b)
		return cmp.Compare(x, y)
	})
}

// impls returns the contestants of a view in the order of its tables: ours by
// speed, the others by speed, then floors and controls. Speed is the mean distance
// from the best of each cell, as a factor.
func (v *view) impls() []string {
	var names []string
	roles := map[string]suite.Role{}
	for _, c := range v.cells {
		for _, r := range c.rows {
			if _, ok := roles[r.impl]; !ok {
				names = append(names, r.impl)
			}
			roles[r.impl] = r.role
		}
	}
	rank := map[suite.Role]int{suite.Ours: 0, suite.Theirs: 1, suite.Floor: 2, suite.Control: 3}
	score := v.scores()
	slices.SortStableFunc(names, func(a, b string) int {
		if c := cmp.Compare(rank[roles[a]], rank[roles[b]]); c != 0 {
			return c
		}
		return cmp.Compare(score[a], score[b])
	})
	return names
}

// scores returns for each contestant how far behind the best it is, on the mean of
// the logarithms. What has no logarithm is level with the best.
func (v *view) scores() map[string]float64 {
	sum, n := map[string]float64{}, map[string]float64{}
	for _, c := range v.cells {
		var best float64
		for _, r := range c.rows {
			if r.mid > 0 && (best == 0 || v.unit.ahead(r.mid, best)) {
				best = r.mid
			}
		}
		for _, r := range c.rows {
			if r.mid > 0 {
				sum[r.impl] += math.Abs(math.Log(r.mid / best))
			}
			n[r.impl]++
		}
	}
	for impl := range sum {
		sum[impl] /= n[impl]
	}
	return sum
}
