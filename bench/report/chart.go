package report

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"coatcheck/bench/suite"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// picture is a chart ready for the page.
type picture struct {
	caption string // what its axes are, and which parameters tell it from the view's other pictures
	svg     string
	alt     string
}

const (
	chartWidth = 760 // in points
	fontSize   = 11
)

func (u unit) caption() string { return u.label() + ", " + u.better() }

// pictures draws a view: lines one picture for each set of parameters beside the
// one along the axis, bars all in one.
func (v *view) pictures(looks map[string]look) (ps []picture, err error) {
	if v.chart.Kind == suite.Lines && v.lineable() {
		for _, part := range v.split(v.chart.X) {
			p, err := part.lines(looks)
			if err != nil {
				return nil, err
			}
			ps = append(ps, p)
		}
		return ps, nil
	}
	p, err := v.bars(looks)
	return []picture{p}, err
}

// part is the cells of a view that one picture of lines shows.
type part struct {
	*view
	cells []*cell
	note  string
}

// lineable says whether lines can be drawn: along numbers, more than one.
func (v *view) lineable() bool {
	values := map[float64]bool{}
	for _, c := range v.cells {
		n, ok := numeric(value(c.params, v.chart.X))
		if !ok || n <= 0 {
			return false
		}
		values[n] = true
	}
	return len(values) > 1
}

// split divides the cells by what differs beside key.
func (v *view) split(key string) (parts []*part) {
	others := slices.DeleteFunc(slices.Clone(v.varied), func(k string) bool { return k == key })
	for _, c := range v.cells {
		note := paramText(c.params, others)
		i := slices.IndexFunc(parts, func(p *part) bool { return p.note == note })
		if i < 0 {
			i = len(parts)
			parts = append(parts, &part{view: v, note: note})
		}
		parts[i].cells = append(parts[i].cells, c)
	}
	return
}

// newPlot returns a plot in the report's style, without anything on it.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Tick.Label = withAlign(textStyle(fontSize, ink, false), a.Tick.Label)
		a.LineStyle = draw.LineStyle{Color: muted.colour(), Width: 0.75}
		a.Tick.LineStyle = draw.LineStyle{Color: muted.colour(), Width: 0.75}
	}
	return p
}

func withAlign(s, from text.Style) text.Style {
	s.XAlign, s.YAlign, s.Rotation = from.XAlign, from.YAlign, from.Rotation
	return s
}

func textStyle(size float64, t tone, isBold bool) text.Style {
	f := font.From(plot.DefaultFont, vg.Length(size))
	f.Variant = "Sans"
	if isBold {
		f.Weight = 3 // WeightBold of golang.org/x/image/font
	}
	return text.Style{Color: t.colour(), Font: f, Handler: plot.DefaultTextHandler}
}

// svg draws p.
func svg(p *plot.Plot, width, height float64, alt string) (string, error) {
	canvas := vgsvg.New(vg.Length(width), vg.Length(height))
	p.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", err
	}
	s := b.String()
	// What stands before the drawing is for files, and names namespaces by address.
	at := strings.Index(s, "<g ")
	if at < 0 {
		return "", fmt.Errorf("report: the chart %q has no drawing", alt)
	}
	head := fmt.Sprintf(`<svg role="img" aria-label="%s" viewBox="0 0 %g %g">`+"\n",
		html.EscapeString(alt), width, height)
	return head + variables(s[at:]), nil
}

// far is the ratio of two figures beyond which the shorter bar could not be seen
// on a linear axis.
const far = 25

// logarithmic decides on the axis of figures: those that lie far apart get a
// logarithmic one. Figures that are not above zero have no place there, and no bar.
func logarithmic(vs []float64) bool {
	lo, hi := math.Inf(1), 0.0
	for _, v := range vs {
		if v > 0 {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return hi/lo > far
}

// logTicks are ticks at 1, 2 and 5 times the powers of ten, fewer where they would
// be many and more where they would be few.
type logTicks struct {
	unit unit
	most int
}

func (t logTicks) Ticks(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	for _, steps := range [][]float64{{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8}, {1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}} {
		ticks = ticks[:0]
		for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
			for _, s := range steps {
				if v := s * math.Pow(10, e); v >= lo*0.999 && v <= hi*1.001 {
					ticks = append(ticks, plot.Tick{Value: v, Label: t.unit.tick(v)})
				}
			}
		}
		if len(ticks) <= t.most {
			return ticks
		}
	}
	// More than a decade for each: every so manieth.
	every := (len(ticks) + t.most - 1) / t.most
	for i := range ticks {
		if i%every != 0 {
			ticks[i].Label = ""
		}
	}
	return ticks
}

// linearTicks are ticks at round numbers.
type linearTicks struct {
	unit unit
	most int
}

func (t linearTicks) Ticks(lo, hi float64) (ticks []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/float64(t.most))))
	for _, s := range []float64{1, 2, 2.5, 5, 10} {
		if (hi-lo)/(step*s) <= float64(t.most) {
			step *= s
			break
		}
	}
	for i := math.Ceil(lo / step); i*step <= hi*1.0001; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: t.unit.tick(i * step)})
	}
	return
}

// tick writes a round number without the digits that a measurement has.
func (u unit) tick(v float64) string {
	s := u.format(v)
	num, rest, _ := strings.Cut(s, " ")
	cut := strings.IndexFunc(num, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' })
	var prefix string
	if cut >= 0 {
		num, prefix = num[:cut], num[cut:]
	}
	if strings.Contains(num, ".") {
		num = strings.TrimSuffix(strings.TrimRight(num, "0"), ".")
	}
	return strings.TrimSpace(num + prefix + " " + rest)
}
