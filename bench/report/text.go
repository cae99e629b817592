package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"coatcheck/bench/suite"
)

// Text writes the tables for the terminal: a row for each contest, and where we lose.
func Text(w io.Writer, f *Figures, qs []suite.Question) error {
	b := bufio.NewWriter(w)
	for _, o := range f.origins() {
		fmt.Fprintf(b, "%s: %s\n", o[0], o[1])
	}
	if f.once() {
		fmt.Fprintln(b, onceText)
	}
	cs := f.contests(f.questions(qs))
	rows := [][]string{{"question", "at", "ours", "does the job", "ratio", "reference, does less"}}
	for _, c := range cs {
		r := c.row()
		rows = append(rows, []string{r.Question, r.At, r.Ours, r.Theirs, r.Ratio, r.Reference})
	}
	plain(b, rows)
	ls, of := losses(cs)
	fmt.Fprintf(b, "\n%s\n%s\n", score(cs), lossSummary(ls, of))
	rows = [][]string{{"where we lose", "ours", "theirs", "behind by", ""}}
	for _, l := range ls {
		r := l.row()
		rows = append(rows, []string{r.What, r.Ours, r.Theirs, r.By, r.Note})
	}
	plain(b, rows)
	return b.Flush()
}

// plain writes a table that has more than its heading.
func plain(w io.Writer, rows [][]string) {
	if len(rows) == 1 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t)
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	t.Flush()
}
