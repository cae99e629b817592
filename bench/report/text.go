package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"coatcheck/bench/suite"
)

// Style is how a table for the terminal looks.
type Style struct {
	Colour bool
	Width  int // in columns; 0 is 120
}

// StyleOf returns the style for f: in colour on a terminal, unless NO_COLOR is set
// or TERM is dumb; as wide as COLUMNS says.
func StyleOf(f *os.File) Style {
	var s Style
	info, err := f.Stat()
	s.Colour = err == nil && info.Mode()&os.ModeCharDevice != 0 &&
		os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n >= 60 {
		s.Width = n
	}
	return s
}

// Escape sequences of the terminal.
const (
	bold  = "1"
	dim   = "2"
	red   = "31"
	green = "32"
)

func (s Style) paint(code, text string) string {
	if !s.Colour || code == "" || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s Style) width() int {
	if s.Width > 0 {
		return s.Width
	}
	return 120
}

// Text writes the table for the terminal: a block for each question that has
// figures, then what misuse showed, how things scale, and where we lose.
func Text(w io.Writer, f *Figures, qs []suite.Question, s Style) error {
	qs = f.questions(qs)
	t := &terminal{Writer: bufio.NewWriter(w), f: f, style: s}
	t.line(t.style.paint(dim, f.origin()))
	if f.once() {
		t.line(onceText)
	}
	for i := range qs {
		for _, v := range f.views(&qs[i]) {
			t.view(v)
		}
	}
	t.misuse()
	t.scaling(qs)
	t.losses(qs)
	return t.Flush()
}

type terminal struct {
	*bufio.Writer
	f     *Figures
	style Style
}

func (t *terminal) line(parts ...string) {
	t.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	t.WriteByte('\n')
}

// wrapped writes a paragraph.
func (t *terminal) wrapped(indent, s string) {
	line := indent
	for _, word := range strings.Fields(s) {
		if line != indent && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > t.style.width() {
			t.line(line)
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	t.line(line)
}

// heading opens a block.
func (t *terminal) heading(title, note string) {
	t.line()
	t.line(t.style.paint(bold, title), "  ", t.style.paint(dim, note))
}

// entry is one cell of a table: three columns that are aligned each for itself.
type entry struct {
	value, spread, ratio string
	code                 string // of the ratio
}

// view writes the block of a chart: a row for each contestant, a column for each
// set of parameters, as many beside each other as there is room for.
func (t *terminal) view(v *view) {
	note := v.unit.label() + ", " + v.unit.better()
	if fixed := fixedText(v.fixed); fixed != "" {
		note += "; " + fixed
	}
	title := v.q.ID + ": " + v.chart.Title
	t.heading(title, note)

	impls := v.impls()
	names := 0
	for _, impl := range impls {
		names = max(names, utf8.RuneCountInString(t.name(v, impl)))
	}
	entries, widths := t.entries(v, impls)
	for from := 0; from < len(v.cells); {
		to, width := from, 2+names
		for to < len(v.cells) && (to == from || width+2+widths[to] <= t.style.width()) {
			width += 2 + widths[to]
			to++
		}
		to = v.breakBefore(from, to)
		t.header(v, from, to, names, widths)
		for i, impl := range impls {
			if slices.ContainsFunc(v.cells[from:to], func(c *cell) bool { _, ok := c.row(impl); return ok }) {
				t.row(v, impl, entries[i][from:to], widths[from:to], names)
			}
		}
		from = to
	}
	t.wrapped("  ", v.sentence())
}

// breakBefore moves the end of a table that has no room for all columns to where
// the first of the parameters changes, if it does within the table.
func (v *view) breakBefore(from, to int) int {
	if to == len(v.cells) || len(v.varied) < 2 {
		return to
	}
	outer := func(j int) string { return value(v.cells[j].params, v.varied[0]) }
	for at := to; at > from; at-- {
		if outer(at) != outer(at-1) {
			return at
		}
	}
	return to
}

// name is the contestant's, with a mark of what it is: » of ours, † of what lets
// misuse through.
func (t *terminal) name(v *view, impl string) string {
	mark := "  "
	if v.roleOf(impl) == suite.Ours {
		mark = "» "
	}
	name := mark + rowName(row{impl: impl, role: v.roleOf(impl)})
	if v.roleOf(impl) == suite.Theirs && v.missed[base(impl)] != "" {
		name += " †"
	}
	return name
}

// entries returns what the table has in each row and column, aligned within
// columns, and the columns' widths.
func (t *terminal) entries(v *view, impls []string) (rows [][]entry, widths []int) {
	rows = make([][]entry, len(impls))
	for i := range rows {
		rows[i] = make([]entry, len(v.cells))
	}
	widths = make([]int, len(v.cells))
	for j, c := range v.cells {
		best, contested := c.best(suite.Theirs, v.unit)
		var a, b, d int
		for i, impl := range impls {
			r, ok := c.row(impl)
			if !ok {
				continue
			}
			e := entry{value: v.unit.format(r.mid), spread: r.spreadText()}
			if contested && v.unit.name != unitEfficiency {
				e.ratio, e.code = t.ratio(v, r, best)
			}
			rows[i][j] = e
			a, b, d = max(a, utf8.RuneCountInString(e.value)), max(b, utf8.RuneCountInString(e.spread)), max(d, utf8.RuneCountInString(e.ratio))
		}
		for i := range rows {
			e := &rows[i][j]
			e.value, e.spread, e.ratio = pad(e.value, a), pad(e.spread, b), pad(e.ratio, d)
		}
		widths[j] = a + 1 + b + 1 + d
		for _, key := range v.varied {
			label := paramText(c.params, []string{key})
			widths[j] = max(widths[j], utf8.RuneCountInString(label))
		}
	}
	return
}

// pad aligns to the right.
func pad(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s
}

// ratio writes a row's figure as a multiple of the best of the others, with "~"
// where one of ours is within the noise of it.
func (t *terminal) ratio(v *view, r, best row) (text, code string) {
	if r.impl == best.impl && r.role == suite.Theirs {
		return "best", ""
	}
	d := compare(r.figure, best.figure, v.unit)
	text = times(d.ratio)
	if math.IsNaN(d.ratio) {
		return text, ""
	}
	text += "×"
	if r.role != suite.Ours {
		return text, ""
	}
	switch {
	case !d.sure:
		return "~" + text, ""
	case v.unit.ahead(r.mid, best.mid):
		return text, green
	}
	return text, red
}

func (t *terminal) header(v *view, from, to, names int, widths []int) {
	for _, key := range v.varied {
		line, last := strings.Repeat(" ", 2+names), ""
		for j := from; j < to; j++ {
			label := paramText(v.cells[j].params, []string{key})
			// What goes on from the column before is not said again.
			if key != v.varied[len(v.varied)-1] && label == last && j > from {
				label = ""
			} else {
				last = label
			}
			line += "  " + pad(label, widths[j])
		}
		t.line(t.style.paint(dim, line))
	}
}

func (t *terminal) row(v *view, impl string, entries []entry, widths []int, names int) {
	name := t.name(v, impl)
	name += strings.Repeat(" ", names-utf8.RuneCountInString(name))
	code := ""
	switch v.roleOf(impl) {
	case suite.Ours:
		code = bold
	case suite.Floor, suite.Control:
		code = dim
	}
	line := "  " + t.style.paint(code, name)
	for j, e := range entries {
		plain := e.value + " " + e.spread + " " + e.ratio
		line += "  " + strings.Repeat(" ", max(0, widths[j]-utf8.RuneCountInString(plain))) +
			t.style.paint(code, e.value) + " " + t.style.paint(dim, e.spread) + " " + t.style.paint(e.code, e.ratio)
	}
	t.line(line)
}

// fixedText is the parameters that are the same throughout.
func fixedText(ps []suite.Param) string {
	var parts []string
	for _, p := range ps {
		if p.Value != "" {
			parts = append(parts, paramLabel(p))
		}
	}
	return strings.Join(parts, ", ")
}

// misuse writes the block of what each contestant catches.
func (t *terminal) misuse() {
	ms := t.f.misuse()
	if len(ms) == 0 {
		return
	}
	t.heading("Misuse: what does each catch?", "found out by trying; † above marks those that miss something")
	rows := [][]string{{"", "stale handle caught?", "double free caught?", "other store's?", "allocations", "what it is"}}
	for i := range ms {
		m := &ms[i]
		rows = append(rows, []string{m.Impl, m.stale(), m.double(), m.Other.String(), count(m.Allocs), m.What})
	}
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for j, s := range r {
			widths[j] = max(widths[j], utf8.RuneCountInString(s))
		}
	}
	for i, r := range rows {
		line := ""
		for j, s := range r {
			padded := s + strings.Repeat(" ", widths[j]-utf8.RuneCountInString(s))
			switch {
			case i == 0:
				padded = t.style.paint(dim, padded)
			case j > 0 && j < 4:
				padded = t.style.paint(map[string]string{"yes": green, "no": red}[class(s)], padded)
			}
			line += "  " + padded
		}
		t.line(line)
	}
}

// count writes a number of allocations.
func count(v float64) string {
	if v < 0.0005 && v > -0.0005 {
		return "0"
	}
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 3, 64), "0"), ".")
}

// scaling writes how much of the machine's own scaling each contestant has.
func (t *terminal) scaling(qs []suite.Question) {
	for _, s := range t.f.scalings(qs) {
		if charted(s.q, unitEfficiency, t.f) {
			continue // it has its block already
		}
		t.view(s.view)
	}
}

// losses writes where ours are behind.
func (t *terminal) losses(qs []suite.Question) {
	ls, of := t.f.losses(qs)
	t.heading("Where we lose", lossNote)
	if len(ls) == 0 {
		t.wrapped("  ", lossSummary(nil, of))
		return
	}
	t.wrapped("  ", lossSummary(ls, of))
	rows := make([][]string, len(ls))
	var widths [4]int
	for i, l := range ls {
		rows[i] = []string{l.what(), l.ours.impl + " " + l.view.unit.format(l.ours.mid),
			l.theirs.impl + " " + l.view.unit.format(l.theirs.mid), l.by() + "×"}
		for j, text := range rows[i] {
			widths[j] = max(widths[j], utf8.RuneCountInString(text))
		}
	}
	for i, row := range rows {
		var line string
		for j, text := range row {
			line += "  " + text + strings.Repeat(" ", widths[j]-utf8.RuneCountInString(text))
		}
		t.line(line, "  ", t.style.paint(dim, ls[i].note()))
	}
}

const lossNote = "the best of ours against each of the others, beyond the noise, the worst first"

func lossSummary(ls []loss, of int) string {
	switch {
	case of == 0:
		return "There was nothing to compare."
	case len(ls) == 0:
		return fmt.Sprintf("Nowhere: in none of %d comparisons with one of the others is the best of ours behind beyond the noise.", of)
	}
	var unsafe int
	for _, l := range ls {
		if l.misses != "" {
			unsafe++
		}
	}
	s := fmt.Sprintf("In %d of %d comparisons with one of the others the best of ours is behind", len(ls), of)
	if unsafe > 0 {
		s += fmt.Sprintf(", in %d of these behind what lets misuse through", unsafe)
	}
	return s + "."
}

// note is what else is to be known of a loss.
func (l loss) note() string {
	var parts []string
	if l.misses != "" {
		parts = append(parts, l.theirs.impl+" "+l.misses)
	}
	if min(len(l.ours.rounds), len(l.theirs.rounds)) < few && !l.view.unit.exact && !l.view.once {
		parts = append(parts, "too few rounds for a test")
	}
	return strings.Join(parts, "; ")
}
