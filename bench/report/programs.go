package report

import (
	"fmt"
	"slices"
	"strings"

	"coatcheck/bench/suite"
)

// The units of programs, and the values of the parameter load.
const (
	unitProcessor = "cpu-sec/op"
	unitPeak      = "peak-B"

	paramLoad       = "load"
	paramGoroutines = "goroutines"
	quiet, busy     = "quiet", "busy"
)

// Programs returns a table of the processor times of programs, quiet and busy, for readers who
// know no contestant. The heading has names for those of theirs and for ours. Rows in which ours is
// behind one of theirs come first. A row without figures is an error, except that a contestant of
// theirs may be missing.
func Programs(f *Figures, theirs []Named, ours string, rows []Row) (string, error) {
	var lost, won [][]string
	table := [][]string{{"processor time, quiet and busy", "goroutines"}}
	for _, load := range []string{"", busy + ": "} {
		for _, their := range theirs {
			table[0] = append(table[0], load+their.Text)
		}
		table[0] = append(table[0], load+"**"+ours+"**")
	}
	for _, r := range rows {
		texts, loses := []string{r.Text, f.goroutinesOf(&r)}, false
		for _, load := range []string{quiet, busy} {
			params := []suite.Param{{Key: paramLoad, Value: load}}
			our, ok := f.figureOf(r.Question, r.Ours, params, unitProcessor)
			if !ok {
				return "", fmt.Errorf("there are no figures of %s, impl=%s, %s", r.Question, r.Ours, load)
			}
			for _, t := range theirs {
				their, ok := f.figureOf(r.Question, t.Impl, params, unitProcessor)
				if !ok {
					texts = append(texts, missing)
					continue
				}
				texts, loses = append(texts, their.unit.text(their.mid)), loses || behind(our, their)
			}
			texts = append(texts, "**"+our.unit.text(our.mid)+"**")
		}
		if loses {
			lost = append(lost, texts)
		} else {
			won = append(won, texts)
		}
	}
	return f.source() + markdown(slices.Concat(table, lost, won)), nil
}

// goroutinesOf returns the numbers of goroutines of a program, quiet and busy, or one if they are the
// same.
func (f *Figures) goroutinesOf(r *Row) string {
	var loads []string
	for _, load := range []string{quiet, busy} {
		for _, s := range f.series {
			if n := value(s.params, paramGoroutines); s.id == r.Question && s.impl == r.Ours && value(s.params, paramLoad) == load && !slices.Contains(loads, n) {
				loads = append(loads, n)
			}
		}
	}
	return strings.Join(loads, "; ")
}

// Contestants returns a table of the processor time and the memory of programs, quiet and busy. It has a row
// for each contestant of each program.
func Contestants(f *Figures, qs []suite.Question) string {
	table := [][]string{{"program", "contestant", "processor time: quiet; busy", "memory at the peak"}}
	for _, q := range qs {
		name := q.Title
		for _, s := range f.series {
			if s.id != q.ID || value(s.params, paramLoad) != quiet {
				continue
			}
			texts := []string{name, "`" + s.impl + "`"}
			for _, u := range []string{unitProcessor, unitPeak} {
				var loads []string
				for _, load := range []string{quiet, busy} {
					text := ""
					if y, ok := f.figureOf(q.ID, s.impl, []suite.Param{{Key: paramLoad, Value: load}}, u); ok {
						text = y.unit.text(y.mid)
					}
					loads = append(loads, text)
				}
				texts = append(texts, together(loads, "; "))
			}
			table = append(table, texts)
			name = ""
		}
	}
	return f.source() + markdown(table)
}

// HasPrograms reports whether there are figures of programs.
func (f *Figures) HasPrograms() bool { return slices.ContainsFunc(f.series, (*series).program) }

// HasParts reports whether there are figures of anything but programs.
func (f *Figures) HasParts() bool {
	return slices.ContainsFunc(f.series, func(s *series) bool { return !s.program() })
}

func (s *series) program() bool { return value(s.params, paramLoad) != "" }

// figureOf returns a contestant's figure in a unit, under parameters that include those.
func (f *Figures) figureOf(question, impl string, params []suite.Param, u string) (figure, bool) {
	for _, s := range f.series {
		differs := func(p suite.Param) bool { return value(s.params, p.Key) != p.Value }
		if s.id == question && s.impl == impl && !slices.ContainsFunc(params, differs) && len(s.rounds[u]) > 0 {
			return summarize(s.rounds[u], unit{name: u}), true
		}
	}
	return figure{}, false
}
