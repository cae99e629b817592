package report

import (
	"fmt"
	"image/color"
	"strings"

	"coatcheck/bench/suite"

	"gonum.org/v1/plot/vg/draw"
)

// tone is a colour on light ground and on dark. Charts are drawn with the light
// one, which stands in the SVG as a variable of the page's style sheet.
type tone struct{ light, dark string }

// Ours are blue, whatever they are, and nothing else is; the others are taken from
// the palettes of Okabe and Ito and of Paul Tol, which people with any colour vision
// tell apart. Lines differ in their points and dashes as well, bars have names.
var (
	oursTones = []tone{
		{"#0A5FB4", "#4DA3F5"}, {"#2E9BE6", "#9CCBFA"}, {"#5A62D6", "#8F97F8"}, {"#0B8FA8", "#55C7DB"}, {"#123E7C", "#C4DDFB"},
		{"#7A93DB", "#AFC0F2"}, {"#1C7390", "#7FC4DA"}, {"#3D4A9E", "#7D8CEB"},
	}
	theirTones = []tone{
		{"#D55E00", "#F0834A"}, {"#009E73", "#2FC79C"}, {"#CC79A7", "#E39CC3"}, {"#C28E0E", "#E8B53A"}, {"#882255", "#C9689A"},
		{"#777733", "#B5B562"}, {"#CC6677", "#E98C9B"}, {"#117733", "#55B070"}, {"#AA4499", "#D37CC6"}, {"#8C5A2B", "#C69364"},
		{"#B03A2E", "#E3776C"}, {"#3F7F5F", "#7DBB9B"},
	}
	floorTones   = []tone{{"#8A8A8A", "#9A9A9A"}, {"#A5A5A5", "#7C7C7C"}}
	controlTones = []tone{{"#4C4C4C", "#C8C8C8"}}

	ink   = tone{"#1B1F24", "#E6E8EB"}
	faint = tone{"#D9DCE0", "#3A3F46"}
	muted = tone{"#5C636B", "#A3AAB3"}
)

// look is how a contestant is drawn, everywhere in a report.
type look struct {
	tone  tone
	role  suite.Role
	glyph draw.GlyphDrawer
	dash  int    // index of dashes
	mark  string // behind the name of what lets misuse through
}

// looks gives each contestant of the figures its look, in the order in which they
// appear, so that it is the same for the same set of them.
func (f *Figures) looks(qs []suite.Question) map[string]look {
	glyphs := []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.RingGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{},
	}
	roles := map[string]suite.Role{}
	for _, q := range qs {
		for impl, role := range q.Roles {
			roles[impl] = role
		}
	}
	missed := f.missed()
	m := map[string]look{}
	n := map[suite.Role]int{}
	for _, s := range f.Series {
		if _, ok := m[s.Impl]; ok {
			continue
		}
		role := roles[s.Impl]
		tones := map[suite.Role][]tone{
			suite.Ours: oursTones, suite.Theirs: theirTones, suite.Floor: floorTones, suite.Control: controlTones,
		}[role]
		i := n[role]
		n[role]++
		l := look{tone: tones[i%len(tones)], role: role, glyph: glyphs[i%len(glyphs)], dash: i / len(tones)}
		if role == suite.Theirs && missed[s.Impl] != "" {
			l.mark = " †"
		}
		m[s.Impl] = l
	}
	return m
}

// colour is the one with which a tone is drawn.
func (t tone) colour() color.Color {
	var c color.RGBA
	fmt.Sscanf(t.light, "#%02X%02X%02X", &c.R, &c.G, &c.B)
	c.A = 255
	return c
}

// allTones are those that charts use, each a variable of the style sheet.
func allTones() (ts []tone) {
	for _, group := range [][]tone{oursTones, theirTones, floorTones, controlTones, {ink, faint, muted}} {
		ts = append(ts, group...)
	}
	return
}

// variables puts variables of the style sheet in the place of colours.
func variables(svg string) string {
	var pairs []string
	for i, t := range allTones() {
		pairs = append(pairs, t.light, fmt.Sprintf("var(--t%d)", i))
	}
	return strings.NewReplacer(pairs...).Replace(svg)
}

// toneStyle is the part of the style sheet that defines the variables.
func toneStyle() string {
	var light, dark strings.Builder
	for i, t := range allTones() {
		fmt.Fprintf(&light, "--t%d:%s;", i, t.light)
		fmt.Fprintf(&dark, "--t%d:%s;", i, t.dark)
	}
	return fmt.Sprintf(":root{%s}\n@media (prefers-color-scheme:dark){:root{%s}}\n", light.String(), dark.String())
}
