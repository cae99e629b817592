package report

import (
	"fmt"
	"io"
	"strings"

	"coatcheck/bench/suite"
)

// File writes the first picture of a question's chart as an SVG file of its own.
func File(w io.Writer, f *Figures, q *suite.Question, chart suite.Chart) error {
	v := f.view(q, chart)
	if v == nil {
		return fmt.Errorf("%s: no figures for %q", f.Name, q.Title)
	}
	ps, err := v.pictures(f.looks([]suite.Question{*q}))
	if err != nil {
		return err
	}
	head, drawing, _ := strings.Cut(ps[0].svg, "\n")
	_, err = fmt.Fprintf(w, "%s\n<style>%s</style>\n%s", strings.Replace(head, "<svg ", `<svg xmlns="http://www.w3.org/2000/svg" `, 1), toneStyle(), drawing)
	return err
}
