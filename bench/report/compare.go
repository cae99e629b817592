package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Comparison is what became of each figure since another run.
type Comparison struct {
	Old, New *Figures
	Deltas   []Delta   // of figures that both have, in the order of the new ones
	Means    []Geomean // by unit
	OnlyOld  []string  // names
	OnlyNew  []string  // names
	Warnings []string  // of what makes the runs hard to compare
}

// Delta is one benchmark's figure in both runs.
type Delta struct {
	Name string
	unit unit
	old  figure
	new  figure
	verdict
}

// Geomean is the geometric mean of how a unit's figures changed.
type Geomean struct {
	unit   unit
	Ratio  float64 // new to old
	Of     int     // how many figures
	Better int     // of them, beyond the noise
	Worse  int
}

// Compare compares the figures of a new run with those of an old one, name by name
// and unit by unit. Rates are left out where there are times; allocations and bytes
// an operation where they have stayed the same.
func Compare(old, new *Figures) *Comparison {
	c := &Comparison{Old: old, New: new}
	byName := map[string]*Series{}
	for _, s := range old.Series {
		byName[s.Name] = s
	}
	known := map[string]bool{}
	for _, s := range new.Series {
		was := byName[s.Name]
		known[s.Name] = true
		if was == nil {
			c.OnlyNew = append(c.OnlyNew, s.Name)
			continue
		}
		for _, name := range s.Units {
			if len(was.Rounds[name]) == 0 || s.ID == misuseID || name == unitRate && len(s.Rounds[unitTime]) > 0 {
				continue
			}
			d := Delta{Name: s.Name, unit: new.unitOf(name, false), old: summarize(was.Rounds[name]), new: summarize(s.Rounds[name])}
			d.verdict = compareRuns(d.new, d.old, d.unit)
			if (name == "B/op" || name == "allocs/op") && !d.sure {
				continue
			}
			c.Deltas = append(c.Deltas, d)
		}
	}
	for _, s := range old.Series {
		if !known[s.Name] {
			c.OnlyOld = append(c.OnlyOld, s.Name)
		}
	}
	c.means()
	for _, key := range []string{"cpu", "cores", "goos", "goarch", "go"} {
		if a, b := old.Config[key], new.Config[key]; a != b && a != "" && b != "" {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s was %s and is %s", key, a, b))
		}
	}
	return c
}

// means computes the geometric means. Figures that are not above zero have none.
func (c *Comparison) means() {
	logs := map[string]float64{}
	for _, d := range c.Deltas {
		if d.old.mid <= 0 || d.new.mid <= 0 {
			continue
		}
		i := slices.IndexFunc(c.Means, func(m Geomean) bool { return m.unit.name == d.unit.name })
		if i < 0 {
			i = len(c.Means)
			c.Means = append(c.Means, Geomean{unit: d.unit})
		}
		m := &c.Means[i]
		m.Of++
		logs[m.unit.name] += math.Log(d.new.mid / d.old.mid)
		switch {
		case !d.sure:
		case d.unit.ahead(d.new.mid, d.old.mid):
			m.Better++
		default:
			m.Worse++
		}
	}
	for i := range c.Means {
		m := &c.Means[i]
		m.Ratio = math.Exp(logs[m.unit.name] / float64(m.Of))
	}
}

// delta writes the change: "-12.3%", "~" within the noise.
func (d Delta) delta() string {
	switch {
	case !d.sure:
		return "~"
	case math.IsNaN(d.ratio) || d.old.mid == 0:
		return "?"
	}
	return percent(d.ratio)
}

func percent(ratio float64) string { return fmt.Sprintf("%+.1f%%", 100*(ratio-1)) }

// significance writes the p-value and the rounds: "p=0.002 n=7".
func (d Delta) significance() string {
	n := fmt.Sprintf("n=%d", len(d.old.rounds))
	if len(d.old.rounds) != len(d.new.rounds) {
		n = fmt.Sprintf("n=%d+%d", len(d.old.rounds), len(d.new.rounds))
	}
	if math.IsNaN(d.p) {
		return n
	}
	return fmt.Sprintf("p=%.3f %s", d.p, n)
}

func (d Delta) values() (old, new string) {
	return strings.TrimSpace(d.unit.format(d.old.mid) + " " + d.old.spreadText()),
		strings.TrimSpace(d.unit.format(d.new.mid) + " " + d.new.spreadText())
}

// code is the colour of the change.
func (d Delta) code() string {
	switch {
	case !d.sure:
		return dim
	case d.unit.ahead(d.new.mid, d.old.mid):
		return green
	}
	return red
}

// summary writes a mean: "time/op: geomean -3.2% of 40 figures, 12 better, 3 worse,
// 25 within the noise".
func (m Geomean) summary() string {
	return fmt.Sprintf("%s: geomean %s of %d figures; %d better, %d worse, %d within the noise",
		m.unit.label(), percent(m.Ratio), m.Of, m.Better, m.Worse, m.Of-m.Better-m.Worse)
}

// Text writes the comparison for the terminal: a line for each figure, and one for
// each unit.
func (c *Comparison) Text(w io.Writer, s Style) error {
	t := &terminal{Writer: bufio.NewWriter(w), f: c.New, style: s}
	t.heading("Compared with "+c.Old.Name, c.Old.origin())
	for _, warning := range c.Warnings {
		t.line("  ", t.style.paint(red, "not the same circumstances: "+warning))
	}
	rows := make([][]string, len(c.Deltas))
	widths := []int{0, len("old"), len("new"), len("delta"), 0}
	for i, d := range c.Deltas {
		old, new := d.values()
		name := d.Name
		if d.unit.name != unitTime {
			name += " " + d.unit.label()
		}
		rows[i] = []string{name, old, new, d.delta(), d.significance()}
		for j, cell := range rows[i] {
			widths[j] = max(widths[j], utf8.RuneCountInString(cell))
		}
	}
	if len(rows) > 0 {
		t.line(t.style.paint(dim, "  "+strings.Repeat(" ", widths[0])+"  "+pad("old", widths[1])+"  "+pad("new", widths[2])+"  "+pad("delta", widths[3])))
	}
	for i, r := range rows {
		t.line("  ", r[0], strings.Repeat(" ", widths[0]-utf8.RuneCountInString(r[0])), "  ", pad(r[1], widths[1]), "  ", pad(r[2], widths[2]), "  ",
			t.style.paint(c.Deltas[i].code(), pad(r[3], widths[3])), "  ", t.style.paint(dim, r[4]))
	}
	for _, line := range c.summary() {
		t.wrapped("  ", line)
	}
	return t.Flush()
}

// summary is what stands below the figures.
func (c *Comparison) summary() (lines []string) {
	if len(c.Deltas) == 0 {
		lines = append(lines, "The two have no figure in common.")
	}
	for _, m := range c.Means {
		lines = append(lines, m.summary())
	}
	for _, only := range []struct {
		names []string
		text  string
	}{{c.OnlyOld, "%d only in the old file, as %s"}, {c.OnlyNew, "%d only in the new one, as %s"}} {
		if len(only.names) > 0 {
			lines = append(lines, fmt.Sprintf(only.text, len(only.names), only.names[0]))
		}
	}
	return
}
