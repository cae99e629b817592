package report

import (
	"cmp"
	"math"
	"slices"

	"coatcheck/bench/suite"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const linesHeight = 340 // in points

// line is one contestant's, from left to right.
type line struct {
	impl   string
	look   look
	points []point
}

type point struct {
	x float64
	figure
}

// lines draws a line for each contestant, log-log, its name at its end.
// Efficiencies are parts of a whole, and stand on a linear axis.
func (p *part) lines(looks map[string]look) (picture, error) {
	l := &lines{linear: p.unit.name == unitEfficiency}
	var xs []float64
	labels := map[float64]string{}
	for _, impl := range p.impls() {
		ln := line{impl: impl, look: looks[base(impl)]}
		for _, c := range p.cells {
			r, ok := c.row(impl)
			x, _ := numeric(value(c.params, p.chart.X))
			if !ok || r.mid <= 0 && !l.linear {
				continue
			}
			ln.points = append(ln.points, point{x, r.figure})
			if labels[x] == "" {
				xs, labels[x] = append(xs, x), number(value(c.params, p.chart.X))
			}
		}
		if len(ln.points) > 0 {
			slices.SortFunc(ln.points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
			l.lines = append(l.lines, ln)
		}
	}
	if len(l.lines) == 0 {
		return p.bars(looks) // nothing above zero
	}
	// Ours last, above the others.
	slices.SortStableFunc(l.lines, func(a, b line) int {
		return cmp.Compare(btoi(a.look.role == suite.Ours), btoi(b.look.role == suite.Ours))
	})
	slices.Sort(xs)

	pl := newPlot()
	l.xs = xs
	l.loX, l.hiX = xs[0], xs[len(xs)-1]
	if l.loX == l.hiX {
		l.loX, l.hiX = l.loX/2, l.hiX*2
	}
	l.loY, l.hiY = l.domain()
	pl.X.Scale = plot.LogScale{}
	var ticks []plot.Tick
	for _, x := range xs {
		ticks = append(ticks, plot.Tick{Value: x, Label: labels[x]})
	}
	pl.X.Tick.Marker = plot.ConstantTicks(ticks)
	if l.linear {
		pl.Y.Tick.Marker = linearTicks{p.unit, 6}
	} else {
		pl.Y.Scale = plot.LogScale{}
		pl.Y.Tick.Marker = logTicks{p.unit, 9}
	}
	pl.X.Padding, pl.Y.Padding = 4, 4
	pl.Add(l)
	pl.X.Min, pl.X.Max, pl.Y.Min, pl.Y.Max = l.loX, l.hiX, l.loY, l.hiY
	pic := picture{alt: p.chart.Title, caption: p.unit.caption() + ", by " + p.chart.X}
	if p.note != "" {
		pic.alt += ", " + p.note
		pic.caption = p.note + ": " + pic.caption
	}
	if !l.linear {
		pic.caption += "; both axes are logarithmic"
	}
	var err error
	pic.svg, err = svg(pl, chartWidth, linesHeight, pic.alt)
	return pic, err
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// lines is the plotter.
type lines struct {
	lines              []line
	xs                 []float64
	linear             bool
	loX, hiX, loY, hiY float64
}

func (l *lines) domain() (lo, hi float64) {
	lo, hi = math.Inf(1), 0
	for _, ln := range l.lines {
		for _, p := range ln.points {
			lo, hi = min(lo, p.mid), max(hi, p.mid)
		}
	}
	if l.linear {
		return min(0, lo), max(1, hi) * 1.1
	}
	if hi/lo < 2 {
		m := math.Sqrt(hi * lo)
		return m / 1.6, m * 1.6
	}
	return lo / 1.15, hi * 1.15
}

var dashes = [][]vg.Length{nil, {5, 3}, {1.5, 2.5}}

// Plot draws the grid, then line after line, then their names.
func (l *lines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	grid := draw.LineStyle{Color: faint.colour(), Width: 0.75}
	for _, t := range p.Y.Tick.Marker.Ticks(l.loY, l.hiY) {
		if t.Label != "" {
			c.StrokeLine2(grid, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
	for _, v := range l.xs {
		c.StrokeLine2(grid, x(v), c.Min.Y, x(v), c.Max.Y)
	}
	for _, ln := range l.lines {
		style := draw.LineStyle{Color: ln.look.tone.colour(), Width: 1.4, Dashes: dashes[ln.look.dash%len(dashes)]}
		glyph := draw.GlyphStyle{Color: ln.look.tone.colour(), Radius: 3, Shape: ln.look.glyph}
		switch ln.look.role {
		case suite.Ours:
			style.Width, glyph.Radius = 2.8, 4
		case suite.Floor, suite.Control:
			style.Dashes = dashes[1]
		}
		var path []vg.Point
		for _, pt := range ln.points {
			path = append(path, vg.Point{X: x(pt.x), Y: y(pt.mid)})
		}
		c.StrokeLines(style, path)
		for i, pt := range ln.points {
			if lo, hi := max(pt.lo, l.loY), min(pt.hi, l.hiY); hi > lo {
				c.StrokeLine2(draw.LineStyle{Color: ln.look.tone.colour(), Width: 0.8}, path[i].X, y(lo), path[i].X, y(hi))
			}
			c.DrawGlyph(glyph, path[i])
		}
	}
	l.names(c, x, y)
}

// names writes the lines' names at the right, apart from each other, each joined
// with the end of its line.
func (l *lines) names(c draw.Canvas, x, y func(float64) vg.Length) {
	const apart = fontSize + 2
	type name struct {
		ln     line
		end    vg.Point
		height vg.Length
	}
	var ns []name
	for _, ln := range l.lines {
		last := ln.points[len(ln.points)-1]
		end := vg.Point{X: x(last.x), Y: y(last.mid)}
		ns = append(ns, name{ln, end, end.Y})
	}
	slices.SortStableFunc(ns, func(a, b name) int { return cmp.Compare(a.end.Y, b.end.Y) })
	// Up from below, then down from above where that has left the chart.
	for i := 1; i < len(ns); i++ {
		ns[i].height = max(ns[i].height, ns[i-1].height+apart)
	}
	limit := c.Max.Y
	for i := len(ns) - 1; i >= 0; i-- {
		ns[i].height = min(ns[i].height, limit)
		limit = ns[i].height - apart
	}
	for _, n := range ns {
		left := x(l.hiX) + 16
		c.StrokeLine2(draw.LineStyle{Color: n.ln.look.tone.colour(), Width: 0.7}, n.end.X+5, n.end.Y, left-2, n.height)
		c.FillText(l.nameStyle(n.ln), vg.Point{X: left, Y: n.height}, lineName(n.ln))
	}
}

func lineName(ln line) string { return rowName(row{impl: ln.impl, role: ln.look.role}) + ln.look.mark }

func (l *lines) nameStyle(ln line) text.Style {
	s := textStyle(fontSize, ink, ln.look.role == suite.Ours)
	s.XAlign, s.YAlign = text.XLeft, text.YCenter
	return s
}

// GlyphBoxes makes room for the names.
func (l *lines) GlyphBoxes(*plot.Plot) (boxes []plot.GlyphBox) {
	for _, ln := range l.lines {
		boxes = append(boxes, plot.GlyphBox{X: 1, Y: 0.5, Rectangle: vg.Rectangle{
			Min: vg.Point{Y: -4}, Max: vg.Point{X: l.nameStyle(ln).Width(lineName(ln)) + 20, Y: 4}}})
	}
	return
}
