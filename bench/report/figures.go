// Package report makes tables for the terminal and for Markdown files, and a chart, of
// figures in Go's benchmark format.
//
// Titles and charts are those of the questions. All else is in the file, so another
// machine's figures can be reported.
package report

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"

	"coatcheck/bench/suite"
)

// Figures are the contents of a file in the benchmark format.
type Figures struct {
	config map[string]string // the configuration lines: "cpu", "commit", …
	series []*series         // in the order in which they first appear
}

// series is all rounds of one benchmark.
type series struct {
	name   string               // with GOMAXPROCS, without "Benchmark"
	id     string               // of the question
	impl   string               // "" if the name has none
	params []suite.Param        // the others but GOMAXPROCS, in the name's order
	rounds map[string][]float64 // by unit, a base unit such as "sec/op", in the order of the file
}

// fixed lists the configuration lines that must not change within a file: a median of
// figures of two machines or commits would mean nothing.
var fixed = []string{"goos", "goarch", "cpu", "gomaxprocs", "commit"}

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
	f := &Figures{config: map[string]string{}}
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
	if len(f.series) == 0 {
		return nil, fmt.Errorf("%s: no benchmark lines", name)
	}
	return f, nil
}

// add adds one line.
func (f *Figures) add(r *benchfmt.Result) error {
	for _, c := range r.Config {
		was, value := f.config[c.Key], string(c.Value)
		if was != "" && was != value && slices.Contains(fixed, c.Key) {
			return fmt.Errorf("%s is %q, and was %q before: put them into different files", c.Key, value, was)
		}
		f.config[c.Key] = value
	}
	i := slices.IndexFunc(f.series, func(s *series) bool { return s.name == r.Name.String() })
	if i < 0 {
		i = len(f.series)
		f.series = append(f.series, parseName(r.Name))
	}
	for _, v := range r.Values {
		_, unit := benchunit.Tidy(1, v.Unit) // benchfmt does not if the value is 0
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
			return fmt.Errorf("%s of %s is %v", unit, r.Name, v.Value)
		}
		f.series[i].rounds[unit] = append(f.series[i].rounds[unit], v.Value)
	}
	return nil
}

// parseName splits a name into question, contestant and parameters.
func parseName(name benchfmt.Name) *series {
	base, parts := name.Parts()
	s := &series{name: name.String(), id: string(base), rounds: map[string][]float64{}}
	for _, part := range parts {
		key, value, _ := strings.Cut(string(part[1:]), "=")
		switch {
		case part[0] == '-': // GOMAXPROCS, the same in all names
		case key == "impl":
			s.impl = value
		default:
			s.params = append(s.params, suite.Param{Key: key, Value: value})
		}
	}
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

// machine returns the processor, with its family if it is known, and the number of cores.
func (f *Figures) machine() string {
	return listed([][3]string{{"", f.config["cpu"], ""}, {"", f.config["cores"], " cores"}})
}

// origin returns, in a line, what the file says about the run: "" if nothing.
func (f *Figures) origin() string {
	c, procs := f.config, f.config["gomaxprocs"]
	if procs == c["cores"] {
		procs = ""
	}
	return listed([][3]string{
		{"", f.machine(), ""},
		{"GOMAXPROCS ", procs, ""},
		{"", f.cost("locked", 2), " a locked instruction"},
		{"", f.cost("uncontended", 1), " to lock and unlock an uncontended mutex"},
		{"", c["goos"], "/" + c["goarch"]},
		{"", c["go"], ""},
		{"commit ", c["commit"], ""},
		{"", c["date"], ""},
		{"`", c["command"], "`"},
	})
}

// listed puts parts together, each with what is before and after it. It leaves out empty ones.
func listed(parts [][3]string) string {
	var texts []string
	for _, p := range parts {
		if p[1] != "" {
			texts = append(texts, p[0]+p[1]+p[2])
		}
	}
	return strings.Join(texts, ", ")
}

// cost returns the time of a floor of the question Pair that does something n times, divided
// by n, or "".
func (f *Figures) cost(impl string, n float64) string {
	for _, s := range f.series {
		if rounds := s.rounds[unitTime]; s.id == "Pair" && s.impl == impl && value(s.params, "goroutines") == "1" && len(rounds) > 0 {
			u := unit{name: unitTime}
			return u.text(summarize(rounds, u).mid / n)
		}
	}
	return ""
}
