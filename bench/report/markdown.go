package report

import (
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
}

// Table returns a table of medians. It has a row for each chart with a comparison, of the first set of
// parameters and the last. It leaves out columns without figures, programs, which have a table of their
// own (Contestants), and the questions that other tables have.
func Table(f *Figures, qs []suite.Question, elsewhere ...string) string {
	cs := f.contests(qs)
	_, score := losses(cs)
	cs = slices.DeleteFunc(cs, func(c *cell) bool { return slices.Contains(elsewhere, c.id) })
	table := [][]string{{"what"}}
	rows := ends(cs)
	for _, ends := range rows {
		table = append(table, []string{title(ends)})
	}
	for _, c := range columns {
		texts := []string{c.heading}
		for _, ends := range rows {
			texts = append(texts, c.text(ends))
		}
		if strings.Join(texts[1:], "") == "" {
			continue // a column of contestants that nobody has measured
		}
		for i, text := range texts {
			table[i] = append(table[i], text)
		}
	}
	return fmt.Sprintf("%s. %s\n\n%s", f.origin(), score, markdown(table))
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
