package storm

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"
)

// Rates say how much work of each kind must be done in a second at the least. A torture
// goes on past its length until it has been. Nil demands nothing.
type Rates map[Work]float64

// The age of a value that is looked at. Age 0 is live; age 1+n is a value since
// whose removal others were removed: none for n = 0, and from 2^(n-1) to 2^n - 1
// after that. The last age is that of a value which has become another one.
const (
	live   = 0
	ages   = 1 + 1 + 32 + 1
	reused = ages - 1
)

func ageSince(removals uint32) int { return 1 + bits.Len32(removals) }

// lacks says what has not been done often enough in a torture of such a length.
func (t *Torture) lacks(rates Rates, length time.Duration) string {
	if rates == nil {
		return ""
	}
	if text := t.short(func(w Work) int64 {
		if rates[w] == 0 {
			return 0
		}
		return max(1, int64(rates[w]*length.Seconds()))
	}); text != "" {
		return text
	}
	// Slots must go round, or nothing can be found.
	if c := t.circulation(); 2*c.again < c.slots {
		return fmt.Sprintf("%d of %d slots were used again", c.again, c.slots)
	}
	return ""
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
	for w := range works {
		if n := t.Done(w); n > 0 {
			fmt.Fprintf(&b, "  %-22s %12d  %9.0f/s\n", workNames[w], n, float64(n)/t.lasted.Seconds())
		}
	}
	b.WriteString("  age of what was looked at\n")
	for a := range ages {
		var n int64
		for _, v := range t.victims {
			n += v.ages[a].Load()
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
