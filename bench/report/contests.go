package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"coatcheck/bench/suite"
)

// contest is a cell that has one of ours: the best of these beside the others.
type contest struct {
	view *view
	cell *cell
	ours row
}

// contests returns the cells that have one of ours, each once.
func (f *Figures) contests(qs []suite.Question) (cs []contest) {
	seen := map[string]bool{}
	for i := range qs {
		for _, v := range f.views(&qs[i]) {
			for _, c := range v.Cells {
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

// table is a table of the report, of the terminal or of a Markdown file.
type table struct {
	Heading []string
	Rows    []tableRow
}

type tableRow struct {
	Question string // that it is about
	Verdict  verdict
	Texts    []string
}

const referenceHeading = "best reference, which does less"

func (c contest) row() tableRow {
	r := tableRow{c.view.q.ID, level, []string{c.view.q.ID, c.view.place(c.cell), c.ours.String(), "", "", ""}}
	if theirs, ok := c.cell.best(suite.Theirs); ok {
		v := compare(c.ours.figure, theirs.figure)
		r.Verdict, r.Texts[3], r.Texts[4] = v.verdict, theirs.String(), v.String()
	}
	if reference, ok := c.cell.best(suite.Reference); ok {
		r.Texts[5] = reference.String()
	}
	return r
}

// outcome is what comes out of the contests. A loss is a comparison in which the best of ours
// is behind one of theirs, beyond the noise.
type outcome struct {
	Contests table // the best of ours, the best of theirs with the ratio, the best reference
	Losses   table // the worst first
	Score    string
	Lost     string
}

func judge(cs []contest) *outcome {
	o := &outcome{
		Contests: table{Heading: []string{"question", "at", "ours", "best that does the job", "ratio", referenceHeading}},
		Losses:   table{Heading: []string{"question", "at", "ours", "theirs", "behind by", ""}},
	}
	type loss struct {
		by float64 // above 1
		tableRow
	}
	var losses []loss
	score := map[verdict]int{}
	comparisons := 0
	for _, c := range cs {
		r := c.row()
		o.Contests.Rows = append(o.Contests.Rows, r)
		if r.Texts[3] != "" {
			score[r.Verdict]++
		}
		for _, theirs := range c.cell.Rows {
			if theirs.Role != suite.Theirs {
				continue
			}
			comparisons++
			v := compare(c.ours.figure, theirs.figure)
			if v.verdict != behind {
				continue
			}
			if c.view.unit.more {
				v.ratio, v.lo, v.hi = 1/v.ratio, 1/v.hi, 1/v.lo
			}
			by, note := times(v.ratio), ""
			if lo, hi := times(v.lo), times(v.hi); lo != hi {
				by += fmt.Sprintf(" (%s–%s)", lo, hi)
			}
			if min(len(c.ours.rounds), len(theirs.rounds)) < few {
				note = "too few rounds for a test"
			}
			if math.IsNaN(v.ratio) {
				v.ratio = math.Inf(1) // theirs need nothing
			}
			losses = append(losses, loss{v.ratio, tableRow{r.Question, behind, append(slices.Clone(r.Texts[:3]), theirs.String(), by, note)}})
		}
	}
	slices.SortStableFunc(losses, func(a, b loss) int { return cmp.Compare(b.by, a.by) })
	for _, l := range losses {
		o.Losses.Rows = append(o.Losses.Rows, l.tableRow)
	}
	o.Score = fmt.Sprintf("Beside the best of those that do the job, the best of ours is ahead in %d contests, behind in %d, and within the noise in %d.",
		score[ahead], score[behind], score[level])
	o.Lost = fmt.Sprintf("In %d of %d comparisons with one that does the job the best of ours is behind.", len(losses), comparisons)
	return o
}
