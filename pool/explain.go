package pool

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"coatcheck/shard/slots"
)

// Texts for people: what a handle is, and what is open in a pool. They go by the words of slots. With the tag
// coatcheck_debug they also have who did what, and when (debug_on.go).

// Explain describes in a text for people whether h is live, stale, or was never issued by this
// pool. With the build tag coatcheck_debug, it has the stacks and times of its insertion and
// removal.
func (p *Pool[T]) Explain(h Handle[T]) string { return p.explain(uint64(h)) }

func (c *core) explain(h uint64) string {
	text, ended := c.state(h)
	return text + c.records.lives.tell(h, ended)
}

// state returns what the words say. ended reports whether h had a life that is over, or may
// have had one in another pool.
func (c *core) state(h uint64) (text string, ended bool) {
	say := func(format string, args ...any) string {
		return fmt.Sprintf("%s "+format, append([]any{textOf(h)}, args...)...)
	}
	t, o := c.pages(), c.arena.Table.Origins()
	i, g := slots.Low(h), slots.Generation(h)
	switch {
	case h == 0:
		return say("is the zero Handle, which names nothing"), false
	case !slots.IsLive(h) || g > slots.LastGeneration:
		return say("is malformed: generations are odd, and end at %d", uint32(slots.LastGeneration)), false
	case i >= t.Limit:
		return say("was never issued by this pool, which has memory for %d slots", t.Limit), false
	case g < o.First(i):
		return say("was never issued by this pool: the generations of its slot begin at %d", o.First(i)), false
	}
	word := t.At(i).Word.Load()
	now := c.arena.Table.GenerationOf(i, word)
	floor, gone := t.Floor(i)
	if gone {
		floor = o.Generation(i, floor)
	}
	switch {
	case gone && g < floor:
		return say("is stale: removed or cancelled. Its slot has no memory now, since Trim gave it back"), true
	case gone:
		return say("was never issued by this pool: its slot has come to generation %d", floor), false
	case g == now:
		return say("is live"), false
	case g == now+1:
		return say("is not live: it is the next handle of its slot, issued at most to a Reservation or a constructor"), false
	case g > now:
		return say("was never issued by this pool: its slot has come to generation %d", now), false
	}
	fate := "is vacant"
	if now == slots.Spent {
		fate = "has used up its generations and is never reused"
	} else if slots.IsLive(word) {
		fate = fmt.Sprintf("was reused and is live as %s", textOf(word))
	} else if refs, _ := t.Holding(i); refs > 0 {
		fate = "is kept by " + counted(refs, "Ref")
	} else if n := c.domain.Scan().Count; n > 0 {
		fate = "is vacant, or waits for guards; pinned now: " + strconv.Itoa(n)
	}
	return say("is stale: removed or cancelled. Its slot %s", fate), true
}

// ExplainOpen describes in a text for people what is open or was dropped: guards, Reservations,
// Workers and Refs. With the build tag coatcheck_debug, it has the stacks and times of what opened
// them; without it, those that [Options].TraceGuards has recorded.
func (p *Pool[T]) ExplainOpen() string { return p.explainOpen() }

func (c *core) explainOpen() string {
	c.pages()
	var b strings.Builder
	add := func(n int, line string, tell func(*strings.Builder)) {
		if n == 0 {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
		tell(&b)
	}
	r := &c.records
	if c.tracer != nil {
		c.tracer.refresh()
	}
	n, _, age := c.pinned()
	pinned := counted(n, "guard") + " pinned"
	if age >= time.Second {
		pinned += fmt.Sprintf(", the oldest for %v or longer", age.Truncate(time.Second))
	}
	add(n, pinned, func(b *strings.Builder) { r.guards.tell(b); c.tracer.tellGuards(b) })
	n = int(c.reserved.Load())
	add(n, counted(n, "Reservation")+" open", r.reservations.tell)
	n = int(c.workers.Load())
	add(n, counted(n, "Worker")+" open", r.workers.tell)
	n = c.arena.Refs()
	add(n, counted(n, "Ref")+" open", func(b *strings.Builder) { r.refs.tell(b); c.tracer.tellRefs(b) })
	n = c.drops()
	add(n, fmt.Sprintf("%d dropped and left to the garbage collector", n), func(b *strings.Builder) {
		for _, s := range []set{r.guards, r.reservations, r.workers, r.refs} {
			s.tellDropped(b)
		}
	})
	return b.String()
}

// drops returns how many Reservations and Workers were dropped, and with the build tag how many
// Guards and Refs.
func (c *core) drops() int {
	return int(c.collected.Load()) + c.records.guards.Drops() + c.records.refs.Drops()
}

// counted returns n with a noun, in the plural unless n is 1.
func counted(n int, kind string) string {
	if n != 1 {
		kind += "s"
	}
	return fmt.Sprintf("%d %s", n, kind)
}

// records is what a pool records with the build tag coatcheck_debug (debug_on.go). Without
// the tag it has no size.
type records struct {
	lives lives

	// What is open, by kind, for ExplainOpen.
	guards, reservations, workers, refs set

	//lint:ignore U1000 only the tag uses it (debug_on_writes.go)
	sweeps sweeps
}

// collected is what records say of what the garbage collector gave back.
const collected = "dropped, and given back"
