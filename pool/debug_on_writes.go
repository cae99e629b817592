//go:build coatcheck_debug && !interleave

package pool

import (
	"fmt"

	"coatcheck/internal/atom"
	"coatcheck/pool/internal/trace"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// How the pool finds that a vacant value was written to. DESIGN.md has the whole under "Debug build".

// sweepEvery is at which insertions one sweeps. A sweep takes up to 20 µs, as ten insertions do.
const sweepEvery = 256

// sweeps counts insertions.
type sweeps struct{ insertions atom.Uint32 }

// isDue counts an insertion, and reports whether it sweeps.
func (s *sweeps) isDue() bool { return s.insertions.Add(1)%sweepEvery == 0 }

// soon has the next insertion sweep, as there may be more to find.
func (s *sweeps) soon() { s.insertions.Store(sweepEvery - 1) }

func init() {
	trace.Written = func(pool any) []string { return pool.(interface{ written() []string }).written() }
}

// mustBeUntouched panics if the slot, which was claimed as h, was written to while it was vacant, or if this insertion
// sweeps and finds another one. Then the slot goes back.
func (c *core) mustBeUntouched(slot *slots.Hook, h uint64) {
	i := slots.Low(h)
	found := !c.arena.Table.Unmark(slot, i)
	text := ""
	if found {
		text = c.wrote(h)
	} else if c.records.sweeps.isDue() {
		if i, found = c.arena.Table.Sweep(slots.SweepMost); found {
			c.records.sweeps.soon()
			text = c.wroteAt(i)
		}
	}
	if found {
		c.arena.Abandon(slot, h, shard.Collector)
		panic(text)
	}
}

// refused panics if h, which is not live, names a slot that was written to while it was vacant.
func (c *core) refused(h uint64) {
	if i := slots.Low(h); slots.IsLive(h) && i < c.pages().Limit && c.arena.Table.Touched(i) {
		panic(c.wroteAt(i))
	}
}

// mustBeClean panics if any slot was written to while it was vacant.
func (c *core) mustBeClean() {
	if i, found := c.arena.Table.SweepAll(0); found {
		panic(c.wroteAt(i))
	}
}

// mostWritten is how many slots a report of pooltest names.
const mostWritten = 10

// written returns texts about slots that were written to while they were vacant, for package pooltest.
func (c *core) written() (texts []string) {
	for i := uint32(0); len(texts) < mostWritten; {
		found := false
		if i, found = c.arena.Table.SweepAll(i); !found {
			break
		}
		texts = append(texts, c.wroteAt(i))
	}
	return texts
}

// wroteAt is wrote for a slot of which the next handle is not known.
func (c *core) wroteAt(i uint32) string {
	return c.wrote(slots.Pack(c.arena.Table.GenerationOf(i, c.pages().At(i).Word.Load())+1, i))
}

// wrote returns the text about a vacant slot that was written to. next is a handle that its last life came before.
func (c *core) wrote(next uint64) string {
	last := c.records.lives.Last(next)
	if last == 0 {
		last = next - 2*slots.GenerationStep // nothing is on record
	}
	return fmt.Sprintf("pool: a value was written to after its slot was reclaimed, through a pointer that was kept "+
		"beyond an Unpin, a Release, a removal or the end of a loop; it was the value of %s, or of a handle before", textOf(last)) +
		c.records.lives.tell(last, false) + trace.Now("found")
}
