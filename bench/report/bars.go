package report

import (
	"math"
	"slices"

	"coatcheck/bench/suite"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The measures of a bar chart, in points.
const (
	rowHeight   = 17
	groupHeight = 22 // of a group's name, above its bars
	axisHeight  = 26
	barHeight   = 12
)

// barRow is a bar, or the name of a group.
type barRow struct {
	group string
	row
}

// barRows returns the chart's rows from the top: ours, the others by their figure,
// floors.
func (v *view) barRows() (rows []barRow) {
	rank := map[suite.Role]int{suite.Ours: 0, suite.Theirs: 1, suite.Floor: 2, suite.Control: 3}
	for _, c := range v.cells {
		if len(v.cells) > 1 {
			rows = append(rows, barRow{group: v.label(c)})
		}
		sorted := slices.Clone(c.rows)
		slices.SortStableFunc(sorted, func(a, b row) int {
			switch {
			case rank[a.role] != rank[b.role]:
				return rank[a.role] - rank[b.role]
			case v.unit.ahead(a.mid, b.mid):
				return -1
			case v.unit.ahead(b.mid, a.mid):
				return 1
			}
			return 0
		})
		for _, r := range sorted {
			rows = append(rows, barRow{row: r})
		}
	}
	return
}

// bars draws lying bars, with the contestants' names before and their figures
// behind, in groups one below the other.
func (v *view) bars(looks map[string]look) (picture, error) {
	rows := v.barRows()
	b := &bars{rows: rows, unit: v.unit, looks: looks}
	height := 0.0
	b.y = make([]float64, len(rows))
	for i, r := range rows {
		h := float64(rowHeight)
		if r.group != "" {
			h = groupHeight
		}
		b.y[i] = -(height + h/2)
		height += h
	}
	b.bottom = -height
	var mids []float64
	for _, r := range rows {
		if r.group == "" {
			mids = append(mids, r.mid)
		}
	}
	b.log = logarithmic(mids)
	b.from, b.to = b.domain()

	p := newPlot()
	p.X.Min, p.X.Max = b.from, b.to
	p.Y.Min, p.Y.Max = b.bottom, 0
	if b.log {
		p.X.Scale = plot.LogScale{}
		p.X.Tick.Marker = logTicks{v.unit, 8}
	} else {
		p.X.Tick.Marker = linearTicks{v.unit, 7}
	}
	p.HideY()
	p.Add(b)
	p.X.Min, p.X.Max = b.from, b.to // Add has widened them
	p.Y.Min, p.Y.Max = b.bottom, 0
	pic := picture{caption: v.unit.caption(), alt: v.chart.Title}
	if b.log {
		pic.caption += "; the axis is logarithmic: compare the ends of bars, not their lengths"
	}
	var err error
	pic.svg, err = svg(p, chartWidth, height+axisHeight, v.chart.Title)
	return pic, err
}

func rowName(r row) string {
	switch {
	case r.role == suite.Floor && r.impl != "floor":
		return r.impl + " (floor)"
	case r.role == suite.Control && r.impl != "control":
		return r.impl + " (control)"
	}
	return r.impl
}

// bars is the plotter.
type bars struct {
	rows     []barRow
	y        []float64 // of each row's middle
	bottom   float64
	unit     unit
	looks    map[string]look
	log      bool
	from, to float64
}

// domain is the range of the axis: from zero, or from well below the smallest bar.
func (b *bars) domain() (from, to float64) {
	lo, hi, least := math.Inf(1), 0.0, 0.0
	for _, r := range b.rows {
		if r.group != "" {
			continue
		}
		hi = max(hi, r.mid, r.hi)
		least = min(least, r.mid, r.lo)
		if r.mid > 0 {
			lo = min(lo, r.mid)
		}
	}
	switch {
	case b.log:
		return math.Pow(10, math.Floor(math.Log10(lo/1.5))), hi * 1.1
	case hi == 0 && least == 0:
		return 0, 1
	}
	return least * 1.02, hi * 1.02
}

// Plot draws the grid, the bars with their spread, and the texts.
func (b *bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, t := range p.X.Tick.Marker.Ticks(b.from, b.to) {
		if t.Label != "" && t.Value >= b.from && t.Value <= b.to {
			c.StrokeLine2(draw.LineStyle{Color: faint.colour(), Width: 0.75}, x(t.Value), y(b.bottom), x(t.Value), y(0))
		}
	}
	zero := max(b.from, 0)
	for i, r := range b.rows {
		at := y(b.y[i])
		if r.group != "" {
			style := textStyle(fontSize, ink, true)
			style.XAlign, style.YAlign = text.XLeft, text.YCenter
			c.FillText(style, vg.Point{X: x(b.from) + 3, Y: at - 1}, r.group)
			continue
		}
		l := b.looks[base(r.impl)]
		drawn := !b.log || r.mid > 0
		end := x(zero)
		if drawn {
			end = x(r.mid)
			c.FillPolygon(l.tone.colour(), rectangle(x(zero), end, at, barHeight/2))
		}
		name := b.style(r)
		name.XAlign = text.XRight
		c.FillText(name, vg.Point{X: x(b.from) - 5, Y: at}, b.name(r))
		if drawn && r.hi > r.lo {
			lo, hi := x(max(r.lo, b.from)), x(min(r.hi, b.to))
			style := draw.LineStyle{Color: ink.colour(), Width: 0.9}
			c.StrokeLine2(style, lo, at, hi, at)
			c.StrokeLine2(style, lo, at-3, lo, at+3)
			c.StrokeLine2(style, hi, at-3, hi, at+3)
			end = max(end, hi)
		}
		c.FillText(b.style(r), vg.Point{X: end + 5, Y: at}, b.value(r))
	}
}

// style is that of a row's texts: bold for ours, so that they can be told without
// colours.
func (b *bars) style(r barRow) text.Style {
	style := textStyle(fontSize, ink, b.looks[base(r.impl)].role == suite.Ours)
	style.XAlign, style.YAlign = text.XLeft, text.YCenter
	return style
}

func (b *bars) value(r barRow) string {
	s := b.unit.format(r.mid)
	if spread := r.spreadText(); spread != "" {
		s += " " + spread
	}
	return s
}

func (b *bars) name(r barRow) string { return rowName(r.row) + b.looks[base(r.impl)].mark }

// GlyphBoxes makes room for the names before the bars and the figures behind them.
func (b *bars) GlyphBoxes(p *plot.Plot) (boxes []plot.GlyphBox) {
	for i, r := range b.rows {
		if r.group != "" {
			continue
		}
		end := b.from
		if !b.log || r.mid > 0 {
			end = max(r.mid, min(r.hi, b.to), b.from)
		}
		w := b.style(r).Width(b.value(r))
		boxes = append(boxes, plot.GlyphBox{X: p.X.Norm(end), Y: p.Y.Norm(b.y[i]),
			Rectangle: vg.Rectangle{Min: vg.Point{X: 0, Y: -4}, Max: vg.Point{X: w + 10, Y: 4}}})
		w = b.style(r).Width(b.name(r))
		boxes = append(boxes, plot.GlyphBox{X: 0, Y: p.Y.Norm(b.y[i]),
			Rectangle: vg.Rectangle{Min: vg.Point{X: -w - 8, Y: -4}, Max: vg.Point{X: 0, Y: 4}}})
	}
	return
}

func rectangle(from, to, middle vg.Length, half vg.Length) []vg.Point {
	return []vg.Point{{X: from, Y: middle - half}, {X: to, Y: middle - half}, {X: to, Y: middle + half}, {X: from, Y: middle + half}}
}
