package report

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"coatcheck/bench/suite"
)

// Rewrite replaces what is between the lines <!-- mark:begin --> and <!-- mark:end --> of a
// Markdown file by a text and nothing else. It returns an error if the file does not have these
// lines once.
func Rewrite(path, mark, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+mark+":begin -->", "<!-- "+mark+":end -->"
	places := regexp.MustCompile("(?ms)^"+begin+"$.*?^"+end+"$").FindAllIndex(old, -1)
	if len(places) != 1 {
		return fmt.Errorf("%s: the lines %s and %s must be there once; they are %d times", path, begin, end, len(places))
	}
	text = begin + "\n" + text + end
	return os.WriteFile(path, slices.Concat(old[:places[0][0]], []byte(text), old[places[0][1]:]), 0o666)
}

// column is a column of a table of contests.
type column struct {
	heading string
	row     func(*cell) *row
	named   bool // its texts begin with the contestant
}

var columns = []column{
	{"the plain pool", func(c *cell) *row { return c.impl("pool") }, false},
	{"a Worker", func(c *cell) *row { return c.impl("worker") }, false},
	{"under a Guard", func(c *cell) *row { return c.impl("pool-guard") }, false},
	{"pointers in it", func(c *cell) *row { return c.impl("pool-pointers") }, false},
	{"best that does the job", func(c *cell) *row { return c.best(suite.Theirs) }, true},
	{"best reference, which does less", func(c *cell) *row { return c.best(suite.Reference) }, true},
}

// Table returns a table of medians, whose cells have a line for each file of figures. It has a row
// for each chart with a comparison, of the first set of parameters and the last. It leaves out
// columns without figures, and programs, which have a table of their own (Contestants).
func Table(all []*Figures, qs []suite.Question) string {
	var b strings.Builder
	rows := make([][][]*cell, len(all))
	for i, f := range all {
		cs := f.contests(qs)
		_, score := losses(cs)
		fmt.Fprintf(&b, "- %s. %s\n", f.origin(), score)
		rows[i] = ends(cs)
	}
	table := [][]string{{"what"}}
	firsts := titled(rows, qs)
	for _, first := range firsts {
		table = append(table, []string{title(first)})
	}
	for _, c := range columns {
		texts, some := make([]string, len(firsts)), ""
		for i, first := range firsts {
			var lines []string // one for each file
			for _, of := range rows {
				text := ""
				if at := slices.IndexFunc(of, func(ends []*cell) bool { return ends[0].title == first[0].title }); at >= 0 {
					text = c.text(of[at])
				}
				lines = append(lines, text)
			}
			texts[i] = together(lines, "<br>")
			some += texts[i]
		}
		if some == "" {
			continue // a column of contestants that nobody has measured
		}
		for i, text := range append([]string{c.heading}, texts...) {
			table[i] = append(table[i], text)
		}
	}
	return b.String() + "\n" + markdown(table)
}

// titled returns the ends of each chart, in the order of the questions. They are those of the first
// file that has them.
func titled(rows [][][]*cell, qs []suite.Question) (firsts [][]*cell) {
	for _, q := range qs {
		for _, chart := range q.Charts {
			for _, file := range rows {
				has := func(ends []*cell) bool { return ends[0].id == q.ID && ends[0].title == cmp.Or(chart.Title, q.Title) }
				if i := slices.IndexFunc(file, has); i >= 0 {
					firsts = append(firsts, file[i])
					break
				}
			}
		}
	}
	return firsts
}

// text returns the column's text for the ends of a chart: medians.
func (c *column) text(ends []*cell) string {
	var texts []string
	for _, end := range ends {
		text := ""
		if r := c.row(end); r != nil {
			text = r.unit.text(r.mid)
			if c.named {
				text = r.impl + " " + text
			}
		}
		texts = append(texts, text)
	}
	return together(texts, "; ")
}

// ends returns, for each chart with a comparison, but for programs, its first contest and, if it has more, its
// last.
func ends(cs []*cell) (all [][]*cell) {
	for _, c := range cs {
		if c.best(suite.Theirs) == nil || value(c.params, paramLoad) != "" {
			continue
		}
		if n := len(all); n == 0 || all[n-1][0].title != c.title {
			all = append(all, []*cell{c})
		} else {
			all[n-1] = []*cell{all[n-1][0], c}
		}
	}
	return all
}

// title returns a chart's title, and where its ends are.
func title(ends []*cell) string {
	var labels []string
	for _, c := range ends {
		labels = append(labels, c.label)
	}
	if at := together(labels, "; "); at != "" {
		return ends[0].title + " (" + at + ")"
	}
	return ends[0].title
}

// markdown returns a table whose first row is its heading.
func markdown(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("|")
		for _, text := range row {
			if text != "" {
				b.WriteString(" " + text)
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String()
}

// missing is in the place of a figure that was not measured.
const missing = "–"

// together joins texts, with a dash for each that is empty beside another.
func together(texts []string, between string) string {
	texts = slices.Clone(texts)
	if strings.Join(texts, "") == "" {
		return ""
	}
	for i, text := range texts {
		if text == "" {
			texts[i] = missing
		}
	}
	return strings.Join(texts, between)
}
