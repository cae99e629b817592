package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"html/template"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"coatcheck/bench/suite"
)

// The measures of a chart with lines, in points. The names are at the right.
const (
	linesWidth  = 440
	linesHeight = 300
	namesWidth  = 124
)

// The colours of charts: numbers of the variables --tone0, --tone1, … of the style sheet,
// which has one set for a light background and one for a dark.
const (
	ink       = 0
	grid      = 1
	ours      = 2
	reference = 3
	theirs    = 4 // and the following ones, one for each contestant
	tones     = 10
)

// tone returns the colour that stands for a variable. It is not black, which vgsvg leaves out.
func tone(n int) color.Color { return color.NRGBA{R: 0xC0, G: 0xA7, B: uint8(n), A: 255} }

// line is a contestant's figures along the horizontal axis.
type line struct {
	name string // with the parameters that are not on the axis
	role suite.Role
	plotter.Line
	points plotter.Scatter
	ranges plotter.YErrorBars
}

// shapes tell lines of one colour apart.
var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}}

// lines returns the contestants' lines, ours last and so above the others. It leaves out
// figures that have no place on a logarithmic axis.
func (v *view) lines() (ls []*line) {
	at := func(c *cell) float64 { return numeric(value(c.params, v.chart.X)) }
	others := slices.DeleteFunc(slices.Clone(v.varied), func(key string) bool { return key == v.chart.X })
	for _, c := range slices.SortedStableFunc(slices.Values(v.Cells), func(a, b *cell) int { return cmp.Compare(at(a), at(b)) }) {
		for _, r := range c.Rows {
			if at(c) <= 0 || r.Lo <= 0 {
				continue
			}
			name := strings.TrimSuffix(r.Impl+", "+label(c.params, others), ", ")
			i := slices.IndexFunc(ls, func(l *line) bool { return l.name == name })
			if i < 0 {
				i = len(ls)
				ls = append(ls, &line{name: name, role: r.Role})
			}
			l := ls[i]
			l.XYs = append(l.XYs, plotter.XY{X: at(c), Y: r.Mid})
			l.ranges.YErrors = append(l.ranges.YErrors, struct{ Low, High float64 }{r.Mid - r.Lo, r.Hi - r.Mid})
		}
	}
	named := make(map[suite.Role][]string)
	for _, l := range ls {
		named[l.role] = append(named[l.role], l.name)
	}
	for _, l := range ls {
		slices.Sort(named[l.role]) // a contestant looks the same in all charts of the same contestants
		n := slices.Index(named[l.role], l.name)
		l.ranges.XYs, l.points.XYs = l.XYs, l.XYs
		l.points.Shape = shapes[0]
		l.Color, l.Width = tone(theirs+n%(tones-theirs)), 1.2
		switch l.role {
		case suite.Ours:
			l.Color, l.Width, l.points.Shape = tone(ours), 2.4, shapes[n%len(shapes)]
		case suite.Reference:
			l.Color, l.Dashes, l.points.Shape = tone(reference), []vg.Length{5, 3}, shapes[n%len(shapes)]
		}
		l.points.Color, l.points.Radius = l.Color, l.Width+1
		l.ranges.Color, l.ranges.Width = l.Color, 0.7
	}
	slices.SortStableFunc(ls, func(a, b *line) int { return cmp.Compare(b.role, a.role) })
	return ls
}

// SVG draws the lines. It returns "" if the view has bars, or the axis fewer than two values.
func (v *view) SVG() template.HTML {
	if v.chart.Kind == suite.Bars {
		return ""
	}
	p := plot.New()
	lines := v.lines()
	for _, l := range lines {
		p.Add(&l.Line, &l.ranges, &l.points)
	}
	if p.X.Min >= p.X.Max {
		return ""
	}
	p.BackgroundColor = nil
	p.Y.Min, p.Y.Max = p.Y.Min/1.2, p.Y.Max*1.2
	var xs plot.ConstantTicks
	for _, l := range lines {
		for _, at := range l.XYs {
			xs = append(xs, plot.Tick{Value: at.X, Label: number(fmt.Sprint(at.X))})
		}
	}
	slices.SortFunc(xs, func(a, b plot.Tick) int { return cmp.Compare(a.Value, b.Value) })
	p.X.Tick.Marker = slices.Compact(xs)
	p.Y.Tick.Marker = plot.TickerFunc(v.ticks)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Scale = plot.LogScale{}
		axis.Color, axis.Tick.Color, axis.Tick.Label.Color = tone(grid), tone(grid), tone(ink)
		axis.Tick.Label.Font.Size, axis.Tick.Label.Font.Variant = 13, "Sans"
	}
	lattice := plotter.NewGrid()
	lattice.Vertical.Color, lattice.Horizontal.Color = tone(grid), tone(grid)
	p.Add(lattice)

	// The names are in the order of the lines' ends.
	slices.SortStableFunc(lines, func(a, b *line) int { return cmp.Compare(b.XYs[len(b.XYs)-1].Y, a.XYs[len(a.XYs)-1].Y) })
	names := plot.NewLegend()
	names.Top, names.Left, names.XOffs, names.Padding = true, true, linesWidth-namesWidth+8, 3
	names.YOffs = -4
	names.TextStyle.Color, names.TextStyle.Font.Size, names.TextStyle.Font.Variant = tone(ink), 13, "Sans"
	for _, l := range lines {
		names.Add(l.name, &l.Line, &l.points)
	}
	canvas := vgsvg.New(linesWidth, linesHeight)
	whole := draw.New(canvas)
	names.Draw(whole)
	p.Draw(draw.Crop(whole, 4, -namesWidth, 4, -4))
	var b bytes.Buffer
	canvas.WriteTo(&b) // a Buffer takes everything
	_, drawing, _ := strings.Cut(b.String(), "<svg")
	return template.HTML(`<svg role="img" aria-label="` + html.EscapeString(v.Title) + `"` + themed.Replace(drawing))
}

// themed replaces the colours by the variables of the style sheet.
var themed = func() *strings.Replacer {
	pairs := []string{"Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal", "system-ui,Arial,sans-serif"}
	for n := range tones {
		pairs = append(pairs, fmt.Sprintf("#C0A7%02X", n), fmt.Sprintf("var(--tone%d)", n))
	}
	return strings.NewReplacer(pairs...)
}()

// ticks returns round figures of the vertical axis: fewer for each power of ten if there are
// several of these.
func (v *view) ticks(lo, hi float64) (ts []plot.Tick) {
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
				ts = append(ts, plot.Tick{Value: y, Label: v.unit.text(y)})
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
