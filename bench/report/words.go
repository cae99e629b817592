package report

import (
	"fmt"

	"coatcheck/bench/suite"
)

// Row is a row of Programs or of Instead: what is measured, in words, and the two cases whose figures it
// has.
type Row struct {
	Text         string
	Question     string
	Params       []suite.Param // of both cases; others may have any value
	Ours, Theirs string        // contestants

	Name, Better string // of Instead: theirs, and what it is the better choice for
}

// Instead returns a table of what programs use in a pool's place, what each is the better choice for,
// and what it costs beside a pool. A row without figures is an error.
func Instead(f *Figures, rows []Row) (string, error) {
	table := [][]string{{"instead of a pool", "the better choice", "measured", "goroutines", "its time", "a pool's"}}
	for _, r := range rows {
		their, err := f.timeOf(&r, r.Theirs)
		if err != nil {
			return "", err
		}
		our, err := f.timeOf(&r, r.Ours)
		if err != nil {
			return "", err
		}
		table = append(table, []string{r.Name, r.Better, r.Text, value(r.Params, paramGoroutines), their.unit.text(their.mid), our.unit.text(our.mid)})
	}
	return f.source() + markdown(table), nil
}

// timeOf returns the times of a contestant in a row.
func (f *Figures) timeOf(r *Row, impl string) (figure, error) {
	if y, ok := f.figureOf(r.Question, impl, r.Params, unitTime); ok {
		return y, nil
	}
	return figure{}, fmt.Errorf("there are no times of %s, impl=%s, %v", r.Question, impl, r.Params)
}
