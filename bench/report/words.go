package report

import (
	"fmt"
	"slices"

	"coatcheck/bench/suite"
)

// Row is a row of Words: what a program does, in words, and the two cases whose times it has.
type Row struct {
	Text         string
	Question     string
	Params       []suite.Param // of both cases; others may have any value
	Ours, Theirs string        // contestants
}

// Words returns a table of times for readers who know no contestant. The heading has names for
// theirs and ours. Rows that ours loses come first. A row without figures is an error.
func Words(f *Figures, theirs, ours string, rows []Row) (string, error) {
	var lost, won [][]string
	for _, r := range rows {
		their, err := f.timeOf(&r, r.Theirs)
		if err != nil {
			return "", err
		}
		our, err := f.timeOf(&r, r.Ours)
		if err != nil {
			return "", err
		}
		texts := []string{r.Text, their.unit.text(their.mid), our.unit.text(our.mid)}
		if our.mid > their.mid {
			lost = append(lost, texts)
		} else {
			won = append(won, texts)
		}
	}
	return f.source() + markdown(slices.Concat([][]string{{"", theirs, ours}}, lost, won)), nil
}

// timeOf returns the times of a contestant in a row.
func (f *Figures) timeOf(r *Row, impl string) (figure, error) {
	if y, ok := f.figureOf(r.Question, impl, r.Params, unitTime); ok {
		return y, nil
	}
	return figure{}, fmt.Errorf("there are no times of %s, impl=%s, %v", r.Question, impl, r.Params)
}
