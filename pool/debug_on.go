//go:build coatcheck_debug && !interleave

package pool

import (
	"fmt"
	"strings"

	"coatcheck/epoch"
	"coatcheck/pool/internal/trace"
	"coatcheck/shard"
)

// debugging reports whether the pool records the calls that insert, remove, open and close,
// which it does with the build tag coatcheck_debug.
//
// Records are in tables of their own. The words, the steps and their order are those of any
// pool, and each hook `if debugging { … }` comes after the step that it records. A call then
// takes microseconds, and may wait for a lock. The path of a pin has no room for a hook, so
// tracedDomain wraps the domain.
const debugging = true

type (
	lives struct{ *trace.Lives }
	set   struct{ *trace.Set }
)

// record makes the tables. They refer to nothing of the pool (see trace.Set).
func (c *core) record() {
	c.records = records{
		lives:        lives{new(trace.Lives)},
		guards:       set{new(trace.Set)},
		reservations: set{new(trace.Set)},
		workers:      set{new(trace.Set)},
		refs:         set{new(trace.Set)},
	}
	c.domain.guards = c.records.guards
}

// tell returns lines with the calls that began and ended the life that h names.
func (l lives) tell(h uint64, ended bool) string {
	var b strings.Builder
	if !l.Write(&b, h) && ended {
		fmt.Fprintf(&b, "\nits removal is not on record: only the last %d lives of each slot are", trace.Kept)
	}
	return b.String()
}

// tell writes lines with the calls that opened what is open, and tellDropped those of what
// was dropped.
func (s set) tell(b *strings.Builder)        { s.WriteOpen(b, "\t") }
func (s set) tellDropped(b *strings.Builder) { s.WriteDropped(b, "\t") }

// mark is part of what is opened, and refers to its record.
type mark struct {
	noCopy
	item  *trace.Item
	watch *trace.Watch
}

func (m *mark) opened(s set, action, name string) { m.item = s.Open(action, name) }
func (m *mark) closed(s set, action string)       { s.Close(m.item, action) }
func (m *mark) dropped(s set, action string)      { s.Drop(m.item, action) }

// forgotten is what records say of Guards and Refs that the garbage collector found.
const forgotten = "dropped, and never given back"

// watched is opened for what has no finalizer of its own.
func (m *mark) watched(s set, action, name string) {
	m.opened(s, action, name)
	m.watch = s.Watch(m.item, forgotten)
}

// user is the goroutine that uses a Worker.
type user struct{ trace.User }

// enter panics if another goroutine uses the Worker. Call leave at the end.
func (u *user) enter() (leave func()) {
	if text := u.Enter(); text != "" {
		panic(shard.Shared + text)
	}
	return u.Leave
}

// mustBeUntouched panics if the slot, which was claimed as h, was written to while it was vacant.
func (c *core) mustBeUntouched(slot *shard.Hook, h uint64) {
	if c.arena.Untouched(slot) {
		return
	}
	last := h - 2<<32
	c.arena.Abandon(slot, h, shard.Deferred)
	panic(fmt.Sprintf("pool: a value was written to after its slot was reclaimed, through a pointer that was kept "+
		"beyond an Unpin, a Release or the end of a loop; it was the value of %s, or of a handle before", textOf(last)) +
		c.records.lives.tell(last, false))
}

// tracedDomain records the calls that pin, except for brief pins.
type tracedDomain struct {
	epoch.Domain
	guards set
}

func clock(d *tracedDomain) *epoch.Domain { return &d.Domain }

func (d *tracedDomain) Pin() tracedPin {
	g := d.Domain.Pin()
	it := d.guards.Open("pinned", "")
	return tracedPin{g, d.guards, it, d.guards.Watch(it, forgotten)}
}

// tracedPin keeps its record when it is unpinned, for the text of a later panic.
type tracedPin struct {
	epoch.Guard
	guards set
	item   *trace.Item
	watch  *trace.Watch
}

func (g *tracedPin) Release() bool {
	ok := g.Guard.Release()
	if ok {
		g.guards.Close(g.item, "unpinned")
	}
	return ok
}

func (g *tracedPin) ReleaseLast() { g.Release() }

func (g *tracedPin) Unpin() {
	g.Guard.Unpin()
	g.guards.Close(g.item, "unpinned")
}

// misuse returns text, followed by the calls that pinned and unpinned g.
func misuse(text string, g *tracedPin) string {
	if g.item == nil {
		return text
	}
	var b strings.Builder
	b.WriteString(text)
	g.guards.WriteItem(&b, g.item)
	return b.String()
}
