package report

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"coatcheck/bench/suite"
)

// The measures of a chart with lines. The names are at the right.
const (
	linesWidth, linesHeight = 440, 300

	left, right = 52., 306.
	top, bottom = 12., 270.
	textHeight  = 15.
)

// The colours of charts are the variables --tone0, --tone1, … of the style sheet, which has one
// set for a light background and one for a dark.
const (
	ink       = 0
	grid      = 1
	ours      = 2
	reference = 3
	theirs    = 4 // and the following ones, one for each contestant
	tones     = 10
)

// line is a contestant's figures along the horizontal axis.
type line struct {
	name   string // with the parameters that are not on the axis
	role   suite.Role
	xs     []float64
	ys     []figure
	tone   int
	width  float64
	dashes int // 0 is none
	shape  int
}

func (l *line) last() float64 { return l.ys[len(l.ys)-1].Mid }

// lines returns the contestants' lines, ours last and so above the others.
func (v *view) lines() (ls []*line) {
	at := func(c *cell) float64 { return numeric(value(c.params, v.chart.X)) }
	others := slices.DeleteFunc(slices.Clone(v.varied), func(key string) bool { return key == v.chart.X })
	for _, c := range slices.SortedStableFunc(slices.Values(v.Cells), func(a, b *cell) int { return cmp.Compare(at(a), at(b)) }) {
		for _, r := range c.Rows {
			name := strings.TrimSuffix(r.Impl+", "+label(c.params, others), ", ")
			i := slices.IndexFunc(ls, func(l *line) bool { return l.name == name })
			if i < 0 {
				i = len(ls)
				ls = append(ls, &line{name: name, role: r.Role})
			}
			ls[i].xs, ls[i].ys = append(ls[i].xs, at(c)), append(ls[i].ys, r.figure)
		}
	}
	named := make(map[suite.Role][]string)
	for _, l := range ls {
		named[l.role] = append(named[l.role], l.name)
	}
	for _, l := range ls {
		slices.Sort(named[l.role]) // a contestant looks the same in all charts of the same contestants
		n := slices.Index(named[l.role], l.name)
		switch l.tone, l.width, l.shape = theirs+n%(tones-theirs), 1.2, n; l.role {
		case suite.Ours:
			l.tone, l.width = ours, 2.4
		case suite.Reference:
			l.tone, l.dashes = reference, 5
		}
	}
	slices.SortStableFunc(ls, func(a, b *line) int { return cmp.Compare(b.role, a.role) })
	return ls
}

// SVG draws the lines on logarithmic axes. It returns "" if the view has bars, or the
// horizontal axis fewer than two values.
func (v *view) SVG() template.HTML {
	if v.chart.Kind == suite.Bars {
		return ""
	}
	lines := v.lines()
	var xs []float64
	lo, hi := math.Inf(1), 0.
	for _, l := range lines {
		xs = append(xs, l.xs...)
		for _, y := range l.ys {
			lo, hi = min(lo, y.Lo/1.2), max(hi, y.Hi*1.2)
		}
	}
	slices.Sort(xs)
	if xs = slices.Compact(xs); len(xs) < 2 {
		return ""
	}
	part := func(x, lo, hi float64) float64 { return math.Log(x/lo) / math.Log(hi/lo) }
	across := func(x float64) float64 { return left + (right-left)*part(x, xs[0], xs[len(xs)-1]) }
	up := func(y float64) float64 { return bottom - (bottom-top)*part(y, lo, hi) }

	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	stroke := func(tone int, width float64, dashes int, path string) {
		put(`<path d="%s" style="fill:none;stroke:var(--tone%d);stroke-width:%g;stroke-dasharray:%[4]d %[4]d"/>`, path, tone, width, dashes)
	}
	text := func(x, y float64, anchor, text string) {
		put(`<text x="%.1f" y="%.1f" text-anchor="%s" style="font:13px system-ui,Arial,sans-serif;fill:var(--tone%d)">%s</text>`, x, y, anchor, ink, html.EscapeString(text))
	}
	mark := func(l *line, x, y float64) {
		r := l.width + 1
		put([]string{
			`<path d="M%.1f,%.1fm-%[3]g,0a%[3]g,%[3]g 0 1 0 %[4]g,0a%[3]g,%[3]g 0 1 0 -%[4]g,0" style="fill:var(--tone%[5]d)"/>`,
			`<path d="M%.1f,%.1fm-%[3]g,-%[3]gh%[4]gv%[4]gh-%[4]gZ" style="fill:var(--tone%[5]d)"/>`,
			`<path d="M%.1f,%.1fm0,-%[4]gl%[4]g,%[4]g -%[4]g,%[4]g -%[4]g,-%[4]gZ" style="fill:var(--tone%[5]d)"/>`,
		}[l.shape%3], x, y, r, 2*r, l.tone)
	}
	put(`<svg role="img" aria-label="%s" width="%dpt" height="%dpt" viewBox="0 0 %[2]d %[3]d" xmlns="http://www.w3.org/2000/svg">`, html.EscapeString(v.Title), linesWidth, linesHeight)
	for _, x := range xs {
		stroke(grid, 0.5, 0, fmt.Sprintf("M%.1f,%gV%g", across(x), bottom, top))
		text(across(x), bottom+textHeight+2, "middle", number(fmt.Sprint(x)))
	}
	for _, y := range ticks(lo, hi) {
		stroke(grid, 0.5, 0, fmt.Sprintf("M%g,%.1fH%g", left, up(y), right))
		text(left-6, up(y)+4, "end", v.unit.text(y))
	}
	for _, l := range lines {
		path := "M"
		for i, x := range l.xs {
			path += fmt.Sprintf("%.1f,%.1f ", across(x), up(l.ys[i].Mid))
		}
		stroke(l.tone, l.width, l.dashes, path)
		for i, x := range l.xs {
			stroke(l.tone, 0.7, 0, fmt.Sprintf("M%.1f,%.1fV%.1f", across(x), up(l.ys[i].Lo), up(l.ys[i].Hi)))
			mark(l, across(x), up(l.ys[i].Mid))
		}
	}
	// The names are in the order of the lines' ends, and as near to them as there is room.
	slices.SortStableFunc(lines, func(a, b *line) int { return cmp.Compare(b.last(), a.last()) })
	at := 0.
	for i, l := range lines {
		at = max(at, min(up(l.last()), bottom-textHeight*float64(len(lines)-1-i)))
		stroke(l.tone, l.width, l.dashes, fmt.Sprintf("M%g,%.1fh20", right+10, at))
		mark(l, right+20, at)
		text(right+36, at+4, "start", l.name)
		at += textHeight
	}
	return template.HTML(b.String() + "</svg>\n")
}

// ticks returns round figures of the vertical axis: fewer for each power of ten if there are
// several of these.
func ticks(lo, hi float64) (ts []float64) {
	steps := []float64{1, 1.5, 2, 3, 5, 7}
	switch decades := math.Log10(hi / lo); {
	case decades > 4:
		steps = steps[:1]
	case decades > 1.5:
		steps = []float64{1, 2, 5}
	}
	for e := math.Floor(math.Log10(lo)); e <= math.Log10(hi); e++ {
		for _, s := range steps {
			if y := s * math.Pow(10, e); y >= lo && y <= hi {
				ts = append(ts, y)
			}
		}
	}
	return ts
}

// File writes a question's first chart, which has lines, as an SVG file.
func File(w io.Writer, f *Figures, q *suite.Question) error {
	for _, v := range f.views(q) {
		if svg := string(v.SVG()); svg != "" {
			head, drawing, _ := strings.Cut(svg, ">")
			_, err := fmt.Fprintf(w, "%s>\n<style>%s</style>%s", head, style("chart.css"), drawing)
			return err
		}
	}
	return fmt.Errorf("%s: no lines for %q", f.Name, q.Title)
}
