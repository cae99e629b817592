package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"

	"coatcheck/bench/suite"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
)

// Figures are what a file in the benchmark format says.
type Figures struct {
	Name   string            // of the file, for messages
	Config map[string]string // its configuration lines: "cpu", "commit", …
	Series []*Series         // in the order in which they first appear

	units benchfmt.UnitMetadataMap
	what  map[string]string // a few words on an impl, from comment lines
}

// Series is all rounds of one benchmark.
type Series struct {
	Name   string               // with GOMAXPROCS, as it stands in the file, without "Benchmark"
	ID     string               // of the question
	Impl   string               // "" where the name has none
	Params []suite.Param        // the others, in the name's order; GOMAXPROCS is procs, the last
	Units  []string             // in base units, "sec/op", in the order of the line
	Rounds map[string][]float64 // by unit, in the order of the file
}

// procs is the name of the parameter that the benchmark format writes as -4.
const procs = "GOMAXPROCS"

// machine are the configuration lines that must not change within a file: figures
// of two machines or two commits in one median would be neither's.
var machine = []string{"goos", "goarch", "cpu", "commit"}

// ReadFile reads the file with that path. See Read.
func ReadFile(path string) (*Figures, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads figures in Go's benchmark format. Lines of one name are rounds of one
// case, the n-th of each measured beside the n-th of the others. What is malformed
// is an error that begins "name:line: ".
func Read(r io.Reader, name string) (*Figures, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f := &Figures{Name: name, Config: map[string]string{}, what: map[string]string{}}
	for _, m := range whatLine.FindAllSubmatch(raw, -1) {
		f.what[string(m[1])] = string(bytes.TrimSpace(m[2]))
	}
	byName := map[string]*Series{}
	reader := benchfmt.NewReader(bytes.NewReader(raw), name)
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

// whatLine is a comment that tells what an impl is. The benchmark format has no
// place for it that benchstat would not show with every table.
var whatLine = regexp.MustCompile(`(?m)^# impl=(\S+) (.*)$`)

// add takes one line in.
func (f *Figures) add(r *benchfmt.Result, byName map[string]*Series) error {
	for _, c := range r.Config {
		was, value := f.Config[c.Key], string(c.Value)
		if was != "" && was != value && slices.Contains(machine, c.Key) {
			return fmt.Errorf("%s is %q, and was %q before: figures of different origin belong into different files", c.Key, value, was)
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
		_, unit := benchunit.Tidy(1, v.Unit) // which benchfmt leaves out where the value is 0
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

// parseName splits a name into question, contestant and parameters. A part without
// "=" is a parameter whose key is its position, "#2".
func parseName(name benchfmt.Name) *Series {
	base, parts := name.Parts()
	s := &Series{Name: name.String(), ID: string(base), Rounds: map[string][]float64{}}
	count := suite.Param{Key: procs, Value: "1"}
	for i, part := range parts {
		text := string(part)
		if p, ok := strings.CutPrefix(text, "-"); ok {
			count.Value = p
			continue
		}
		key, value, ok := strings.Cut(text[1:], "=")
		switch {
		case !ok:
			s.Params = append(s.Params, suite.Param{Key: fmt.Sprintf("#%d", i+1), Value: key})
		case key == "impl":
			s.Impl = value
		default:
			s.Params = append(s.Params, suite.Param{Key: key, Value: value})
		}
	}
	s.Params = append(s.Params, count)
	return s
}

// value returns the value of a parameter, "" for one that ps does not have.
func value(ps []suite.Param, key string) string {
	for _, p := range ps {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}

// questions are those of qs whose figures f has, then one for each benchmark that
// none of qs is about, so that no figure goes unseen.
func (f *Figures) questions(qs []suite.Question) (found []suite.Question) {
	has := map[string]bool{misuseID: false}
	for _, s := range f.Series {
		if _, known := has[s.ID]; !known {
			has[s.ID] = true
		}
	}
	for _, q := range qs {
		if has[q.ID] {
			found = append(found, q)
			has[q.ID] = false
		}
	}
	for _, s := range f.Series {
		if has[s.ID] {
			q := suite.Question{ID: s.ID, Title: s.ID, About: "This program knows of no such question; it shows what the file has."}
			for _, u := range s.Units {
				q.Charts = append(q.Charts, suite.Chart{Title: s.ID + ", " + u, Unit: u})
			}
			found = append(found, q)
			has[s.ID] = false
		}
	}
	return found
}

// once reports whether nothing was measured more than once, as in a quick run.
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

// onceText warns of such figures.
const onceText = "Everything was measured once. These figures show that it runs, and nothing of how fast it is."

// origins returns what the file says of its own origin.
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

// errNone is the error of a report on nothing.
var errNone = errors.New("report: no figures")
