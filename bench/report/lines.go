package report

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"

	"coatcheck/bench/suite"
)

// The measures of a chart with lines, in units of its view box. Names are at the right,
// figures at the left.
const (
	linesWidth  = 440
	linesHeight = 300
	leftMargin  = 56
	rightMargin = 108
	topMargin   = 10
	footMargin  = 26
	apartNames  = 15 // between two names
	tones       = 6  // of --line0, --line1, … in the style sheet
)

type line struct {
	impl   string
	role   suite.Role
	points []point
}

type point struct {
	x float64
	figure
}

type lines struct {
	unit     unit
	x        string
	lines    []line
	xs       []float64
	loX, hiX float64
	loY, hiY float64
	b        strings.Builder
	rivals   []string // theirs, each of which has a colour, by name
}

// svg draws the lines of those cells. It returns "" if the axis has fewer than two values.
func (v *view) svg(cells []*cell) string {
	l := &lines{unit: v.unit, x: v.chart.X, loY: math.Inf(1), hiY: math.Inf(-1)}
	index := map[string]int{}
	for _, c := range cells {
		x, ok := numeric(value(c.params, l.x))
		for _, r := range c.rows {
			if !ok || x <= 0 || r.mid <= 0 {
				continue
			}
			i, known := index[r.impl]
			if !known {
				i = len(l.lines)
				index[r.impl] = i
				l.lines = append(l.lines, line{impl: r.impl, role: r.role})
				if r.role == suite.Theirs {
					l.rivals = append(l.rivals, r.impl)
				}
			}
			l.lines[i].points = append(l.lines[i].points, point{x, r.figure})
			l.xs = append(l.xs, x)
			l.loY, l.hiY = min(l.loY, r.mid), max(l.hiY, r.mid)
		}
	}
	slices.Sort(l.rivals)
	slices.Sort(l.xs)
	if l.xs = slices.Compact(l.xs); len(l.xs) < 2 {
		return ""
	}
	l.loX, l.hiX = l.xs[0], l.xs[len(l.xs)-1]
	l.loY, l.hiY = l.loY/1.2, l.hiY*1.2
	// Ours are last, above the others.
	slices.SortStableFunc(l.lines, func(a, b line) int { return cmp.Compare(b.role, a.role) })
	l.draw(v.chart.Title)
	return l.b.String()
}

func (l *lines) atX(x float64) float64 {
	return leftMargin + (linesWidth-leftMargin-rightMargin)*math.Log(x/l.loX)/math.Log(l.hiX/l.loX)
}

func (l *lines) atY(y float64) float64 {
	part := math.Log(y/l.loY) / math.Log(l.hiY/l.loY)
	return linesHeight - footMargin - part*(linesHeight-footMargin-topMargin)
}

func (l *lines) printf(format string, args ...any) { fmt.Fprintf(&l.b, format+"\n", args...) }

func (l *lines) draw(title string) {
	l.printf(`<svg role="img" aria-label="%s" viewBox="0 0 %d %d">`, html.EscapeString(title), linesWidth, linesHeight)
	for _, y := range l.ticks() {
		l.printf(`<path class="grid" d="M%d %.1fH%d"/>`, leftMargin, l.atY(y), linesWidth-rightMargin)
		l.printf(`<text class="axis" text-anchor="end" x="%d" y="%.1f">%s</text>`, leftMargin-6, l.atY(y)+4, l.unit.format(y))
	}
	for _, x := range l.xs {
		l.printf(`<path class="grid" d="M%.1f %dV%d"/>`, l.atX(x), topMargin, linesHeight-footMargin)
		l.printf(`<text class="axis" text-anchor="middle" x="%.1f" y="%d">%s</text>`, l.atX(x), linesHeight-8, number(fmt.Sprint(x)))
	}
	type name struct {
		style, text    string
		x, end, height float64
	}
	var names []name
	for _, ln := range l.lines {
		style := l.style(ln)
		var path, marks, ranges strings.Builder
		for _, p := range ln.points {
			x, y := l.atX(p.x), l.atY(p.mid)
			fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(path.Len(), 1)], x, y)
			fmt.Fprintf(&marks, "M%.1f %.1fh.01", x, y)
			if lo, hi := max(p.lo, l.loY), min(p.hi, l.hiY); hi > lo {
				fmt.Fprintf(&ranges, "M%.1f %.1fV%.1f", x, l.atY(lo), l.atY(hi))
			}
		}
		l.printf(`<g class="%s"><path d="%s"/><path class="range" d="%s"/><path class="mark" d="%s"/></g>`, style, &path, &ranges, &marks)
		last := ln.points[len(ln.points)-1]
		end := l.atY(last.mid)
		names = append(names, name{style, ln.impl, l.atX(last.x), end, end})
	}
	// Names that would overlap are moved down, and up again from the end of the chart.
	slices.SortStableFunc(names, func(a, b name) int { return cmp.Compare(a.end, b.end) })
	for i := 1; i < len(names); i++ {
		names[i].height = max(names[i].height, names[i-1].height+apartNames)
	}
	limit := float64(linesHeight - footMargin)
	for i := len(names) - 1; i >= 0; i-- {
		names[i].height = min(names[i].height, limit)
		limit = names[i].height - apartNames
	}
	for _, n := range names {
		x := linesWidth - rightMargin + 14
		l.printf(`<g class="%s"><path class="lead" d="M%.1f %.1fL%d %.1f"/><text x="%d" y="%.1f">%s</text></g>`,
			n.style, n.x+4, n.end, x-2, n.height, x, n.height+4, html.EscapeString(n.text))
	}
	l.printf("</svg>")
}

// style returns the classes of a line: ours are blue, references grey, and each of theirs
// has a colour, the same in all charts of the same contestants.
func (l *lines) style(ln line) string {
	switch ln.role {
	case suite.Ours:
		return "line ours"
	case suite.Theirs:
		return fmt.Sprintf("line theirs line%d", slices.Index(l.rivals, ln.impl)%tones)
	}
	return "line reference"
}

// ticks returns at most eight round figures for the vertical axis.
func (l *lines) ticks() (ys []float64) {
	for _, steps := range [][]float64{{1, 1.5, 2, 3, 4, 5, 6, 8}, {1, 2, 5}, {1}} {
		ys = ys[:0]
		for e := math.Floor(math.Log10(l.loY)); e <= math.Log10(l.hiY); e++ {
			for _, s := range steps {
				if y := s * math.Pow(10, e); y >= l.loY && y <= l.hiY {
					ys = append(ys, y)
				}
			}
		}
		if len(ys) <= 8 {
			break
		}
	}
	return ys
}

// File writes the first picture of a question's chart, which has lines, as an SVG file.
func File(w io.Writer, f *Figures, q *suite.Question, chart suite.Chart) error {
	v := f.view(q, chart)
	if v == nil {
		return fmt.Errorf("%s: no figures for %q", f.Name, q.Title)
	}
	svg := v.svg(v.split()[0])
	if svg == "" {
		return fmt.Errorf("%s: no lines for %q", f.Name, q.Title)
	}
	head, drawing, _ := strings.Cut(svg, "\n")
	_, err := fmt.Fprintf(w, "%s\n<style>%s</style>\n%s", strings.Replace(head, "<svg ", `<svg xmlns="http://www.w3.org/2000/svg" `, 1), chartStyle, drawing)
	return err
}

// split divides the cells by the parameters that are not on the horizontal axis.
func (v *view) split() (parts [][]*cell) {
	index := map[string]int{}
	for _, c := range v.cells {
		key := v.beside(c)
		i, known := index[key]
		if !known {
			i = len(parts)
			index[key] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], c)
	}
	return
}

// beside returns the label of the parameters that are not on the horizontal axis.
func (v *view) beside(c *cell) string {
	w := *v
	w.varied = slices.DeleteFunc(slices.Clone(v.varied), func(key string) bool { return key == v.chart.X })
	return w.label(c)
}
