package report

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"coatcheck/bench/suite"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
)

// Figures are the contents of a file in the benchmark format.
type Figures struct {
	Name   string            // of the file
	Config map[string]string // its configuration lines: "cpu", "commit", …
	Series []*Series         // in the order in which they first appear

	units benchfmt.UnitMetadataMap
}

// Series is all rounds of one benchmark.
type Series struct {
	Name   string               // with GOMAXPROCS, without "Benchmark"
	ID     string               // of the question
	Impl   string               // "" if the name has none
	Params []suite.Param        // the others, in the name's order; GOMAXPROCS is procs, the last
	Units  []string             // in base units, "sec/op", in the order of the line
	Rounds map[string][]float64 // by unit, in the order of the file
}

// procs is the name of the parameter that the benchmark format writes as -4.
const procs = "GOMAXPROCS"

// machine lists the configuration lines that must not change within a file: a median of
// figures of two machines or commits would mean nothing.
var machine = []string{"goos", "goarch", "cpu", "commit"}

// ReadFile calls Read for a file.
func ReadFile(path string) (*Figures, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads figures in Go's benchmark format. Lines of one name are the rounds of a case;
// the n-th rounds of all cases were measured side by side. The error of a malformed line
// begins with "name:line: ".
func Read(r io.Reader, name string) (*Figures, error) {
	f := &Figures{Name: name, Config: map[string]string{}}
	byName := map[string]*Series{}
	reader := benchfmt.NewReader(r, name)
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, rec
		case *benchfmt.Result:
			if err := f.add(rec, byName); err != nil {
				_, line := rec.Pos()
				return nil, fmt.Errorf("%s:%d: %w", name, line, err)
			}
		}
	}
	if err := reader.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f.units = reader.Units()
	if len(f.Series) == 0 {
		return nil, fmt.Errorf("%s: no benchmark lines", name)
	}
	return f, nil
}

// add adds one line.
func (f *Figures) add(r *benchfmt.Result, byName map[string]*Series) error {
	for _, c := range r.Config {
		was, value := f.Config[c.Key], string(c.Value)
		if was != "" && was != value && slices.Contains(machine, c.Key) {
			return fmt.Errorf("%s is %q, and was %q before: put them into different files", c.Key, value, was)
		}
		f.Config[c.Key] = value
	}
	name := r.Name.String()
	s := byName[name]
	if s == nil {
		s = parseName(r.Name)
		byName[name] = s
		f.Series = append(f.Series, s)
	}
	for _, v := range r.Values {
		_, unit := benchunit.Tidy(1, v.Unit) // benchfmt does not if the value is 0
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
			return fmt.Errorf("%s of %s is %v", unit, name, v.Value)
		}
		if !slices.Contains(s.Units, unit) {
			s.Units = append(s.Units, unit)
		}
		s.Rounds[unit] = append(s.Rounds[unit], v.Value)
	}
	return nil
}

// parseName splits a name into question, contestant and parameters.
func parseName(name benchfmt.Name) *Series {
	base, parts := name.Parts()
	s := &Series{Name: name.String(), ID: string(base), Rounds: map[string][]float64{}}
	count := suite.Param{Key: procs, Value: "1"}
	for _, part := range parts {
		text := string(part)
		if p, ok := strings.CutPrefix(text, "-"); ok {
			count.Value = p
			continue
		}
		if key, value, _ := strings.Cut(text[1:], "="); key == "impl" {
			s.Impl = value
		} else {
			s.Params = append(s.Params, suite.Param{Key: key, Value: value})
		}
	}
	s.Params = append(s.Params, count)
	return s
}

// value returns the value of a parameter, or "" if ps does not have it.
func value(ps []suite.Param, key string) string {
	for _, p := range ps {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}

// questions returns those of qs that have figures.
func (f *Figures) questions(qs []suite.Question) []suite.Question {
	return slices.DeleteFunc(slices.Clone(qs), func(q suite.Question) bool {
		return !slices.ContainsFunc(f.Series, func(s *Series) bool { return s.ID == q.ID })
	})
}

// once reports whether each case was measured once, as in a quick run.
func (f *Figures) once() bool {
	for _, s := range f.Series {
		for _, rounds := range s.Rounds {
			if len(rounds) > 1 {
				return false
			}
		}
	}
	return true
}

const onceText = "Each case was measured once. These figures show that it works, and not how fast it is."

// origins returns the origin of the figures, from the configuration lines.
func (f *Figures) origins() (os [][2]string) {
	c := f.Config
	machine := c["cpu"]
	if c["cores"] != "" {
		machine += ", " + c["cores"] + " cores"
	}
	if c["goos"] != "" {
		machine += ", " + c["goos"] + "/" + c["goarch"]
	}
	for _, o := range [][2]string{{"machine", machine}, {"go", c["go"]}, {"commit", c["commit"]}, {"date", c["date"]}, {"command", c["command"]}, {"note", c["note"]}} {
		if o[1] != "" {
			os = append(os, o)
		}
	}
	return os
}

var errNone = errors.New("report: no figures")
