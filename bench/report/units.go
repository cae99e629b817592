package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"
)

// unit is a unit of figures, in base units: "sec/op" for what charts call "ns/op".
type unit struct {
	name  string
	more  bool // more is better
	exact bool // no noise
}

// Units that are derived from "sec/op" where the file has none of them.
const (
	unitTime       = "sec/op"
	unitRate       = "ops/s"
	unitEfficiency = "efficiency"
)

// unitOf returns the unit with that name, as charts or files write it. That more is
// better is said by the chart, by the file's unit lines, or by what the unit is.
func (f *Figures) unitOf(name string, more bool) unit {
	_, tidy := benchunit.Tidy(1, name)
	return unit{
		name:  tidy,
		more:  more || f.units.GetBetter(tidy) > 0 || strings.HasSuffix(tidy, "/s") || tidy == unitEfficiency,
		exact: f.units.GetAssumption(tidy) == benchmath.AssumeExact,
	}
}

// ahead reports whether a is better than b.
func (u unit) ahead(a, b float64) bool {
	if u.more {
		return a > b
	}
	return a < b
}

// symbol is what stands behind a figure: "s" of "sec/op" and of "p99-sec".
func (u unit) symbol() string {
	num, _, _ := strings.Cut(u.name, "/")
	for _, part := range strings.Split(num, "-") {
		switch part {
		case "sec":
			return "s"
		case "B":
			return "B"
		}
	}
	return ""
}

func (u unit) time() bool { return u.symbol() == "s" }

// label is the unit as people say it: figures may be in ns or in ms, so "sec/op" is
// "time/op".
func (u unit) label() string {
	if u.name == unitRate {
		return "operations a second"
	}
	return strings.Replace(strings.Replace(u.name, "sec", "time", 1), "B", "bytes", 1)
}

// caption is the label, and where to look.
func (u unit) caption() string {
	if u.more {
		return u.label() + ", more is better"
	}
	return u.label() + ", less is better"
}

// format writes a value with a prefix and its symbol: "12.34 ns", "24.09 B", "81.20M",
// "93 %".
func (u unit) format(v float64) string {
	if u.name == unitEfficiency {
		return fmt.Sprintf("%.0f %%", 100*v)
	}
	s := benchunit.Scaler{Prec: 0, Factor: 1}
	switch a := math.Abs(v); {
	case a == 0 || math.IsNaN(a):
	case u.time() && a < 1e-9:
		s = benchunit.Scaler{Prec: 3, Factor: 1e-9, Prefix: "n"} // 0.530 ns rather than 530 ps
	case !u.time() && a < 1:
		s.Prec = 3
	default:
		s = benchunit.CommonScale([]float64{a}, benchunit.ClassOf(u.name))
		s.Prec = max(0, s.Prec-1)
	}
	num := strconv.FormatFloat(v/s.Factor, 'f', s.Prec, 64)
	if u.symbol() == "" {
		return num + s.Prefix
	}
	return num + " " + s.Prefix + u.symbol()
}

// times writes a ratio: "0.13", "1.38", "27", "0.0023".
func times(r float64) string {
	switch {
	case math.IsNaN(r):
		return "–"
	case r >= 9.995:
		return strconv.FormatFloat(r, 'f', 0, 64)
	case r < 0.0095 && r > 0:
		return strconv.FormatFloat(r, 'g', 2, 64)
	}
	return strconv.FormatFloat(r, 'f', 2, 64)
}

// number writes a parameter's value with its thousands set apart, if it begins with a
// number.
func number(v string) string {
	digits := strings.TrimRight(v, "BKMGi")
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n < 1000 {
		return v
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		v = v[:at] + "," + v[at:]
	}
	return v
}

// numeric returns the number with which a parameter's value begins.
func numeric(v string) (float64, bool) {
	end := strings.IndexFunc(v, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(v)
	}
	n, err := strconv.ParseFloat(v[:end], 64)
	return n, err == nil
}
