package report

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"coatcheck/bench/suite"
)

// The measures of the chart. The names of the lines are at the right.
const (
	svgWidth, svgHeight = 700, 440

	left, right = 74., 500.
	top, bottom = 52., 370.
	textHeight  = 16.
)

// style has the looks of texts, the grid and the roles on a light background, and the colours on a
// dark one.
const style = `text{font:13px system-ui,Arial,sans-serif;fill:#1b1f24}path{fill:none;stroke-width:1.4}
.grid{stroke:#d9dce0}.ours{stroke:#0a5fb4;stroke-width:2.4}.theirs{stroke:#c2571a}.reference{stroke:#7d838a;stroke-dasharray:6 4}
.mark{stroke-dasharray:none;stroke-width:1.4}
@media (prefers-color-scheme:dark){text{fill:#e6e8eb}.grid{stroke:#3a3f46}.ours{stroke:#4da3f5}.theirs{stroke:#f0834a}.reference{stroke:#8f959c}}`

// marks are what tells the lines of a role apart, at their points: a circle, a square, a triangle,
// a cross and a diamond.
var marks = []string{"m-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0", "m-3.5,-3.5h7v7h-7z", "m0,-5l4.5,8h-9z", "m-4,-4l8,8m0,-8l-8,8", "m0,-5l5,5l-5,5l-5,-5z"}

// line is a contestant's figures along the horizontal axis.
type line struct {
	impl string
	role suite.Role
	xs   []float64
	ys   []figure
	look string // its class in style
	mark string // at its points
}

func (l *line) last() float64 { return l.ys[len(l.ys)-1].mid }

// lines returns the contestants' lines, by role. Those of a single point are left out.
func lines(cs []*cell, axis string) (ls []*line) {
	at := func(c *cell) float64 {
		x, _ := strconv.ParseFloat(value(c.params, axis), 64)
		return x
	}
	for _, c := range slices.SortedStableFunc(slices.Values(cs), func(a, b *cell) int { return cmp.Compare(at(a), at(b)) }) {
		for _, r := range c.rows {
			i := slices.IndexFunc(ls, func(l *line) bool { return l.impl == r.impl })
			if i < 0 {
				i = len(ls)
				ls = append(ls, &line{impl: r.impl, role: r.role})
			}
			ls[i].xs, ls[i].ys = append(ls[i].xs, at(c)), append(ls[i].ys, r.figure)
		}
	}
	ls = slices.DeleteFunc(ls, func(l *line) bool { return len(l.xs) < 2 })
	slices.SortFunc(ls, func(a, b *line) int { return cmp.Or(cmp.Compare(b.role, a.role), cmp.Compare(a.impl, b.impl)) })
	drawn := map[string]int{}
	for _, l := range ls {
		l.look = map[suite.Role]string{suite.Ours: "ours", suite.Theirs: "theirs"}[l.role]
		if l.look == "" {
			l.look = "reference"
		}
		l.mark = marks[drawn[l.look]%len(marks)]
		drawn[l.look]++
	}
	return ls
}

// round leaves out the zeros after the point of a whole number: "50M" for "50.0M".
func round(text string) string { return zeros.ReplaceAllString(text, "$1") }

var zeros = regexp.MustCompile(`\.0+( |[A-Za-z]|$)`)

// SVG draws the k-th chart of a question, on logarithmic axes, so that no contestant
// squeezes the others. axis is the parameter along the horizontal one. names are beside the lines
// of contestants that their own names do not explain. note is a line below the chart.
func SVG(w io.Writer, f *Figures, q *suite.Question, k int, axis string, names map[string]string, note string) error {
	cs := f.cells(q, k)
	lines := lines(cs, axis)
	if len(lines) == 0 {
		return fmt.Errorf("no lines for %q", q.Title)
	}
	var xs []float64
	lo, hi := math.Inf(1), 0.
	for _, l := range lines {
		xs = append(xs, l.xs...)
		for _, y := range l.ys {
			lo, hi = min(lo, y.lo/1.2), max(hi, y.hi*1.2)
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	part := func(x, lo, hi float64) float64 { return math.Log(x/lo) / math.Log(hi/lo) }
	across := func(x float64) float64 { return left + (right-left)*part(x, xs[0], xs[len(xs)-1]) }
	up := func(y float64) float64 { return bottom - (bottom-top)*part(y, lo, hi) }

	var b strings.Builder
	path := func(look, format string, args ...any) {
		fmt.Fprintf(&b, "<path class=\"%s\" d=\"%s\"/>\n", look, fmt.Sprintf(format, args...))
	}
	text := func(x, y float64, anchor, text string) {
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, html.EscapeString(text))
	}
	fmt.Fprintf(&b, "<svg role=\"img\" aria-label=\"%s\" width=\"%dpt\" height=\"%dpt\" viewBox=\"0 0 %[2]d %[3]d\" xmlns=\"http://www.w3.org/2000/svg\">\n<style>%[4]s</style>\n",
		cs[0].title, svgWidth, svgHeight, style)
	text(left, 18, "start", cs[0].title)
	text(left, 36, "start", f.machine())
	text((left+right)/2, bottom+42, "middle", axis+", log scale")
	text(left, bottom+62, "start", note)
	fmt.Fprintf(&b, "<text transform=\"translate(16,%.1f) rotate(-90)\" text-anchor=\"middle\">%s, log scale</text>\n", (top+bottom)/2, cs[0].unit.label())
	for _, x := range xs {
		path("grid", "M%.1f,%gV%g", across(x), bottom, top)
		text(across(x), bottom+textHeight+2, "middle", number(fmt.Sprint(x)))
	}
	for power := math.Pow(10, math.Floor(math.Log10(lo))); power <= hi; power *= 10 {
		for _, y := range []float64{power, 2 * power, 5 * power} {
			if y >= lo && y <= hi {
				path("grid", "M%g,%.1fH%g", left, up(y), right)
				text(left-6, up(y)+4, "end", round(cs[0].unit.text(y)))
			}
		}
	}
	for _, l := range lines {
		points := make([]string, len(l.xs))
		for i, x := range l.xs {
			points[i] = fmt.Sprintf("%.1f,%.1f", across(x), up(l.ys[i].mid))
			path(l.look+" mark", "M%s%s", points[i], l.mark)
			path(l.look, "M%.1f,%.1fV%.1f", across(x), up(l.ys[i].lo), up(l.ys[i].hi))
		}
		path(l.look, "M%s", strings.Join(points, " "))
	}
	// The names are in the order of the lines' ends, and as near to them as there is room.
	slices.SortStableFunc(lines, func(a, b *line) int { return cmp.Compare(b.last(), a.last()) })
	at := 0.
	for i, l := range lines {
		at = max(at, min(up(l.last()), bottom-textHeight*float64(len(lines)-1-i)))
		path(l.look, "M%g,%.1fh36", right+12, at)
		path(l.look+" mark", "M%g,%.1f%s", right+30, at, l.mark)
		text(right+56, at+4, "start", cmp.Or(names[l.impl], l.impl))
		at += textHeight
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
