package report

import (
	"math"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"
)

// unit is a unit of figures, in base units: "sec/op" for what charts call "ns/op".
type unit struct {
	name string
	more bool // more is better
}

const (
	unitTime = "sec/op"
	unitRate = "ops/s" // derived from unitTime if the file does not have it
)

// unitOf returns the unit with that name, as charts or files write it. More is better if
// the chart says so, or the file's unit lines, or the name of a rate.
func (f *Figures) unitOf(name string, more bool) unit {
	_, tidy := benchunit.Tidy(1, name)
	return unit{
		name: tidy,
		more: more || f.units.GetBetter(tidy) > 0 || strings.HasSuffix(tidy, "/s"),
	}
}

// ahead reports whether a is better than b.
func (u unit) ahead(a, b float64) bool {
	if u.more {
		return a > b
	}
	return a < b
}

// symbol returns the symbol behind a figure: "s" for "sec/op" and "p99-sec".
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

// label returns the unit without a scale, since figures may be in ns or in ms: "time/op"
// for "sec/op".
func (u unit) label() string {
	if u.name == unitRate {
		return "operations a second"
	}
	return strings.Replace(strings.Replace(u.name, "sec", "time", 1), "B", "bytes", 1)
}

// caption returns the label, and which direction is better.
func (u unit) caption() string {
	if u.more {
		return u.label() + ", more is better"
	}
	return u.label() + ", less is better"
}

// format formats a value with a prefix and its symbol: "12.3 ns", "24.1 B", "81.2M".
func (u unit) format(v float64) string {
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

// times formats a ratio: "0.13", "1.38", "27", "0.0023".
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

// number formats a parameter's value that begins with a number with commas.
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

// numeric returns the number at the beginning of a parameter's value.
func numeric(v string) (float64, bool) {
	end := strings.IndexFunc(v, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(v)
	}
	n, err := strconv.ParseFloat(v[:end], 64)
	return n, err == nil
}
