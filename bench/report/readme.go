package report

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"coatcheck/bench/suite"
)

// Length is the length of the table in a Markdown file.
type Length int

const (
	Brief Length = iota // six questions, without references
	Short               // a row for each question, at most 16
	Full                // a row for each contest
)

// The lines before and after a file's table.
const (
	Begin = "<!-- bench:begin -->"
	End   = "<!-- bench:end -->"
)

const shortRows = 16

// briefly lists the questions of a brief table.
var briefly = []string{"Pair", "Read", "Mix", "Churn", "Iterate", "Memory"}

// Readme rewrites the table between the lines Begin and End of a Markdown file and nothing
// else. It returns an error if the file does not have each of them once, in this order.
func Readme(path string, f *Figures, qs []suite.Question, l Length) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	from, to, err := between(old)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, slices.Concat(old[:from], []byte(f.markdown(f.questions(qs), l)), old[to:]), 0o666)
}

// between returns the range between the two markers, each of which is a whole line.
func between(b []byte) (from, to int, err error) {
	var begins, ends, start int
	for line := range bytes.Lines(b) {
		switch string(bytes.TrimSpace(line)) {
		case Begin:
			begins, from = begins+1, start+len(line)
		case End:
			ends, to = ends+1, start
		}
		start += len(line)
	}
	switch {
	case begins != 1 || ends != 1:
		return 0, 0, fmt.Errorf("%d lines %s and %d %s; want one of each", begins, Begin, ends, End)
	case to < from:
		return 0, 0, fmt.Errorf("%s before %s", End, Begin)
	}
	return from, to, nil
}

func (f *Figures) markdown(qs []suite.Question, l Length) string {
	cs := f.contests(qs)
	var rows [][]string
	heading := []string{"what", "ours", "best that does the job", "ratio", "*best reference, which does less*"}
	switch l {
	case Brief:
		rows = shortTable(slices.DeleteFunc(slices.Clone(cs), func(c contest) bool { return !slices.Contains(briefly, c.view.q.ID) }))
		heading = heading[:4]
	case Short:
		rows = shortTable(cs)
	case Full:
		heading = append([]string{"question", "at"}, heading[1:]...)
		for _, c := range cs {
			r := c.row()
			rows = append(rows, []string{r.Question, r.At, r.Ours, r.Theirs, r.Ratio, r.Reference})
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n\n| %s |\n|%s\n", f.provenance(), strings.Join(heading, " | "), strings.Repeat("---|", len(heading)))
	for _, r := range rows {
		r = r[:len(heading)]
		for i := range r {
			r[i] = escape(r[i])
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
	}
	ls, of := losses(cs)
	fmt.Fprintf(&b, "\nRatios below 1 are for us, above 1 in rates; ~ is within the noise. %s\n\n", lossSummary(ls, of))
	return b.String()
}

// provenance returns the origin of the figures in a line.
func (f *Figures) provenance() string {
	var parts []string
	for _, o := range f.origins() {
		switch o[0] {
		case "command":
			parts = slices.Insert(parts, 0, "`"+strings.ReplaceAll(o[1], "`", "'")+"`")
		case "commit":
			parts = append(parts, "commit "+escape(o[1]))
		case "machine", "go", "date":
			parts = append(parts, escape(o[1]))
		}
	}
	return strings.Join(parts, ", ") + ":"
}

// escape escapes a text for a Markdown table.
func escape(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "\n", " ").Replace(s)
}

// shortTable returns a row for each question: of its first chart with a comparison, the
// first set of parameters and the last.
func shortTable(cs []contest) (table [][]string) {
	type shortRow struct {
		texts []string
		lost  bool
	}
	var rows []shortRow
	done := map[string]bool{}
	for len(cs) > 0 {
		v, n := cs[0].view, 1
		for n < len(cs) && cs[n].view == v {
			n++
		}
		of := slices.DeleteFunc(slices.Clone(cs[:n]), func(c contest) bool { return c.row().Theirs == "" })
		cs = cs[n:]
		if len(of) == 0 || done[v.q.ID] {
			continue
		}
		done[v.q.ID] = true
		var columns [5][]string
		var row shortRow
		for i, c := range of {
			r := c.row()
			row.lost = row.lost || r.Class == classes[behind]
			if i == 0 || i == len(of)-1 {
				for j, text := range []string{v.label(c.cell), r.Ours, r.Theirs, r.Ratio, r.Reference} {
					columns[j] = append(columns[j], text)
				}
			}
		}
		row.texts = []string{v.chart.Title}
		if at := joined(columns[0]); at != "" {
			row.texts[0] += " (" + at + ")"
		}
		for _, texts := range columns[1:] {
			row.texts = append(row.texts, joined(texts))
		}
		rows = append(rows, row)
	}
	// Rows without a loss are left out first.
	for _, lost := range []bool{false, true} {
		for i := len(rows) - 1; i >= 0 && len(rows) > shortRows; i-- {
			if rows[i].lost == lost {
				rows = slices.Delete(rows, i, i+1)
			}
		}
	}
	for _, r := range rows {
		table = append(table, r.texts)
	}
	return table
}

// joined joins texts, unless all are empty.
func joined(texts []string) string { return strings.Trim(strings.Join(texts, "; "), "; ") }
