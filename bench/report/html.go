package report

import (
	"embed"
	"html/template"
	"io"
	"math"

	"coatcheck/bench/suite"
)

//go:embed page.html page.css chart.css
var pages embed.FS

var page = template.Must(template.New("page.html").ParseFS(pages, "page.html"))

// chartStyle is the style sheet of charts, on the page and in files of their own.
var chartStyle, pageStyle = style("chart.css"), style("page.css")

func style(name string) string {
	text, err := pages.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// pageData is what page.html shows.
type pageData struct {
	Style                 template.CSS
	Origin                [][2]string
	Once, Score, LossText string
	Front                 []pageChart
	Losses                []lossRow
	Contests              []tableRow
	Questions             []pageQuestion
}

type pageQuestion struct {
	ID, Title, About string
	Charts           []pageChart
}

// pageChart is one picture: lines, or bars in groups.
type pageChart struct {
	ID, Title, Caption string
	SVG                template.HTML
	Groups             []barGroup
}

type barGroup struct {
	Label string
	Bars  []bar
}

// bar is a contestant. Its widths are percentages of the longest bar in its group.
type bar struct {
	Impl, Class, Figure, Spread string
	Width, Lo, Range            float64
}

// HTML writes the report: one file that needs no other, no network and no scripts.
func HTML(w io.Writer, f *Figures, qs []suite.Question) error {
	qs = f.questions(qs)
	d := &pageData{Style: template.CSS(chartStyle + pageStyle), Origin: f.origins()}
	if len(qs) == 0 {
		return errNone
	}
	if f.once() {
		d.Once = onceText
	}
	cs := f.contests(qs)
	ls, of := losses(cs)
	d.Score, d.LossText = score(cs), lossSummary(ls, of)
	for _, l := range ls {
		d.Losses = append(d.Losses, l.row())
	}
	for _, c := range cs {
		d.Contests = append(d.Contests, c.row())
	}
	for i := range qs {
		q := &qs[i]
		p := pageQuestion{ID: q.ID, Title: q.Title, About: q.About}
		for n, v := range f.views(q) {
			charts := v.charts()
			if q.Front && n == 0 {
				front := charts[0]
				front.Groups = front.Groups[:min(1, len(front.Groups))]
				d.Front = append(d.Front, front)
			}
			if v.chart.Title == q.Title {
				charts[0].Title = "" // the heading has it
			}
			p.Charts = append(p.Charts, charts...)
		}
		d.Questions = append(d.Questions, p)
	}
	return page.Execute(w, d)
}

// charts draws a view: lines in a picture for each set of the other parameters, bars in
// one.
func (v *view) charts() (charts []pageChart) {
	caption := v.unit.caption()
	if v.chart.Kind == suite.Lines {
		for _, cells := range v.split() {
			c := pageChart{ID: v.q.ID, Caption: caption + ", by " + v.chart.X, SVG: template.HTML(v.svg(cells))}
			if beside := v.beside(cells[0]); beside != "" {
				c.Caption = beside + ": " + c.Caption
			}
			if c.SVG != "" {
				charts = append(charts, c)
			}
		}
	}
	if charts == nil {
		c := pageChart{ID: v.q.ID, Caption: caption}
		for _, cell := range v.cells {
			c.Groups = append(c.Groups, v.bars(cell))
		}
		charts = append(charts, c)
	}
	charts[0].Title = v.chart.Title
	return charts
}

// bars draws a cell. Bars begin at zero.
func (v *view) bars(c *cell) barGroup {
	g := barGroup{Label: v.label(c)}
	var longest float64
	for _, r := range c.rows {
		longest = max(longest, r.mid, r.hi)
	}
	part := func(x float64) float64 {
		if longest == 0 {
			return 0
		}
		return math.Round(1000*max(0, x)/longest) / 10
	}
	for _, r := range c.rows {
		b := bar{Impl: r.impl, Class: roleClass(r.role), Figure: v.unit.format(r.mid), Spread: r.spreadText(), Width: part(r.mid)}
		if b.Spread != "" {
			b.Lo, b.Range = part(r.lo), part(r.hi)-part(r.lo)
		}
		g.Bars = append(g.Bars, b)
	}
	return g
}

func roleClass(r suite.Role) string {
	switch r {
	case suite.Ours:
		return "ours"
	case suite.Theirs:
		return "theirs"
	}
	return "reference"
}
