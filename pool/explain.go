package pool

import (
	"fmt"
	"strings"

	"coatcheck/shard"
)

// records is what a pool remembers under the tag coatcheck_debug (debug_on.go).
// In other programs it has no size.
type records struct {
	lives lives

	// What is open, by kind, for ExplainOpen.
	guards, reservations, workers, refs set
}

// How lives begin and end, and what is opened, in the words of the records.
const (
	inserted  = "inserted"
	reserved  = "reserved"
	committed = "committed"
	removed   = "removed"
	cancelled = "cancelled"
	burnt     = "given up, because the constructor failed,"
	collected = "dropped, and given back"
	opened    = "opened"
	closed    = "closed"
	held      = "held"
	released  = "released"
)

// Explain returns a text that says what h is to the pool at this moment, for
// people: live; stale, and what has become of its slot; or never a handle of
// this pool. The text may change from one version to the next.
//
// In a program that is built with the tag coatcheck_debug it also tells, with
// stacks, who inserted the value and when, and who removed it: for the last four
// lives of each slot. There MustGet panics with this text.
func (p *Pool[T]) Explain(h Handle[T]) string {
	text, over := p.explain(h)
	return text + p.records.lives.tell(uint64(h), over)
}

// explain tells from the words alone. over says that h had a life and lost it,
// or a handle looks so that comes from another pool.
func (p *Pool[T]) explain(h Handle[T]) (text string, over bool) {
	say := func(format string, args ...any) string {
		return fmt.Sprintf("%v "+format, append([]any{h}, args...)...)
	}
	t := p.pages()
	switch {
	case h.IsZero():
		return say("is the zero Handle, which names nothing"), false
	case !shard.IsLive(uint64(h)):
		return say("is malformed: its generation is even, and nothing ever lives with that"), false
	case h.Generation() > shard.LastGeneration:
		return say("is malformed: generations end at %d", uint32(shard.LastGeneration)), false
	case h.Index() >= t.Limit:
		return say("was never issued by this pool, which has memory for %d slots", t.Limit), false
	case h.Generation() < p.arena.First:
		return say("was never issued by this pool, whose generations begin at %d", p.arena.First), false
	}
	if floor, ok := t.Floor(h.Index()); ok {
		if h.Generation() < floor {
			return say("is stale: removed or cancelled. Its slot has no memory now, since Trim gave it back"), true
		}
		return say("was never issued by this pool: its slot has come to generation %d", floor), false
	}
	word := shard.At[T](t, h.Index()).Word.Load()
	now := shard.Generation(word)
	if now < p.arena.First {
		now = p.arena.First - 1 // memory that was never used
	}
	switch g := h.Generation(); {
	case g == now:
		return say("is live"), false
	case g < now && now == shard.Spent:
		return say("is stale: removed or cancelled. Its slot has used up its generations and is never reused"), true
	case g < now && shard.IsLive(word):
		return say("is stale: removed or cancelled. Its slot was reused %s and is live as %v", times((now-g)/2), Handle[T](word)), true
	case g < now && now-g > 1:
		return say("is stale: removed or cancelled. Its slot was reused %s and is vacant", times((now-g)/2)), true
	case g < now:
		return say("is stale: removed or cancelled. Its slot is vacant"), true
	case g == now+1:
		return say("is not live: it is the next handle of its slot, issued at most to a Reservation or a constructor"), false
	}
	return say("was never issued by this pool: its slot has come to generation %d", now), false
}

// ExplainOpen returns a text that says what is open, a line a kind: guards
// (those of calls and loops under way included), Reservations, Workers and Refs,
// and how many Reservations and Workers were dropped; a dropped Ref counts as
// open. It is empty if nothing is.
//
// In a program that is built with the tag coatcheck_debug it also tells, with
// stacks, who opened them and when.
func (p *Pool[T]) ExplainOpen() string {
	p.pages()
	var b strings.Builder
	line := func(n int, format string, args ...any) bool {
		if n == 0 {
			return false
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, format, args...)
		return true
	}
	pinned, oldest := p.domain.Pinned()
	if line(pinned, "%s pinned, the oldest %d epochs back", count(pinned, "guard"), oldest) {
		b.WriteString(p.records.guards.tell())
	}
	reserved, workers := int(p.reserved.Load()), int(p.workers.Load())
	for _, kind := range []struct {
		n    int
		what string
		who  set
	}{
		{reserved, "Reservation", p.records.reservations},
		{workers, "Worker", p.records.workers},
		{p.arena.Held(), "Ref", p.records.refs},
	} {
		if line(kind.n, "%s open", count(kind.n, kind.what)) {
			b.WriteString(kind.who.tell())
		}
	}
	dropped := int(p.collected.Load())
	if line(dropped, "%d dropped and left to the garbage collector", dropped) {
		b.WriteString(p.records.reservations.tellDropped() + p.records.workers.tellDropped())
	}
	return b.String()
}

// count returns a number of things in words.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func times(n uint32) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
