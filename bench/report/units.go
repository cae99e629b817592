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

const unitTime = "sec/op"

// symbol returns the symbol behind a figure: "s" for "sec/op".
func (u unit) symbol() string {
	numerator, _, _ := strings.Cut(u.name, "/")
	switch last := numerator[strings.LastIndex(numerator, "-")+1:]; last {
	case "sec":
		return "s"
	case "B":
		return "B"
	}
	return ""
}

func (u unit) time() bool { return u.symbol() == "s" }

// label returns the unit without a scale, since figures may be in ns or in ms: "time/op"
// for "sec/op".
func (u unit) label() string {
	return strings.NewReplacer("ops/s", "operations a second", "sec", "time", "B", "bytes").Replace(u.name)
}

// text formats a value with a prefix and its symbol: "12.3 ns", "24.1 B", "81.2M".
func (u unit) text(v float64) string {
	s := benchunit.Scaler{Factor: 1}
	switch a := math.Abs(v); {
	case a == 0:
	case u.time() && a < 1e-9:
		s = benchunit.Scaler{Prec: 3, Factor: 1e-9, Prefix: "n"} // 0.530 ns rather than 530 ps
	case !u.time() && a < 1:
		s.Prec = 3
	default:
		s = benchunit.CommonScale([]float64{a}, benchunit.ClassOf(u.name))
		s.Prec = max(0, s.Prec-1)
	}
	number := strconv.FormatFloat(v/s.Factor, 'f', s.Prec, 64)
	if u.symbol() != "" {
		number += " "
	}
	return number + s.Prefix + u.symbol()
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

// number returns a parameter's value with commas in the number at its beginning.
func number(v string) string {
	digits := len(v) - len(strings.TrimLeft(v, "0123456789"))
	for at := digits - 3; at > 0; at -= 3 {
		v = v[:at] + "," + v[at:]
	}
	return v
}
