package report

import (
	"embed"
	"errors"
	"html/template"
	"io"
	"strings"

	"coatcheck/bench/suite"
)

//go:embed page.html page.css chart.css
var pages embed.FS

var page = template.Must(template.ParseFS(pages, "page.html"))

// style returns a style sheet. That of charts is on the page and in files of their own.
func style(name string) template.CSS {
	text, err := pages.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return template.CSS(text)
}

// HTML writes the report: one file that needs no other, no network and no scripts.
func HTML(w io.Writer, f *Figures, qs []suite.Question) error {
	type section struct {
		*suite.Question
		Views []*view
	}
	var sections []section
	for i := range qs {
		if vs := f.views(&qs[i]); vs != nil {
			sections = append(sections, section{&qs[i], vs})
		}
	}
	if sections == nil {
		return errors.New("report: no figures of these questions")
	}
	return page.Execute(w, map[string]any{
		"Style":    style("chart.css") + style("page.css"),
		"Origin":   strings.ReplaceAll(f.origin(), "`", ""),
		"Outcome":  judge(f.contests(qs)),
		"Sections": sections,
	})
}

// Caption says what the figures are, and which direction is better.
func (v *view) Caption() string {
	caption := v.unit.label() + ", less is better"
	if v.unit.more {
		caption = v.unit.label() + ", more is better"
	}
	if v.chart.Kind == suite.Lines {
		caption += ", by " + v.chart.X
	}
	return caption
}
