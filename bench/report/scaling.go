package report

import (
	"fmt"
	"math"
	"slices"

	"coatcheck/bench/suite"
)

// scaleKey returns the parameter along which a view scales: the goroutines, or
// GOMAXPROCS where their number is always the same; "" for none.
func (v *view) scaleKey() string {
	for _, key := range []string{"goroutines", procs} {
		if slices.Contains(v.varied, key) {
			return key
		}
	}
	return ""
}

// efficiency turns the times of v into efficiencies: a contestant's speed-up over
// its fewest goroutines, as a part of the control's over the same. The control
// shares nothing, so what it does not gain the machine does not have.
//
// All of it is computed from medians. The interval is that of four independent
// medians, by the rule for the errors of quotients.
func (v *view) efficiency() {
	key := v.scaleKey()
	var cells []*cell
	for _, c := range v.cells {
		var rows []row
		for _, r := range c.rows {
			if r.role == suite.Control {
				continue
			}
			e, ok := v.efficiencyOf(c, r, key)
			if ok {
				rows = append(rows, row{r.impl, r.role, e})
			}
		}
		if len(rows) > 0 {
			cells = append(cells, &cell{c.params, rows})
		}
	}
	v.cells = cells
	if len(cells) > 0 {
		v.vary()
	}
}

func (v *view) efficiencyOf(c *cell, r row, key string) (figure, bool) {
	control, ok := c.best(suite.Control, v.unit.asTime())
	base := v.base(c, r.impl, key)
	if !ok || base == nil {
		return figure{}, false
	}
	r0, _ := base.row(r.impl)
	control0, ok := base.row(control.impl)
	if !ok || r.mid <= 0 || r0.mid <= 0 || control.mid <= 0 || control0.mid <= 0 {
		return figure{}, false
	}
	e := r0.mid / r.mid / (control0.mid / control.mid)
	var squares float64
	if base != c { // or else it is 1 by definition
		for _, f := range []figure{r.figure, r0.figure, control.figure, control0.figure} {
			if s := f.spread(); !math.IsNaN(s) {
				squares += s * s
			}
		}
	}
	d := e * math.Sqrt(squares)
	return figure{mid: e, lo: max(0, e-d), hi: e + d}, true
}

// base returns the cell of fewest goroutines that has the contestant, among those
// that differ from c in nothing else.
func (v *view) base(c *cell, impl, key string) (base *cell) {
	if key == "" {
		return nil
	}
	fewest := math.Inf(1)
	for _, other := range v.cells {
		if _, has := other.row(impl); !has || !sameBut(c.params, other.params, key) {
			continue
		}
		if n, ok := numeric(value(other.params, key)); ok && n < fewest {
			base, fewest = other, n
		}
	}
	return
}

// sameBut says whether a and b are the same in all but key.
func sameBut(a, b []suite.Param, key string) bool {
	for _, p := range a {
		if p.Key != key && value(b, p.Key) != p.Value {
			return false
		}
	}
	return len(a) == len(b)
}

func (u unit) asTime() unit { return unit{name: unitTime} }

// scaling is what the report says of a question that has a control loop.
type scaling struct {
	q       *suite.Question
	key     string // along which it scales
	control string
	view    *view // efficiencies
	rows    []scaled
}

// scaled is one contestant at one number of goroutines.
type scaled struct {
	impl       string
	role       suite.Role
	at         string // the parameters that vary
	speedUp    float64
	control    float64 // its speed-up
	efficiency figure
}

// scalings returns the questions that have a control, with their efficiencies.
func (f *Figures) scalings(qs []suite.Question) (found []scaling) {
	for i := range qs {
		q := &qs[i]
		times := f.view(q, suite.Chart{Kind: suite.Lines, Unit: unitTime, Title: q.Title})
		if times == nil || times.scaleKey() == "" {
			continue
		}
		key := times.scaleKey()
		s := scaling{q: q, key: key}
		for _, c := range times.cells {
			control, ok := c.best(suite.Control, times.unit)
			if !ok {
				continue
			}
			s.control = control.impl
			for _, r := range c.rows {
				e, ok := times.efficiencyOf(c, r, key)
				if !ok || r.role == suite.Control {
					continue
				}
				base := times.base(c, r.impl, key)
				if base == c {
					continue
				}
				r0, _ := base.row(r.impl)
				control0, _ := base.row(control.impl)
				s.rows = append(s.rows, scaled{r.impl, r.role, times.label(c), r0.mid / r.mid, control0.mid / control.mid, e})
			}
		}
		if len(s.rows) == 0 {
			continue
		}
		chart := suite.Chart{Kind: suite.Lines, Unit: unitEfficiency, X: key,
			Title: fmt.Sprintf("%s: efficiency beside %s", q.ID, s.control)}
		if s.view = f.view(q, chart); s.view != nil {
			found = append(found, s)
		}
	}
	return
}
