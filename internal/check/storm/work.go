package storm

import (
	"fmt"
	"strings"
	"time"

	"coatcheck/internal/check/testkit"
)

// Work is a kind of work that storms count.
type Work int

// The kinds of work.
const (
	Inserted  Work = iota
	Reused         // slots that were handed out again
	Removed        // by a verb that returned true
	Swept          // by Clear, Drain or DeleteFunc
	Read           // looks at values under a guard or a Ref
	Held           // Refs
	Refused        // stale handles that were refused
	Full           // insertions that found no slot
	Stalled        // of these, those that were refused because of a guard
	Burned         // slots that were handed out and never went live
	Trimmed        // calls of Trim that gave memory back
	Lapsed         // guards and Refs that ended on another goroutine
	Pinned         // guards under which a value was read
	Late           // looks at a value that was removed
	Exited         // goroutines that ended by Goexit under a guard
	Panicked       // goroutines that panicked under a guard
	Halted         // guards that stalled insertions, after which these succeeded again
	Paused         // pauses of all goroutines
	Flipped        // changes of GOMAXPROCS
	Collected      // phases in which the collector ran all the time
	Left           // Workers that were closed or dropped
	works
)

var workNames = [works]string{
	"inserted", "reused", "removed", "swept", "read", "held", "refused", "full", "stalled", "burned", "trimmed", "lapsed",
	"guards", "late", "exits", "panics", "stalls", "pauses", "flips", "GC phases", "Workers",
}

// Least is the least work that a storm must have done, an eighth of it in short tests. The storm
// exceeds its length until it has, or until more of it does not come.
type Least map[Work]int64

// lacks returns the first kind of work that is missing, and how much of it, or "".
func (s *Storm) lacks(least Least) (Work, string) {
	for w := range works {
		n, want := s.Done(w), least[w]
		if testkit.Short() {
			want = (want + 7) / 8
		}
		if n < want {
			return w, fmt.Sprintf("%d of %d %s", n, want, workNames[w])
		}
	}
	return 0, ""
}

// Report returns what was done, as a table.
func (s *Storm) Report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v, seed %d\n", s.lasted.Round(time.Millisecond), s.seed)
	for w := range works {
		if n := s.Done(w); n > 0 {
			fmt.Fprintf(&b, "  %-22s %12d  %9.0f/s\n", workNames[w], n, float64(n)/s.lasted.Seconds())
		}
	}
	return b.String()
}
