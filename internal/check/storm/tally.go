package storm

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"go.uber.org/atomic"
)

// Event is a kind of thing that happens in a torture.
type Event int

// What happens, and is counted.
const (
	Insertion Event = iota
	Removal         // by a verb that answered true
	Sweep           // a value that Clear, Drain or DeleteFunc removed
	Burn            // a slot that was handed out and never went live
	Refusal         // an insertion that found no slot
	Told            // those of them that were told of a guard
	Pinning         // a guard that gave a value
	Borrow          // a value read under a pin that the call made for itself
	Look            // at a value under a guard
	Late            // those of them at a value that was removed
	HandOver        // a guard that another goroutine unpinned
	Exit            // a goroutine that ended by Goexit under a guard
	Panic           // one that panicked there
	LeftLoop        // a loop that was left by either
	Stall           // a guard that held everything up, and what it held came back
	Stutter         // a moment in which all stood still
	Flip            // of GOMAXPROCS
	Garbage         // a phase of collection all the time
	events
)

var eventNames = [events]string{
	"insertions", "removals", "swept", "burned", "refused", "told of a guard", "guards", "borrowed", "looks", "late", "handed over", "exits", "panics",
	"loops left", "stalls", "stutters", "flips", "GC phases",
}

// Rates say how often each kind of thing must happen in a second at the least.
// A torture goes on past its length until it has. Nil demands nothing.
type Rates map[Event]float64

// The age of a value that is looked at. Age 0 is live; age 1+n is a value since
// whose removal others were removed: none for n = 0, and from 2^(n-1) to 2^n - 1
// after that. The last age is that of a value which has become another one.
const (
	live   = 0
	ages   = 1 + 1 + 32 + 1
	reused = ages - 1
)

func ageSince(removals uint32) int { return 1 + bits.Len32(removals) }

// tally is what one goroutine has done and seen. Others read it meanwhile.
type tally struct {
	events []atomic.Int64 // by Event; slices, for their alignment on 32 bits
	ages   []atomic.Int64
}

func newTally() *tally {
	return &tally{events: make([]atomic.Int64, events), ages: make([]atomic.Int64, ages)}
}

func (y *tally) did(e Event, n int) { y.events[e].Add(int64(n)) }

// count returns how often e has happened.
func (t *Torture) count(e Event) (n int64) {
	for _, y := range t.tallies {
		n += y.events[e].Load()
	}
	return n
}

// lacks says what has not happened often enough in a torture of such a length.
func (t *Torture) lacks(rates Rates, length time.Duration) string {
	if rates == nil {
		return ""
	}
	var text []string
	for e := range events {
		if rates[e] == 0 {
			continue
		}
		want := max(1, int64(rates[e]*length.Seconds()))
		if n := t.count(e); n < want {
			text = append(text, fmt.Sprintf("%d of %d %s", n, want, eventNames[e]))
		}
	}
	// Slots must go round, or nothing can be found.
	if c := t.circulation(); 2*c.again < c.slots {
		text = append(text, fmt.Sprintf("%d of %d slots were used again", c.again, c.slots))
	}
	return strings.Join(text, ", ")
}

// Require fails the test with the report unless err is nil.
func (t *Torture) Require(err error) {
	t.t.Helper()
	if err != nil {
		t.t.Fatalf("%v\nrepeat with -stormseed %d\n%s", err, t.seed, t.Report())
	}
}

// Report is what has happened, as a table.
func (t *Torture) Report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v, seed %d\n", t.lasted.Round(time.Millisecond), t.seed)
	for e := range events {
		if n := t.count(e); n > 0 {
			fmt.Fprintf(&b, "  %-22s %12d  %9.0f/s\n", eventNames[e], n, float64(n)/t.lasted.Seconds())
		}
	}
	b.WriteString("  age of what was looked at\n")
	for a := range ages {
		var n int64
		for _, y := range t.tallies {
			n += y.ages[a].Load()
		}
		if n > 0 || a == reused {
			fmt.Fprintf(&b, "    %-20s %12d\n", ageName(a), n)
		}
	}
	c := t.circulation()
	fmt.Fprintf(&b, "  %d slots, of which %d were used again; lives of one: %d to %d, median %d\n",
		c.slots, c.again, c.least, c.most, c.median)
	return b.String()
}

func ageName(a int) string {
	switch {
	case a == live:
		return "live"
	case a == reused:
		return "reused"
	case a <= 2:
		return fmt.Sprintf("removed, %d since", a-1)
	}
	return fmt.Sprintf("removed, %d+ since", 1<<(a-2))
}

// circulation is how the slots went round.
type circulation struct {
	slots, again        int // that were used; used more than once
	least, median, most uint32
}

func (t *Torture) circulation() (c circulation) {
	var lives []uint32
	for i := range t.lives {
		if n := t.lives[i].Load(); n > 0 {
			lives = append(lives, n)
			if n > 1 {
				c.again++
			}
		}
	}
	if c.slots = len(lives); c.slots > 0 {
		slices.Sort(lives)
		c.least, c.median, c.most = lives[0], lives[len(lives)/2], lives[len(lives)-1]
	}
	return c
}
