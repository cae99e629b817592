package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"coatcheck/bench/suite"
)

// contest is a cell that has one of ours, and the best of these.
type contest struct {
	view *view
	cell *cell
	ours row
}

// contests returns the cells that have one of ours, each once. A rate of a question that
// also shows times is left out, since it is the same comparison.
func (f *Figures) contests(qs []suite.Question) (cs []contest) {
	for i := range qs {
		seen := map[string]bool{}
		views := f.views(&qs[i])
		timed := slices.ContainsFunc(views, func(v *view) bool { return v.unit.name == unitTime })
		for _, v := range views {
			if v.unit.name == unitRate && timed {
				continue
			}
			for _, c := range v.cells {
				key := fmt.Sprint(v.unit.name, c.params)
				if ours, ok := c.best(suite.Ours); ok && !seen[key] {
					seen[key] = true
					cs = append(cs, contest{v, c, ours})
				}
			}
		}
	}
	return
}

// against compares the best of ours with another row.
func (c contest) against(r row) verdict { return compare(c.ours.figure, r.figure, c.view.unit) }

func (c contest) what() string {
	return strings.TrimSuffix(c.view.q.ID+", "+c.view.place(c.cell), ", ")
}

func (c contest) text(r row) string {
	return strings.TrimSpace(r.impl + " " + c.view.unit.format(r.mid) + " " + r.spreadText())
}

// tableRow is a contest in a table: the best of ours, the best of theirs with the ratio,
// and the best reference.
type tableRow struct{ Question, At, Ours, Theirs, Ratio, Reference, Class string }

func (c contest) row() tableRow {
	r := tableRow{Question: c.view.q.ID, At: c.view.place(c.cell), Ours: c.text(c.ours)}
	if theirs, ok := c.cell.best(suite.Theirs); ok {
		v := c.against(theirs)
		r.Theirs, r.Ratio, r.Class = c.text(theirs), v.String(), classes[v.outcome]
	}
	if reference, ok := c.cell.best(suite.Reference); ok {
		r.Reference = c.text(reference)
	}
	return r
}

var classes = map[outcome]string{level: "", ahead: "ahead", behind: "behind"}

// loss is a comparison in which the best of ours is behind one of theirs, beyond the noise.
type loss struct {
	contest
	theirs row
	verdict
}

// losses returns all losses, the worst first, and the number of comparisons.
func losses(cs []contest) (ls []loss, of int) {
	for _, c := range cs {
		for _, r := range c.cell.rows {
			if r.role != suite.Theirs {
				continue
			}
			of++
			if v := c.against(r); v.outcome == behind {
				ls = append(ls, loss{c, r, v})
			}
		}
	}
	slices.SortStableFunc(ls, func(a, b loss) int { return cmp.Compare(b.factor(), a.factor()) })
	return
}

// factor returns the factor by which ours are behind, above 1.
func (l loss) factor() float64 {
	switch {
	case math.IsNaN(l.ratio):
		return math.Inf(1)
	case l.view.unit.more:
		return 1 / l.ratio
	}
	return l.ratio
}

// lossRow is a loss in a table.
type lossRow struct{ Question, What, Ours, Theirs, By, Note string }

func (l loss) row() lossRow {
	lo, hi := l.lo, l.hi
	if l.view.unit.more {
		lo, hi = 1/hi, 1/lo
	}
	r := lossRow{l.view.q.ID, l.what(), l.text(l.ours), l.text(l.theirs), times(l.factor()), ""}
	if times(lo) != times(hi) {
		r.By += fmt.Sprintf(" (%s–%s)", times(lo), times(hi))
	}
	if min(len(l.ours.rounds), len(l.theirs.rounds)) < few {
		r.Note = "too few rounds for a test"
	}
	return r
}

func lossSummary(ls []loss, of int) string {
	switch {
	case of == 0:
		return "There was nothing to compare."
	case len(ls) == 0:
		return fmt.Sprintf("Nowhere: in none of %d comparisons with one that does the job is the best of ours behind beyond the noise.", of)
	}
	return fmt.Sprintf("In %d of %d comparisons with one that does the job the best of ours is behind.", len(ls), of)
}

// score counts the contests by their outcome against the best of theirs.
func score(cs []contest) string {
	var count [3]int
	for _, c := range cs {
		if theirs, ok := c.cell.best(suite.Theirs); ok {
			count[c.against(theirs).outcome]++
		}
	}
	return fmt.Sprintf("Beside the best of those that do the job, the best of ours is ahead in %d contests, behind in %d, and within the noise in %d.",
		count[ahead], count[behind], count[level])
}
