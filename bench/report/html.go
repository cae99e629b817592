package report

import (
	"embed"
	"html/template"
	"io"
	"slices"
	"strconv"

	"coatcheck/bench/suite"
)

//go:embed page.html page.css
var pages embed.FS

var page = template.Must(template.New("page.html").ParseFS(pages, "page.html"))

// pageData is what page.html shows.
type pageData struct {
	Style     template.CSS
	Origin    [][2]string
	Note      string
	Once      string
	Losses    []lossRow
	LossText  string
	Misuse    []misuseRow
	Questions []pageQuestion
	Scalings  []pageScaling
	Compared  *pageCompared
}

type pageQuestion struct {
	ID, Title, About string
	Views            []pageView
	Table            table
}

type pageView struct {
	Title    string
	Note     string
	Sentence string
	Pictures []pagePicture
}

type pagePicture struct {
	Caption string
	SVG     template.HTML
}

type lossRow struct{ Question, What, Ours, Theirs, Ratio, Note string }

type misuseRow struct {
	Impl, What, Allocs string
	Answers            [][2]string // and their classes
}

type pageScaling struct {
	ID, Title, Control, Key, Sentence string
	Pictures                          []pagePicture
	Rows                              []scalingRow
}

type scalingRow struct {
	Impl, At, SpeedUp, Control, Efficiency string
	Ours                                   bool
}

type pageCompared struct {
	Name, Origin string
	Warnings     []string
	Summary      []string
	Rows         []comparedRow
}

type comparedRow struct{ Name, Old, New, Delta, P, Class string }

// table is all of a question's figures: a row for each contestant and set of
// parameters, a column for each unit.
type table struct {
	Params []string
	Units  []string
	Rows   []tableRow
}

type tableRow struct {
	Params []string
	Impl   string
	Class  string
	Cells  []tableCell
}

type tableCell struct {
	Value, Spread string
	Exact         string // the median, all its digits
}

// HTML writes the report: one file that needs no other, no network and no scripts.
// old is what to compare with; nil for nothing.
func HTML(w io.Writer, f *Figures, qs []suite.Question, old *Figures) error {
	qs = f.questions(qs)
	if len(qs) == 0 && len(f.misuse()) == 0 {
		return errNone
	}
	style, err := pages.ReadFile("page.css")
	if err != nil {
		return err
	}
	looks := f.looks(qs)
	d := &pageData{Style: template.CSS(toneStyle() + string(style)), Note: f.Config["note"]}
	for _, o := range f.origins() {
		d.Origin = append(d.Origin, [2]string{o.key, o.value})
	}
	ls, of := f.losses(qs)
	d.LossText = lossSummary(ls, of)
	for _, l := range ls {
		d.Losses = append(d.Losses, lossRow{l.view.q.ID, l.what(), l.ours.impl + " " + l.view.unit.format(l.ours.mid),
			l.theirs.impl + " " + l.view.unit.format(l.theirs.mid), l.by(), l.note()})
	}
	for _, m := range f.misuse() {
		r := misuseRow{Impl: m.Impl, What: m.What, Allocs: count(m.Allocs)}
		for _, a := range []string{m.stale(), m.double(), m.Other.String()} {
			r.Answers = append(r.Answers, [2]string{a, class(a)})
		}
		d.Misuse = append(d.Misuse, r)
	}
	if f.once() {
		d.Once = onceText
	}
	for i := range qs {
		q, err := f.pageQuestion(&qs[i], looks)
		if err != nil {
			return err
		}
		d.Questions = append(d.Questions, q)
	}
	for _, s := range f.scalings(qs) {
		p, err := s.page(looks)
		if err != nil {
			return err
		}
		d.Scalings = append(d.Scalings, p)
	}
	if old != nil {
		d.Compared = Compare(old, f).page()
	}
	return page.Execute(w, d)
}

func (f *Figures) pageQuestion(q *suite.Question, looks map[string]look) (pageQuestion, error) {
	p := pageQuestion{ID: q.ID, Title: q.Title, About: q.About, Table: f.table(q)}
	for i, v := range f.views(q) {
		pv := pageView{Sentence: v.sentence(), Note: fixedText(v.fixed)}
		if v.chart.Title != q.Title || i > 0 {
			pv.Title = v.chart.Title
		}
		var err error
		if pv.Pictures, err = v.pagePictures(looks); err != nil {
			return p, err
		}
		p.Views = append(p.Views, pv)
	}
	return p, nil
}

func (v *view) pagePictures(looks map[string]look) (ps []pagePicture, err error) {
	pictures, err := v.pictures(looks)
	for _, p := range pictures {
		ps = append(ps, pagePicture{p.caption, template.HTML(p.svg)})
	}
	return ps, err
}

// table gathers all of a question's series, in the order of their parameters.
func (f *Figures) table(q *suite.Question) (t table) {
	var series []*Series
	values := map[string][]string{}
	var keys []string
	for _, s := range f.Series {
		if s.ID != q.ID {
			continue
		}
		series = append(series, s)
		for _, p := range s.Params {
			if !slices.Contains(keys, p.Key) {
				keys = append(keys, p.Key)
			}
			if !slices.Contains(values[p.Key], p.Value) {
				values[p.Key] = append(values[p.Key], p.Value)
			}
		}
		for _, u := range s.Units {
			if !slices.Contains(t.Units, u) {
				t.Units = append(t.Units, u)
			}
		}
	}
	for _, key := range keys {
		if len(values[key]) > 1 {
			sortValues(values[key])
			t.Params = append(t.Params, key)
		}
	}
	slices.SortStableFunc(series, func(a, b *Series) int {
		for _, key := range t.Params {
			if c := slices.Index(values[key], a.param(key)) - slices.Index(values[key], b.param(key)); c != 0 {
				return c
			}
		}
		return 0
	})
	for _, s := range series {
		r := tableRow{Impl: s.Impl, Class: roleClass(q.RoleOf(s.Impl))}
		for _, key := range t.Params {
			r.Params = append(r.Params, number(s.param(key)))
		}
		for _, name := range t.Units {
			var c tableCell
			if rounds := s.Rounds[name]; len(rounds) > 0 {
				fig := summarize(rounds)
				u := f.unitOf(name, false)
				c = tableCell{u.format(fig.mid), fig.spreadText(), strconv.FormatFloat(fig.mid, 'g', -1, 64) + " " + name}
			}
			r.Cells = append(r.Cells, c)
		}
		t.Rows = append(t.Rows, r)
	}
	for i, name := range t.Units {
		t.Units[i] = f.unitOf(name, false).label()
	}
	for i, key := range t.Params {
		if key == procs {
			t.Params[i] = "GOMAXPROCS"
		}
	}
	return
}

func roleClass(r suite.Role) string {
	switch r {
	case suite.Ours:
		return "ours"
	case suite.Floor:
		return "floor"
	case suite.Control:
		return "control"
	}
	return ""
}

// page returns what the page's section on scaling shows.
func (s scaling) page(looks map[string]look) (p pageScaling, err error) {
	p = pageScaling{ID: s.q.ID, Title: s.q.Title, Control: s.control, Key: s.key, Sentence: s.view.sentence()}
	for _, r := range s.rows {
		u := unit{name: unitEfficiency, more: true}
		e := u.format(r.efficiency.mid)
		if spread := r.efficiency.spreadText(); spread != "" {
			e += " " + spread
		}
		p.Rows = append(p.Rows, scalingRow{r.impl, r.at, times(r.speedUp), times(r.control), e, r.role == suite.Ours})
	}
	p.Pictures, err = s.view.pagePictures(looks)
	return
}

func (c *Comparison) page() *pageCompared {
	p := &pageCompared{Name: c.Old.Name, Origin: c.Old.origin(), Warnings: c.Warnings, Summary: c.summary()}
	for _, d := range c.Deltas {
		old, new := d.values()
		name := d.Name
		if d.unit.name != unitTime {
			name += " " + d.unit.label()
		}
		class := map[string]string{green: "better", red: "worse", dim: "noise"}[d.code()]
		p.Rows = append(p.Rows, comparedRow{name, old, new, d.delta(), d.significance(), class})
	}
	return p
}
