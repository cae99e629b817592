package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"coatcheck/bench/suite"
)

// contest is the best of ours against the best of the others in one cell.
type contest struct {
	cell         *cell
	ours, theirs row
	verdict
}

// contests returns the cells in which there is something to compare.
func (v *view) contests() (cs []contest) {
	for _, c := range v.cells {
		ours, ok := c.best(suite.Ours, v.unit)
		theirs, ok2 := c.best(suite.Theirs, v.unit)
		if ok && ok2 && !(v.unit.name == unitEfficiency && ours.mid == 1 && theirs.mid == 1) { // from which the others count
			cs = append(cs, contest{c, ours, theirs, compare(ours.figure, theirs.figure, v.unit)})
		}
	}
	return
}

// outcome is how a contest ended for ours.
type outcome int

const (
	level outcome = iota // within the noise
	ahead
	behind
)

func (v *view) outcome(c contest) outcome {
	switch {
	case !c.sure:
		return level
	case v.unit.ahead(c.ours.mid, c.theirs.mid):
		return ahead
	}
	return behind
}

// interval writes a ratio with its spread: "0.55 (0.53–0.57)".
func (v verdict) interval() string {
	if v.lo == v.hi || math.IsNaN(v.lo) {
		return times(v.ratio)
	}
	lo, hi := times(v.lo), times(v.hi)
	if lo == hi {
		return times(v.ratio)
	}
	return fmt.Sprintf("%s (%s–%s)", times(v.ratio), lo, hi)
}

// sentence says what a view shows. Every word of it follows from the figures.
func (v *view) sentence() string {
	cs := v.contests()
	var s string
	switch {
	case len(cs) == 0:
		s = v.alone()
	case v.unit.name == unitEfficiency:
		s = v.scaled(cs[len(cs)-1])
	case len(cs) == 1:
		s = v.one(cs[0])
	default:
		s = v.several(cs)
	}
	if once := v.rounds(); once != "" {
		s += " " + once
	}
	return s
}

// scaled is the sentence about efficiencies: how they are at the far end.
func (v *view) scaled(c contest) string {
	worst := c.theirs
	for _, r := range c.cell.rows {
		if r.role == suite.Theirs && v.unit.ahead(worst.mid, r.mid) {
			worst = r
		}
	}
	s := fmt.Sprintf("At %s the speed-up of %s is %s of the control loop's, which shares nothing; of the others %s has %s",
		v.label(c.cell), c.ours.impl, v.unit.format(c.ours.mid), c.theirs.impl, v.unit.format(c.theirs.mid))
	if worst.impl != c.theirs.impl {
		s += fmt.Sprintf(" and %s %s", worst.impl, v.unit.format(worst.mid))
	}
	return s + "."
}

func (u unit) superlative() string {
	switch {
	case u.time() || u.name == unitRate:
		return "fastest"
	case u.more:
		return "highest"
	case u.dimension() == "B":
		return "smallest"
	}
	return "lowest"
}

// alone is the sentence where ours or the others are missing: the best that there
// is, beside the floor or the next.
func (v *view) alone() string {
	floor, hasFloor := v.bestOf(suite.Floor)
	_, hasOurs := v.bestOf(suite.Ours)
	for _, c := range slices.Backward(v.cells) {
		if _, ok := c.best(suite.Ours, v.unit); !ok && hasOurs {
			continue
		}
		rows := slices.Clone(c.rows)
		slices.SortStableFunc(rows, func(a, b row) int {
			switch {
			case v.unit.ahead(a.mid, b.mid):
				return -1
			case v.unit.ahead(b.mid, a.mid):
				return 1
			}
			return 0
		})
		best, ok := c.best(suite.Ours, v.unit)
		if !ok {
			best = rows[0]
		}
		at := v.label(c)
		if at != "" {
			at = " at " + at
		}
		s := fmt.Sprintf("%s takes %s%s", best.impl, v.unit.format(best.mid), at)
		if !v.unit.time() && v.unit.dimension() != "B" {
			s = fmt.Sprintf("%s has %s%s", best.impl, v.unit.format(best.mid), at)
		}
		rows = slices.DeleteFunc(rows, func(r row) bool { return r.impl == best.impl })
		here, ok := c.best(suite.Floor, v.unit)
		if ok {
			floor = here
		}
		var other row
		switch {
		case hasFloor && floor.impl != best.impl:
			other = floor
		case len(rows) > 0:
			other = rows[0]
		default:
			return s + "; there is nothing to compare it with."
		}
		d := compare(best.figure, other.figure, v.unit)
		name := other.impl
		if other.role == suite.Floor {
			name = "the floor, " + name + ","
		}
		switch {
		case !d.sure:
			return s + fmt.Sprintf(", within the noise of %s at %s.", strings.TrimSuffix(name, ","), v.unit.format(other.mid))
		case math.IsNaN(d.ratio):
			return s + fmt.Sprintf(", %s %s.", name, v.unit.format(other.mid))
		}
		return s + fmt.Sprintf(", %s times the %s of %s.", d.interval(), v.unit.format(other.mid), strings.TrimSuffix(name, ","))
	}
	return ""
}

// bestOf returns the best row of a role in all cells.
func (v *view) bestOf(role suite.Role) (best row, ok bool) {
	for _, c := range v.cells {
		if r, has := c.best(role, v.unit); has && (!ok || v.unit.ahead(r.mid, best.mid)) {
			best, ok = r, true
		}
	}
	return
}

// one is the sentence about a single contest.
func (v *view) one(c contest) string {
	var s string
	o, t := v.unit.format(c.ours.mid), v.unit.format(c.theirs.mid)
	switch v.outcome(c) {
	case ahead:
		s = fmt.Sprintf("%s is %s: %s, %s times the %s of %s, the best of the others.",
			c.ours.impl, v.unit.superlative(), o, c.interval(), t, c.theirs.impl)
	case behind:
		s = fmt.Sprintf("%s is %s: %s. %s, the best of ours, is at %s, %s times as much.",
			c.theirs.impl, v.unit.superlative(), t, c.ours.impl, o, c.interval())
	default:
		if c.ours.mid == c.theirs.mid && (v.unit.exact || c.lo == c.hi) {
			s = fmt.Sprintf("%s and %s, the best of the others, are equal: %s.", c.ours.impl, c.theirs.impl, o)
			break
		}
		s = fmt.Sprintf("%s and %s, the best of the others, are within the noise of each other: %s and %s, a ratio of %s.",
			c.ours.impl, c.theirs.impl, o, t, c.interval())
	}
	if safe, ok := v.safest(c.cell); ok && safe.impl != c.theirs.impl {
		d := compare(c.ours.figure, safe.figure, v.unit)
		s += fmt.Sprintf(" %s %s; of those that do not, %s is best at %s, a ratio of %s.",
			c.theirs.impl, v.missed[base(c.theirs.impl)], safe.impl, v.unit.format(safe.mid), d.interval())
	}
	if floor, ok := c.cell.best(suite.Floor, v.unit); ok {
		s += fmt.Sprintf(" The floor, %s, is at %s.", floor.impl, v.unit.format(floor.mid))
	}
	return s
}

// several is the sentence about many contests: how they ended, and the two extremes.
func (v *view) several(cs []contest) string {
	var count [3]int
	for _, c := range cs {
		count[v.outcome(c)]++
	}
	var s string
	switch len(cs) {
	case count[ahead]:
		s = fmt.Sprintf("The best of ours is ahead of the best of the others in %s", all(len(cs)))
	case count[behind]:
		s = fmt.Sprintf("The best of ours is behind the best of the others in %s", all(len(cs)))
	case count[level]:
		s = fmt.Sprintf("The best of ours and the best of the others are within the noise of each other in %s", all(len(cs)))
	default:
		var parts []string
		for _, p := range []struct {
			outcome outcome
			text    string
		}{{ahead, "ahead in %d"}, {behind, "behind in %d"}, {level, "within the noise in %d"}} {
			if n := count[p.outcome]; n > 0 {
				parts = append(parts, fmt.Sprintf(p.text, n))
			}
		}
		s = fmt.Sprintf("Of %d comparisons with the best of the others the best of ours is %s",
			len(cs), strings.Join(parts, ", "))
	}
	ranked := slices.Clone(cs)
	ranked = slices.DeleteFunc(ranked, func(c contest) bool { return math.IsNaN(c.ratio) })
	if len(ranked) == 0 {
		return s + "."
	}
	slices.SortStableFunc(ranked, func(a, b contest) int {
		switch {
		case v.unit.ahead(a.ratio, b.ratio):
			return -1
		case v.unit.ahead(b.ratio, a.ratio):
			return 1
		}
		return 0
	})
	return s + fmt.Sprintf(": from %s to %s.", v.extreme(ranked[0]), v.extreme(ranked[len(ranked)-1])) + v.amongSafe(cs)
}

// amongSafe says how the contests end with those of the others alone that catch
// what we do, if any of the winners is not among them.
func (v *view) amongSafe(cs []contest) string {
	var count [3]int
	var of int
	var differs bool
	for _, c := range cs {
		safe, ok := v.safest(c.cell)
		if !ok {
			continue
		}
		of++
		differs = differs || safe.impl != c.theirs.impl
		count[v.outcome(contest{c.cell, c.ours, safe, compare(c.ours.figure, safe.figure, v.unit)})]++
	}
	if !differs {
		return ""
	}
	return fmt.Sprintf(" Of the others that catch stale handles and double removals, it is ahead of the best in %d of %d, behind in %d.",
		count[ahead], of, count[behind])
}

func all(n int) string {
	if n == 2 {
		return "both comparisons"
	}
	return fmt.Sprintf("all %d comparisons", n)
}

// extreme writes one contest: "0.13 (0.12–0.14) times sync.Map at live 1,000,000
// (pool 13.8 ns, sync.Map 112 ns)".
func (v *view) extreme(c contest) string {
	return fmt.Sprintf("%s times %s at %s (%s %s, %s %s)", c.interval(), c.theirs.impl, v.label(c.cell),
		c.ours.impl, v.unit.format(c.ours.mid), c.theirs.impl, v.unit.format(c.theirs.mid))
}

// rounds warns of figures whose noise nobody knows.
func (v *view) rounds() string {
	fewest, any := math.MaxInt, false
	for _, c := range v.cells {
		for _, r := range c.rows {
			if len(r.rounds) > 0 {
				fewest, any = min(fewest, len(r.rounds)), true
			}
		}
	}
	switch {
	case !any || v.once || v.unit.exact || fewest >= few:
		return ""
	case fewest == 1:
		return "There was one round, so its noise is not known."
	}
	return fmt.Sprintf("There were %d rounds, too few for a test.", fewest)
}
