package report

import (
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
}

// Series is all rounds of one benchmark.
type Series struct {
	Name   string               // with GOMAXPROCS, without "Benchmark"
	ID     string               // of the question
	Impl   string               // "" if the name has none
	Params []suite.Param        // the others, in the name's order; GOMAXPROCS is procs, the last
	Rounds map[string][]float64 // by unit, a base unit such as "sec/op", in the order of the file
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
	reader := benchfmt.NewReader(r, name)
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, rec
		case *benchfmt.Result:
			if err := f.add(rec); err != nil {
				_, line := rec.Pos()
				return nil, fmt.Errorf("%s:%d: %w", name, line, err)
			}
		}
	}
	if err := reader.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(f.Series) == 0 {
		return nil, fmt.Errorf("%s: no benchmark lines", name)
	}
	return f, nil
}

// add adds one line.
func (f *Figures) add(r *benchfmt.Result) error {
	for _, c := range r.Config {
		was, value := f.Config[c.Key], string(c.Value)
		if was != "" && was != value && slices.Contains(machine, c.Key) {
			return fmt.Errorf("%s is %q, and was %q before: put them into different files", c.Key, value, was)
		}
		f.Config[c.Key] = value
	}
	i := slices.IndexFunc(f.Series, func(s *Series) bool { return s.Name == r.Name.String() })
	if i < 0 {
		i = len(f.Series)
		f.Series = append(f.Series, parseName(r.Name))
	}
	s := f.Series[i]
	for _, v := range r.Values {
		_, unit := benchunit.Tidy(1, v.Unit) // benchfmt does not if the value is 0
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
			return fmt.Errorf("%s of %s is %v", unit, r.Name, v.Value)
		}
		s.Rounds[unit] = append(s.Rounds[unit], v.Value)
		if _, given := r.Value(unitRate); unit == unitTime && !given && v.Value > 0 {
			s.Rounds[unitRate] = append(s.Rounds[unitRate], 1/v.Value)
		}
	}
	return nil
}

// parseName splits a name into question, contestant and parameters.
func parseName(name benchfmt.Name) *Series {
	base, parts := name.Parts()
	s := &Series{Name: name.String(), ID: string(base), Rounds: map[string][]float64{}}
	count := suite.Param{Key: procs, Value: "1"}
	for _, part := range parts {
		key, value, _ := strings.Cut(string(part[1:]), "=")
		switch {
		case part[0] == '-':
			count.Value = key
		case key == "impl":
			s.Impl = value
		default:
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

// origin returns, in a line, what the configuration lines say about the run: "" if nothing.
func (f *Figures) origin() string {
	c := f.Config
	var parts []string
	for _, part := range []struct{ before, text, after string }{
		{"`", c["command"], "`"},
		{"", c["cpu"], ""},
		{"", c["cores"], " cores"},
		{"", c["goos"], "/" + c["goarch"]},
		{"", c["go"], ""},
		{"commit ", c["commit"], ""},
		{"", c["date"], ""},
		{"", c["quick"], ""},
	} {
		if part.text != "" {
			parts = append(parts, part.before+part.text+part.after)
		}
	}
	return strings.Join(parts, ", ")
}
