package tree_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"coatcheck/internal/check/testkit"
)

// TestReadersBesideWriters walks over pillars, which keep their places, while other nodes
// come, go and move among them, some of them behind the forest's back. The walks see the
// pillars in order, and no other node's value. The race detector sees the rest; all
// promises of walks are judged under all schedules.
func TestReadersBesideWriters(t *testing.T) {
	seed := testkit.Seed(t)
	p, f := newForest(t)
	top, pillars := family(t, p, f, 12)
	read := func(rnd *rand.Rand) {
		w, rest := allWalks[rnd.IntN(len(allWalks))], pillars
		for _, h := range handles(t, w.loop(f, top)) {
			if i := slices.Index(rest, h); i >= 0 {
				rest = rest[i+1:]
			} else if slices.Contains(pillars, h) {
				t.Errorf("%s yields %v out of order or twice", w.name, h)
			}
		}
		if up := handles(t, f.Ancestors(pillars[0])); !slices.Equal(up, []handle{top}) {
			t.Errorf("ancestors %v", up)
		}
	}
	write := func(rnd *rand.Rand, mine []handle) {
		parent, at := pillars[rnd.IntN(len(pillars))], rnd.IntN(len(mine))
		h := mine[at]
		switch what := rnd.IntN(10); {
		case !p.Contains(h):
			mine[at] = add(t, p, 0)
			_ = f.Append(parent, mine[at]) // fails beside a dead node
		case what < 3:
			_ = f.Move(append(mine, parent)[rnd.IntN(len(mine)+1)], h) // may fall into a cycle
		case what < 8:
			_ = f.Detach(h)
			_ = f.InsertAfter(parent, h)
		case what == 8:
			f.Remove(h)
		case p.Remove(h): // behind the forest's back
			runtime.Gosched()
			f.Repair()
		}
	}
	testkit.Together(4, func(k int) {
		rnd := rand.New(rand.NewPCG(seed, uint64(k)))
		mine := make([]handle, 32)
		for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
			if k < 2 {
				read(rnd)
			} else {
				write(rnd, mine)
			}
		}
	})
	f.Repair()
	assertForest(t, f, p.Len())
}
