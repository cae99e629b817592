package report

import (
	"strconv"
	"strings"
)

// misuseID is the benchmark whose figures are what came of misusing each contestant:
// 1 "stale-caught" means that it was caught, and 0 that it was not.
const misuseID = "Misuse"

// caught are its units.
var caught = []struct{ unit, heading string }{
	{"stale-caught", "stale name"}, {"reused-caught", "after reuse"}, {"double-caught", "double removal"},
	{"late-caught", "after reuse"}, {"other-caught", "another store's"},
}

// misuseRow is what one contestant catches.
type misuseRow struct {
	Impl    string
	Answers []string // as caught: "yes", "no", "–" where there is nothing to try
	Allocs  string   // of an insertion with its removal
	What    string
}

// misuse returns what the file says of misuse, in its order.
func (f *Figures) misuse() (rows []misuseRow) {
	for _, s := range f.Series {
		if s.ID != misuseID {
			continue
		}
		r := misuseRow{Impl: s.Impl, What: f.what[s.Impl], Allocs: s.answer("allocs/op")}
		for _, c := range caught {
			answer := s.answer(c.unit)
			if text, ok := map[string]string{"1": "yes", "0": "no"}[answer]; ok {
				answer = text
			}
			r.Answers = append(r.Answers, answer)
		}
		rows = append(rows, r)
	}
	return
}

// answer is the figure of the last round, "–" without one.
func (s *Series) answer(unit string) string {
	rounds := s.Rounds[unit]
	if len(rounds) == 0 {
		return "–"
	}
	text := strconv.FormatFloat(rounds[len(rounds)-1], 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
