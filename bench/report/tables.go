package report

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"coatcheck/bench/suite"
)

// shortTable has a row for each question with a comparison: of the first chart that has one,
// the first set of parameters and the last.
func shortTable(cs []contest) table {
	t := table{Heading: []string{"what", "ours", "best that does the job", "ratio", referenceHeading}}
	cs = slices.DeleteFunc(slices.Clone(cs), func(c contest) bool {
		_, compared := c.cell.best(suite.Theirs)
		return !compared
	})
	for i, c := range cs {
		if i > 0 && cs[i-1].view.q == c.view.q {
			continue
		}
		last := c
		for _, later := range cs[i+1:] {
			if later.view == c.view {
				last = later
			}
		}
		texts := append([]string{c.cell.Label}, c.row().Texts[2:]...)
		if last.cell != c.cell {
			for j, text := range append([]string{last.cell.Label}, last.row().Texts[2:]...) {
				texts[j] = strings.Trim(texts[j]+"; "+text, "; ")
			}
		}
		if texts[0] != "" {
			texts[0] = " (" + texts[0] + ")"
		}
		texts[0] = c.view.Title + texts[0]
		t.Rows = append(t.Rows, tableRow{Question: c.view.q.ID, Texts: texts})
	}
	return t
}

// Text writes the tables for the terminal: a row for each contest, and where we lose.
func Text(w io.Writer, f *Figures, qs []suite.Question) error {
	o := judge(f.contests(qs))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, f.origin())
	for _, table := range []table{o.Contests, o.Losses} {
		fmt.Fprintf(t, "\n%s\n", strings.Join(table.Heading, "\t"))
		for _, r := range table.Rows {
			fmt.Fprintln(t, strings.Join(r.Texts, "\t"))
		}
	}
	fmt.Fprintf(t, "\n%s\n%s\n", o.Score, o.Lost)
	return t.Flush()
}

// Length is the length of the table in a Markdown file.
type Length int

const (
	Brief Length = iota // six questions, without references
	Short               // a row for each question
	Full                // a row for each contest
)

// briefly lists the questions of a brief table.
var briefly = []string{"Pair", "Read", "Mix", "Churn", "Iterate", "Memory"}

// The lines before and after a file's table.
const (
	Begin = "<!-- bench:begin -->"
	End   = "<!-- bench:end -->"
)

var marked = regexp.MustCompile("(?ms)^" + Begin + "$.*?^" + End + "$")

// Readme rewrites the table between the lines Begin and End of a Markdown file and nothing
// else. It returns an error if the file does not have these lines once.
func Readme(path string, f *Figures, qs []suite.Question, l Length) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	places := marked.FindAllIndex(old, -1)
	if len(places) != 1 {
		return fmt.Errorf("%s: the lines %s and %s must be there once; they are %d times", path, Begin, End, len(places))
	}
	text := Begin + "\n" + f.markdown(qs, l) + End
	return os.WriteFile(path, slices.Concat(old[:places[0][0]], []byte(text), old[places[0][1]:]), 0o666)
}

// markdown returns the table between the markers.
func (f *Figures) markdown(qs []suite.Question, l Length) string {
	cs := f.contests(qs)
	o := judge(cs)
	t := shortTable(cs)
	switch l {
	case Brief:
		t.Rows = slices.DeleteFunc(t.Rows, func(r tableRow) bool { return !slices.Contains(briefly, r.Question) })
		t.Heading = t.Heading[:4]
	case Full:
		t = o.Contests
	}
	var b strings.Builder
	heading := strings.Replace(strings.Join(t.Heading, " | "), referenceHeading, "*"+referenceHeading+"*", 1)
	fmt.Fprintf(&b, "\n%s:\n\n| %s |\n|%s\n", f.origin(), heading, strings.Repeat("---|", len(t.Heading)))
	for _, r := range t.Rows {
		texts := strings.Join(r.Texts[:len(t.Heading)], "\x00")
		fmt.Fprintf(&b, "| %s |\n", strings.ReplaceAll(escape.Replace(texts), "\x00", " | "))
	}
	fmt.Fprintf(&b, "\nRatios below 1 are for us, above 1 in rates; ~ is within the noise. %s\n\n", o.Lost)
	return b.String()
}

// escape escapes a text for a Markdown table.
var escape = strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`)
