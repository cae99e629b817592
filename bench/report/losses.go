package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"coatcheck/bench/suite"
)

// loss is a comparison in which the best-suited of ours is behind one of the
// others beyond the noise.
type loss struct {
	view         *view
	cell         *cell
	ours, theirs row
	verdict
	factor float64 // by how much, above 1; infinite against nothing
	misses string  // what the winner does not catch, as its probe found
}

// losses returns all of them, the worst first, and out of how many comparisons.
func (f *Figures) losses(qs []suite.Question) (ls []loss, of int) {
	missed := f.missed()
	for i := range qs {
		for _, c := range f.costs(&qs[i]) {
			ours, ok := c.cell.best(suite.Ours, c.view.unit)
			if !ok {
				continue
			}
			for _, r := range c.cell.rows {
				if r.role != suite.Theirs {
					continue
				}
				of++
				if d := compare(ours.figure, r.figure, c.view.unit); d.sure && c.view.unit.ahead(r.mid, ours.mid) {
					ls = append(ls, loss{c.view, c.cell, ours, r, d, factor(d.ratio, c.view.unit), missed[base(r.impl)]})
				}
			}
		}
	}
	slices.SortStableFunc(ls, func(a, b loss) int { return cmp.Compare(b.factor, a.factor) })
	return
}

// cost is a cell of a view.
type cost struct {
	view *view
	cell *cell
}

// costs returns the cells of a question's charts, each figure once. Efficiencies
// are no comparison of what anything costs, and a rate beside its own time is the
// same one again.
func (f *Figures) costs(q *suite.Question) (cs []cost) {
	seen := map[string]bool{}
	for _, v := range f.views(q) {
		switch v.unit.name {
		case unitEfficiency, unitSpeedUp:
			continue
		case unitRate:
			if charted(q, unitTime, f) {
				continue
			}
		}
		for _, c := range v.cells {
			if key := fmt.Sprint(v.unit.name, c.params); !seen[key] {
				seen[key] = true
				cs = append(cs, cost{v, c})
			}
		}
	}
	return
}

// charted says whether a question has a chart in that unit.
func charted(q *suite.Question, name string, f *Figures) bool {
	return slices.ContainsFunc(q.Charts, func(c suite.Chart) bool { return f.unitOf(c.Unit, c.More).name == name })
}

// factor is by how much a ratio is worse than 1. To nothing there is no ratio.
func factor(ratio float64, u unit) float64 {
	if u.more {
		ratio = 1 / ratio
	}
	if math.IsNaN(ratio) {
		return math.Inf(1)
	}
	return ratio
}

// what is what was compared.
func (l loss) what() string {
	if at := l.view.place(l.cell); at != "" {
		return l.view.q.ID + ", " + at
	}
	return l.view.q.ID
}

// by is the factor with its spread, the way round in which it is above 1.
func (l loss) by() string {
	d := l.verdict
	if l.view.unit.more {
		d.ratio, d.lo, d.hi = 1/d.ratio, 1/d.hi, 1/d.lo
	}
	return d.interval()
}
