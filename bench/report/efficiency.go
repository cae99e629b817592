package report

import (
	"math"
	"slices"

	"coatcheck/bench/suite"
)

// scaled is the parameter along which efficiencies are.
const scaled = "goroutines"

// efficiency turns the times of v into efficiencies: a contestant's speed-up over
// its fewest goroutines, as a part of the control's over the same. The control
// shares nothing, so what it does not gain the machine does not have.
//
// All of it is computed from medians. The interval is that of four independent
// medians, by the rule for the errors of quotients.
func (v *view) efficiency() {
	var cells []*cell
	for _, c := range v.cells {
		e := &cell{params: c.params}
		for _, r := range c.rows {
			if f, ok := v.efficiencyOf(c, r); ok {
				e.rows = append(e.rows, row{r.impl, r.role, f})
			}
		}
		if len(e.rows) > 0 {
			cells = append(cells, e)
		}
	}
	v.cells = cells
}

func (v *view) efficiencyOf(c *cell, r row) (figure, bool) {
	first := v.fewest(c, r.impl)
	r0, _ := first.row(r.impl)
	control, _ := c.best(suite.Control)
	control0, ok := first.row(control.impl)
	if !ok || r.role == suite.Control || r.mid*r0.mid*control.mid*control0.mid <= 0 {
		return figure{}, false
	}
	e := r0.mid / r.mid / (control0.mid / control.mid)
	var squares float64
	if first != c { // or else it is 1 by definition
		for _, f := range []figure{r.figure, r0.figure, control.figure, control0.figure} {
			if s := f.spread(); !math.IsNaN(s) {
				squares += s * s
			}
		}
	}
	d := e * math.Sqrt(squares)
	return figure{mid: e, lo: max(0, e-d), hi: e + d}, true
}

// fewest returns the cell of fewest goroutines that has the contestant, among those
// that differ from c in nothing else.
func (v *view) fewest(c *cell, impl string) *cell {
	others := func(c *cell) []suite.Param {
		return slices.DeleteFunc(slices.Clone(c.params), func(p suite.Param) bool { return p.Key == scaled })
	}
	first := c
	for _, other := range v.cells {
		_, has := other.row(impl)
		n, _ := numeric(value(other.params, scaled))
		least, _ := numeric(value(first.params, scaled))
		if has && n < least && slices.Equal(others(c), others(other)) {
			first = other
		}
	}
	return first
}
