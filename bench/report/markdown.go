package report

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"coatcheck/bench/suite"
)

// The lines before and after a file's tables.
const (
	Begin = "<!-- bench:begin -->"
	End   = "<!-- bench:end -->"
)

var marked = regexp.MustCompile("(?ms)^" + Begin + "$.*?^" + End + "$")

// Rewrite replaces what is between the lines Begin and End of a Markdown file by a text and
// nothing else. It returns an error if the file does not have these lines once.
func Rewrite(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	places := marked.FindAllIndex(old, -1)
	if len(places) != 1 {
		return fmt.Errorf("%s: the lines %s and %s must be there once; they are %d times", path, Begin, End, len(places))
	}
	text = Begin + "\n" + text + End
	return os.WriteFile(path, slices.Concat(old[:places[0][0]], []byte(text), old[places[0][1]:]), 0o666)
}

// Tables returns a table for each file of figures. It has a row for each chart with a
// comparison, of the first set of parameters and the last.
func Tables(all []*Figures, qs []suite.Question) string {
	var b strings.Builder
	for _, f := range all {
		cs := f.contests(qs)
		_, score := losses(cs)
		fmt.Fprintf(&b, "\n%s:\n\n", f.origin())
		head(&b, heading)
		for _, ends := range ends(cs) {
			tableRow(&b, title(ends), each(ends, (*cell).texts))
		}
		fmt.Fprintf(&b, "\n%s Costs: below 1 is better. Rates: above 1 is better. ~ is within the noise.\n\n", score)
	}
	return b.String()
}

// The brief table has the first charts of some questions, and some of ours beside the best that
// does the job.
var (
	briefly = []string{"Pair", "Churn", "Read", "Mix", "Iterate", "Memory"}
	columns = []struct{ heading, impl string }{{"the plain pool", "pool"}, {"a Worker", "worker"}, {"under a Guard", "pool-guard"}, {"best that does the job", ""}}
)

// Brief returns a table of all files of figures, which have a line each in its cells.
func Brief(all []*Figures, qs []suite.Question) string {
	var b strings.Builder
	rows := make([][][]*cell, len(all))
	for i, f := range all {
		cs := f.contests(qs)
		_, score := losses(cs)
		fmt.Fprintf(&b, "- %s. %s\n", f.origin(), score)
		rows[i] = slices.DeleteFunc(ends(cs), func(ends []*cell) bool { return !ends[0].first || !slices.Contains(briefly, ends[0].id) })
	}
	b.WriteString("\n")
	var headings []string
	for _, c := range columns {
		headings = append(headings, c.heading)
	}
	head(&b, headings)
	for _, first := range rows[0] {
		lines := make([][]string, len(columns)) // of each cell
		for i := range all {
			texts := make([]string, len(columns))
			if at := slices.IndexFunc(rows[i], func(ends []*cell) bool { return ends[0].id == first[0].id }); at >= 0 {
				texts = each(rows[i][at], (*cell).brief)
			}
			for j := range columns {
				lines[j] = append(lines[j], texts[j])
			}
		}
		var texts []string
		for _, l := range lines {
			texts = append(texts, together(l, "<br>"))
		}
		tableRow(&b, title(first), texts)
	}
	return b.String()
}

// brief returns a contest's row of the brief table: medians, and the name of the best.
func (c *cell) brief() (texts []string) {
	for _, column := range columns {
		r := c.find(func(r row) bool { return r.impl == column.impl })
		if column.impl == "" {
			r = c.best(suite.Theirs)
		}
		text := ""
		if r != nil {
			text = r.unit.text(r.mid)
			if column.impl == "" {
				text = r.impl + " " + text
			}
		}
		texts = append(texts, text)
	}
	return texts
}

// ends returns, for each chart with a comparison, its first contest and, if it has more, its
// last.
func ends(cs []*cell) (all [][]*cell) {
	for _, c := range cs {
		if c.best(suite.Theirs) == nil {
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

// each returns the cells of a row that is about each of the ends.
func each(ends []*cell, texts func(*cell) []string) []string {
	row := texts(ends[0])
	for _, c := range ends[1:] {
		for i, text := range texts(c) {
			row[i] = together([]string{row[i], text}, "; ")
		}
	}
	return row
}

// together joins texts, with a dash for each that is empty beside another.
func together(texts []string, between string) string {
	texts = slices.Clone(texts)
	if strings.Join(texts, "") == "" {
		return ""
	}
	for i, text := range texts {
		if text == "" {
			texts[i] = "–"
		}
	}
	return strings.Join(texts, between)
}

// head writes a table's heading.
func head(b *strings.Builder, headings []string) {
	tableRow(b, "what", headings)
	fmt.Fprintf(b, "|---|%s\n", strings.Repeat("---|", len(headings)))
}

// tableRow writes a row of a table.
func tableRow(b *strings.Builder, first string, texts []string) {
	fmt.Fprintf(b, "| %s | %s |\n", first, strings.Join(texts, " | "))
}
