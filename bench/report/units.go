package report

import (
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
	unitSpeedUp    = "speed-up"
)

// unitOf returns the unit with that name, as charts or files write it. That more is
// better is said by the chart, by the file's unit lines, or by what the unit is.
func (f *Figures) unitOf(name string, more bool) unit {
	_, tidy := benchunit.Tidy(1, name)
	u := unit{name: tidy, more: more}
	switch better := f.units.GetBetter(tidy); {
	case better != 0:
		u.more = u.more || better > 0
	case strings.HasSuffix(tidy, "/s"), tidy == unitEfficiency, tidy == unitSpeedUp:
		u.more = true
	}
	u.exact = f.units.GetAssumption(tidy) == benchmath.AssumeExact
	return u
}

// dimension is the unit without what it is of: "sec" of "sec/op" and of "p99-sec".
func (u unit) dimension() string {
	num, _, _ := strings.Cut(u.name, "/")
	for _, part := range strings.Split(num, "-") {
		if part == "sec" || part == "B" {
			return part
		}
	}
	return num
}

func (u unit) time() bool { return u.dimension() == "sec" }

// label is the unit as people say it: "time an operation" would be long, "ns/op" is
// wrong where a figure is in ms, so it is "time/op".
func (u unit) label() string {
	switch u.name {
	case unitRate:
		return "operations a second"
	case unitEfficiency:
		return "efficiency"
	}
	switch u.dimension() {
	case "sec":
		return strings.Replace(u.name, "sec", "time", 1)
	case "B":
		return strings.Replace(u.name, "B", "bytes", 1)
	}
	return u.name
}

// better tells the reader where to look.
func (u unit) better() string {
	if u.more {
		return "more is better"
	}
	return "less is better"
}

// format writes a value with a prefix and three digits, or four for bytes: "12.3 ns",
// "24.09 B", "81.2M", "93 %".
func (u unit) format(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	if u.name == unitEfficiency {
		return strconv.FormatFloat(100*v, 'f', 0, 64) + " %"
	}
	if v == 0 {
		return strings.TrimSpace("0 " + u.symbol())
	}
	class := benchunit.ClassOf(u.name)
	s := benchunit.CommonScale([]float64{math.Abs(v)}, class)
	switch {
	case u.time() && math.Abs(v) < 1e-9:
		s = benchunit.Scaler{Prec: 3, Factor: 1e-9, Prefix: "n"} // 0.53 ns rather than 530 ps
	case u.time() && math.Abs(v) >= 1e3:
		s = benchunit.Scaler{Prec: 1, Factor: 1}
	case !u.time() && math.Abs(v) < 1:
		s = benchunit.Scaler{Prec: 4, Factor: 1}
	case class == benchunit.Binary:
		s.Prec++
	}
	num := strconv.FormatFloat(v/s.Factor, 'f', max(0, s.Prec-1), 64)
	if s.Prefix == "" && strings.Contains(num, ".") && u.symbol() != "s" {
		num = strings.TrimSuffix(strings.TrimRight(num, "0"), ".")
	}
	if u.symbol() == "" {
		return num + s.Prefix
	}
	return num + " " + s.Prefix + u.symbol()
}

func (u unit) symbol() string {
	switch d := u.dimension(); d {
	case "sec":
		return "s"
	case "B":
		return "B"
	}
	return ""
}

// spread writes half an interval's width: "±3%", nothing for a single round.
func (f figure) spreadText() string {
	s := f.spread()
	switch {
	case math.IsNaN(s):
		return ""
	case s < 0.095:
		return "±" + strconv.FormatFloat(100*s, 'f', 0, 64) + "%"
	case s > 9.99:
		return "±>999%"
	}
	return "±" + strconv.FormatFloat(100*s, 'f', 0, 64) + "%"
}

// times writes a ratio: "0.13", "1.38", "27", "1300"; with three digits next to 1.
func times(r float64) string {
	switch {
	case math.IsNaN(r):
		return "–"
	case r != 1 && math.Abs(r-1) < 0.00995:
		return strconv.FormatFloat(r, 'f', 3, 64)
	case r >= 9.995:
		return strconv.FormatFloat(r, 'f', 0, 64)
	case r < 0.0095 && r > 0:
		return strconv.FormatFloat(r, 'f', 1-int(math.Floor(math.Log10(r))), 64) // two digits
	}
	return strconv.FormatFloat(r, 'f', 2, 64)
}

// number writes a parameter's value with its thousands set apart, if it is a number.
func number(v string) string {
	digits := 0
	for digits < len(v) && v[digits] >= '0' && v[digits] <= '9' {
		digits++
	}
	if digits < 4 || digits < len(v) && v[digits] == '.' {
		return v
	}
	var b strings.Builder
	for i := range digits {
		if i > 0 && (digits-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(v[i])
	}
	return b.String() + v[digits:]
}

// numeric returns the number with which a parameter's value begins.
func numeric(v string) (float64, bool) {
	end := 0
	for end < len(v) && (v[end] >= '0' && v[end] <= '9' || v[end] == '.') {
		end++
	}
	n, err := strconv.ParseFloat(v[:end], 64)
	return n, err == nil
}
