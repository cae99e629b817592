package report

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Misuse is what was found out about a contestant by misusing it: what
// peer.Findings says, in the form in which it travels with the figures.
type Misuse struct {
	Impl   string
	What   string // what it is, in a few words
	Stale  Found  // the name of a value that was just removed is refused
	Reused Found  // and so it is when other values have lived in its place
	Revive int    // after how many insertions it was not any more; 0 for never
	Double Found  // a second removal is refused
	Late   Found  // and so it is when another value lives in the place
	Other  Found  // the name of another store's value is refused
	Allocs float64
	Bytes  float64 // allocated an insertion with its removal
}

// Found is the outcome of a probe.
type Found int

const (
	NotTried Found = iota // there is nothing to try
	Missed
	Caught
)

// String returns "yes", "no", or "–" where there was nothing to try.
func (f Found) String() string {
	switch f {
	case Caught:
		return "yes"
	case Missed:
		return "no"
	}
	return "–"
}

const misuseID = "Misuse"

// outcomes are the probes by their units.
func (m *Misuse) outcomes() []struct {
	unit  string
	found *Found
} {
	return []struct {
		unit  string
		found *Found
	}{
		{"stale-caught", &m.Stale}, {"reused-caught", &m.Reused}, {"double-caught", &m.Double},
		{"late-caught", &m.Late}, {"other-caught", &m.Other},
	}
}

const unitRevive = "insertions-to-revive"

// WriteMisuse writes ms in the benchmark format, so that they travel with the
// figures: for each a line "BenchmarkMisuse/impl=mutex/goroutines=1 1 …", in which
// 1 stale-caught means caught and 0 missed, and a comment that says what mutex is.
// They belong behind the figures, where the file's configuration holds for them.
func WriteMisuse(w io.Writer, ms []Misuse) error {
	b := bufio.NewWriter(w)
	for _, m := range ms {
		if m.What != "" {
			fmt.Fprintf(b, "# impl=%s %s\n", m.Impl, strings.Join(strings.Fields(m.What), " "))
		}
		fmt.Fprintf(b, "Benchmark%s/impl=%s/goroutines=1 1", misuseID, m.Impl)
		for _, o := range m.outcomes() {
			if *o.found != NotTried {
				fmt.Fprintf(b, " %d %s", *o.found-Missed, o.unit)
			}
		}
		if m.Revive > 0 {
			fmt.Fprintf(b, " %d %s", m.Revive, unitRevive)
		}
		fmt.Fprintf(b, " %s B/op %s allocs/op\n", strconv.FormatFloat(m.Bytes, 'g', 5, 64), strconv.FormatFloat(m.Allocs, 'g', 5, 64))
	}
	return b.Flush()
}

// misuse returns what the file says of misuse, in its order.
func (f *Figures) misuse() (ms []Misuse) {
	for _, s := range f.Series {
		if s.ID != misuseID {
			continue
		}
		m := Misuse{Impl: s.Impl, What: f.what[s.Impl], Revive: int(s.last(unitRevive)), Allocs: s.last("allocs/op"), Bytes: s.last("B/op")}
		for _, o := range m.outcomes() {
			*o.found = s.found(o.unit)
		}
		ms = append(ms, m)
	}
	return
}

// found is the outcome of all rounds: caught means caught each time.
func (s *Series) found(unit string) Found {
	rounds := s.Rounds[unit]
	if len(rounds) == 0 {
		return NotTried
	}
	for _, v := range rounds {
		if v < 1 {
			return Missed
		}
	}
	return Caught
}

func (s *Series) last(unit string) float64 {
	if rounds := s.Rounds[unit]; len(rounds) > 0 {
		return rounds[len(rounds)-1]
	}
	return 0
}

// stale answers the question whether stale names are caught.
func (m *Misuse) stale() string {
	switch {
	case m.Revive > 0:
		return fmt.Sprintf("until the place is used again %s times", number(strconv.Itoa(m.Revive)))
	case m.Stale == Missed || m.Reused == Missed:
		return "no"
	}
	return m.Stale.String()
}

// double answers the question whether a value can be removed twice.
func (m *Misuse) double() string {
	switch {
	case m.Double == Caught && m.Late == Missed:
		return "until the place is used again"
	case m.Double == Missed || m.Late == Missed:
		return "no"
	}
	return m.Double.String()
}

// misses names what goes through unnoticed, "" for nothing.
func (m *Misuse) misses() string {
	stale := m.Stale == Missed || m.Reused == Missed
	double := m.Double == Missed || m.Late == Missed
	switch {
	case stale && double:
		return "misses stale handles and double removals"
	case stale:
		return "misses stale handles"
	case double:
		return "misses double removals"
	}
	return ""
}

// missed returns what each contestant lets through, by its name; nil if the file
// has no probes.
func (f *Figures) missed() map[string]string {
	ms := f.misuse()
	if len(ms) == 0 {
		return nil
	}
	missed := map[string]string{}
	for i := range ms {
		missed[ms[i].Impl] = ms[i].misses()
	}
	return missed
}

// class is for the colour of an answer.
func class(answer string) string {
	switch answer {
	case "yes", "no":
		return answer
	case "–":
		return ""
	}
	return "no"
}
