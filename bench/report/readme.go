package report

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coatcheck/bench/suite"
)

// Length is how much of the figures goes into a README.
type Length int

const (
	Brief Length = iota // six questions, against what does the same job
	Short               // a row for a question, at most 16 of them
	Full                // every comparison
)

// The lines between which a README's table stands.
const (
	Begin = "<!-- bench:begin -->"
	End   = "<!-- bench:end -->"
)

// shortRows is how many rows a short table has at most.
const shortRows = 16

// briefly are the questions of a brief table: what is done to a value from its first
// moment to its last.
var briefly = []string{"Pair", "Read", "Mix", "Churn", "Iterate", "Memory"}

// Readme rewrites the table in the Markdown file of that path, between the lines
// Begin and End, and leaves every other byte of it as it is. A file that does not
// have each of them once, in this order, is an error and stays untouched. The file
// is replaced by a whole new one or not at all.
func Readme(path string, f *Figures, qs []suite.Question, l Length) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	from, to, err := between(old)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	table := f.markdown(f.questions(qs), l)
	if bytes.Contains(old[:from], []byte("\r\n")) {
		table = strings.ReplaceAll(table, "\n", "\r\n")
	}
	return replace(path, slices.Concat(old[:from], []byte(table), old[to:]))
}

// between finds what lies between the lines of the markers. Markers within a line,
// as in a text about them, do not count.
func between(b []byte) (from, to int, err error) {
	begins, ends := linesOf(b, Begin), linesOf(b, End)
	for _, m := range []struct {
		name  string
		lines [][2]int
	}{{Begin, begins}, {End, ends}} {
		if len(m.lines) != 1 {
			return 0, 0, fmt.Errorf("%d lines %s; want one", len(m.lines), m.name)
		}
	}
	if from, to = begins[0][1], ends[0][0]; to < from {
		return 0, 0, fmt.Errorf("%s before %s", End, Begin)
	}
	return from, to, nil
}

// linesOf returns where the lines that consist of text begin and end.
func linesOf(b []byte, text string) (at [][2]int) {
	start := 0
	for line := range bytes.Lines(b) {
		if string(bytes.TrimSpace(line)) == text {
			at = append(at, [2]int{start, start + len(line)})
		}
		start += len(line)
	}
	return
}

// replace replaces the file's content, by a new file that is renamed to the old.
func replace(path string, content []byte) (err error) {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".bench-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// markdown is what stands between the markers.
func (f *Figures) markdown(qs []suite.Question, l Length) string {
	var b strings.Builder
	b.WriteString("\n")
	b.WriteString(f.provenance())
	rows := f.readmeRows(qs, l)
	switch l {
	case Brief:
		b.WriteString("\n| what | ours | best that catches misuse | ratio |\n|---|---|---|---|\n")
		for _, r := range rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.what, r.ours, r.safe, r.safeRatio)
		}
	case Short:
		b.WriteString("\n| what | ours | best of the others | ratio | best that catches misuse | ratio |\n|---|---|---|---|---|---|\n")
		for _, r := range rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.what, r.ours, r.theirs, r.ratio, r.safe, r.safeRatio)
		}
	default:
		b.WriteString("\n| question | at | ours | best of the others | ratio | best that catches misuse | ratio | floor |\n|---|---|---|---|---|---|---|---|\n")
		for _, r := range rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", r.question, r.what, r.ours, r.theirs, r.ratio, r.safe, r.safeRatio, r.floor)
		}
	}
	ls, of := f.losses(qs)
	fmt.Fprintf(&b, "\nRatios below 1 are for us, above 1 in rates; ~ is within the noise. %s\n\n", lossSummary(ls, of))
	return b.String()
}

// provenance says where the figures come from.
func (f *Figures) provenance() string {
	c := f.Config
	var parts []string
	if c["command"] != "" {
		parts = append(parts, "`"+strings.ReplaceAll(c["command"], "`", "'")+"`")
	}
	for _, o := range f.origins() {
		switch o.key {
		case "machine", "go", "date":
			parts = append(parts, escape(o.value))
		case "commit":
			parts = append(parts, "commit "+escape(o.value))
		}
	}
	return strings.Join(parts, ", ") + ":\n"
}

// escape makes a text harmless in a Markdown table.
func escape(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "\n", " ").Replace(s)
}

// readmeRow is a row of a README's table.
type readmeRow struct {
	question, what, ours, theirs, ratio, safe, safeRatio, floor string

	behind bool
}

func (f *Figures) readmeRows(qs []suite.Question, l Length) (rows []readmeRow) {
	for i := range qs {
		if l == Brief && !slices.Contains(briefly, qs[i].ID) {
			continue
		}
		if l == Full {
			rows = append(rows, f.fullRows(&qs[i])...)
		} else if r, ok := f.shortRow(&qs[i]); ok {
			rows = append(rows, r)
		}
	}
	// Those where we lose are the last to be left out.
	for _, behind := range []bool{false, true} {
		for i := len(rows) - 1; i >= 0 && l == Short && len(rows) > shortRows; i-- {
			if rows[i].behind == behind {
				rows = slices.Delete(rows, i, i+1)
			}
		}
	}
	return
}

// shortRow is a question in one row: its first chart that compares anything, there
// the first set of parameters and the last.
func (f *Figures) shortRow(q *suite.Question) (readmeRow, bool) {
	for _, v := range f.views(q) {
		cs := v.contests()
		if len(cs) == 0 {
			continue
		}
		r := readmeRow{what: escape(v.chart.Title)}
		shown := cs[:1]
		if len(cs) > 1 {
			shown = []contest{cs[0], cs[len(cs)-1]}
		}
		var at, ours, theirs, ratios, safes, safeRatios []string
		for _, c := range shown {
			at = append(at, v.label(c.cell))
			ours = append(ours, c.ours.impl+" "+v.unit.format(c.ours.mid))
			theirs = append(theirs, c.theirs.impl+" "+v.unit.format(c.theirs.mid))
			ratios = append(ratios, v.ratioText(c))
			safe, ratio := v.safeText(c.cell, c.ours, false)
			safes, safeRatios = append(safes, safe), append(safeRatios, ratio)
		}
		for _, c := range cs {
			r.behind = r.behind || v.outcome(c) == behind
		}
		if text := strings.Join(at, "; "); strings.Trim(text, "; ") != "" {
			r.what += " (" + escape(text) + ")"
		}
		r.ours, r.theirs, r.ratio = escape(strings.Join(ours, "; ")), escape(strings.Join(theirs, "; ")), strings.Join(ratios, "; ")
		r.safe, r.safeRatio = escape(joined(safes)), joined(safeRatios)
		return r, true
	}
	return readmeRow{}, false
}

// joined joins texts, unless all are empty.
func joined(texts []string) string { return strings.Trim(strings.Join(texts, "; "), "; ") }

// safeText writes the best of the others that catch stale names and double
// removals, and the ratio to it.
func (v *view) safeText(c *cell, ours row, spread bool) (text, ratio string) {
	safe, ok := v.safest(c)
	if !ok {
		return "", ""
	}
	text = safe.impl + " " + v.unit.format(safe.mid)
	if spread {
		text += " " + safe.spreadText()
	}
	return strings.TrimSpace(text), v.ratioText(contest{c, ours, safe, compare(ours.figure, safe.figure, v.unit)})
}

func (v *view) ratioText(c contest) string {
	if v.outcome(c) == level {
		return "~" + times(c.ratio)
	}
	return times(c.ratio)
}

// fullRows is a question with all that ours can be compared in.
func (f *Figures) fullRows(q *suite.Question) (rows []readmeRow) {
	for _, c := range f.costs(q) {
		v := c.view
		ours, ok := c.cell.best(suite.Ours, v.unit)
		if !ok {
			continue
		}
		r := readmeRow{question: q.ID, what: escape(v.place(c.cell))}
		r.ours = escape(ours.impl + " " + v.unit.format(ours.mid) + " " + ours.spreadText())
		r.ours = strings.TrimSpace(r.ours)
		if theirs, ok := c.cell.best(suite.Theirs, v.unit); ok {
			k := contest{c.cell, ours, theirs, compare(ours.figure, theirs.figure, v.unit)}
			r.theirs = escape(theirs.impl + " " + v.unit.format(theirs.mid) + " " + theirs.spreadText())
			r.theirs = strings.TrimSpace(r.theirs)
			r.ratio, r.behind = v.ratioText(k), v.outcome(k) == behind
		}
		r.safe, r.safeRatio = v.safeText(c.cell, ours, true)
		r.safe = escape(r.safe)
		if floor, ok := c.cell.best(suite.Floor, v.unit); ok {
			r.floor = escape(floor.impl + " " + v.unit.format(floor.mid))
		}
		rows = append(rows, r)
	}
	return
}
