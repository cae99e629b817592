package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"coatcheck/bench/suite"
)

// contest is a cell that has one of ours.
type contest struct {
	*view
	cell *cell
	ours row // the best of them
}

// contests returns the cells that have one of ours, each once.
func (f *Figures) contests(qs []suite.Question) (cs []contest) {
	seen := map[string]bool{}
	for i := range qs {
		for _, v := range f.views(&qs[i]) {
			for _, c := range v.cells {
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

// heading is the heading of all tables of contests but for the first column or two. Brief tables
// have no references.
var heading = []string{"the plain pool", "best of ours", "best that does the job", "ratio", "best reference, which does less"}

// texts returns a contest's row under heading. The ratio is that of the best of ours.
func (c contest) texts() []string {
	texts := []string{"", c.ours.String(), "", "", ""}
	if plain, ok := c.cell.plain(); ok {
		texts[0] = plain.figure.String()
	}
	if theirs, ok := c.cell.best(suite.Theirs); ok {
		v, quotient := compare(c.ours.figure, theirs.figure)
		texts[2], texts[3] = theirs.String(), times(quotient)
		if v == level && !math.IsNaN(quotient) {
			texts[3] = "~" + texts[3]
		}
	}
	if reference, ok := c.cell.best(suite.Reference); ok {
		texts[4] = reference.String()
	}
	return texts
}

// plain returns the row of the pool without a Worker, a guard or an option.
func (c *cell) plain() (row, bool) { return c.find(func(r row) bool { return r.impl == "pool" }) }

// losses returns the comparisons in which the best of ours is behind one of theirs, beyond the
// noise, the worst first, and a sentence with their number.
func losses(cs []contest) (rows [][]string, score string) {
	type loss struct {
		by    float64 // above 1
		texts []string
	}
	var all []loss
	comparisons, plainly := 0, 0
	for _, c := range cs {
		for _, theirs := range c.cell.rows {
			if theirs.role != suite.Theirs {
				continue
			}
			comparisons++
			if plain, ok := c.cell.plain(); ok {
				if v, _ := compare(plain.figure, theirs.figure); v == behind {
					plainly++
				}
			}
			v, quotient := compare(c.ours.figure, theirs.figure)
			if v != behind {
				continue
			}
			by := quotient
			if c.unit.more {
				by = 1 / quotient
			}
			if math.IsNaN(by) {
				by = math.Inf(1) // theirs need nothing
			}
			all = append(all, loss{by, []string{c.q.ID, c.place(c.cell), c.ours.String(), theirs.String(), times(quotient)}})
		}
	}
	slices.SortStableFunc(all, func(a, b loss) int { return cmp.Compare(b.by, a.by) })
	for _, l := range all {
		rows = append(rows, l.texts)
	}
	return rows, fmt.Sprintf("In %d of %d comparisons with one that does the job the best of ours is behind, the plain pool in %d.", len(rows), comparisons, plainly)
}

// Text writes the tables for the terminal: a row for each contest, and where we lose.
func Text(w io.Writer, f *Figures, qs []suite.Question) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(texts ...string) { fmt.Fprintln(t, strings.Join(texts, "\t")) }
	cs := f.contests(qs)
	lost, score := losses(cs)
	line(f.origin() + "\n")
	line(append([]string{"question", "at"}, heading...)...)
	for _, c := range cs {
		line(append([]string{c.q.ID, c.place(c.cell)}, c.texts()...)...)
	}
	line()
	line("question", "at", "best of ours", "is behind", "ratio")
	for _, texts := range lost {
		line(texts...)
	}
	line("\n" + score)
	return t.Flush()
}

// The lines before and after a file's table.
const (
	Begin = "<!-- bench:begin -->"
	End   = "<!-- bench:end -->"
)

var marked = regexp.MustCompile("(?ms)^" + Begin + "$.*?^" + End + "$")

// Readme rewrites the table between the lines Begin and End of a Markdown file and nothing
// else. It returns an error if the file does not have these lines once.
func Readme(path string, f *Figures, qs []suite.Question, brief bool) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	places := marked.FindAllIndex(old, -1)
	if len(places) != 1 {
		return fmt.Errorf("%s: the lines %s and %s must be there once; they are %d times", path, Begin, End, len(places))
	}
	text := Begin + "\n" + f.markdown(qs, brief) + End
	return os.WriteFile(path, slices.Concat(old[:places[0][0]], []byte(text), old[places[0][1]:]), 0o666)
}

// briefly lists the questions of a brief table.
var briefly = []string{"Pair", "Churn", "Read", "Mix", "Iterate", "Memory"}

// markdown returns the table between the markers. It has a row for each chart with a comparison,
// of the first set of parameters and the last. A brief one has six rows, of the first charts of
// some questions, without references.
func (f *Figures) markdown(qs []suite.Question, brief bool) string {
	cs := f.contests(qs)
	_, score := losses(cs)
	columns := 1 + len(heading)
	if brief {
		columns--
	}
	var b strings.Builder
	line := func(texts ...string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(texts[:columns], " | ")) }
	fmt.Fprintf(&b, "\n%s:\n\n", f.origin())
	line(append([]string{"what"}, heading...)...)
	fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", columns))

	cs = slices.DeleteFunc(cs, func(c contest) bool {
		_, compared := c.cell.best(suite.Theirs)
		return !compared || brief && (!slices.Contains(briefly, c.q.ID) || !c.first)
	})
	for i, c := range cs {
		if i > 0 && cs[i-1].view == c.view {
			continue
		}
		last := c
		for _, later := range cs[i+1:] {
			if later.view == c.view {
				last = later
			}
		}
		texts := append([]string{c.cell.label}, c.texts()...)
		if last.cell != c.cell {
			for j, text := range append([]string{last.cell.label}, last.texts()...) {
				texts[j] = strings.Trim(texts[j]+"; "+text, "; ")
			}
		}
		if texts[0] != "" {
			texts[0] = " (" + texts[0] + ")"
		}
		texts[0] = c.title + texts[0]
		line(texts...)
	}
	fmt.Fprintf(&b, "\nRatios below 1 are for us, above 1 in rates; ~ is within the noise. %s\n\n", score)
	return b.String()
}
