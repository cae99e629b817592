//go:build coatcheck_debug && !interleave

package pool

import (
	"fmt"
	"strings"

	"coatcheck/epoch"
	"coatcheck/internal/trace"
)

// Under the tag coatcheck_debug a pool remembers who inserted and removed what,
// and who opened what is open. It does so in tables of its own: the words, the
// steps and their order are those of any pool, and each hook stands after the
// step that it notes. A verb then takes microseconds and may wait for a lock.
//
// Values and what is opened by name are noted by hooks, `if debugging { … }`. The
// path of a pin has no room for one, so pins are noted by a domain that wraps
// the usual one.
const debugging = true

type (
	lives struct{ *trace.Lives }
	set   struct{ *trace.Set }
)

// record makes the tables. They refer to nothing of the pool (see trace.Set).
func (p *Pool[T]) record() {
	p.records = records{
		lives:        lives{new(trace.Lives)},
		guards:       set{new(trace.Set)},
		reservations: set{new(trace.Set)},
		workers:      set{new(trace.Set)},
		refs:         set{new(trace.Set)},
	}
	p.domain.guards = p.records.guards
}

// tell returns lines that say who began a life and who ended it.
func (l lives) tell(h uint64, over bool) string {
	var b strings.Builder
	if !l.Write(&b, h) && over {
		fmt.Fprintf(&b, "\nwho removed it is not on record: of each slot, the last %d lives are", trace.Kept)
	}
	return b.String()
}

// tell returns lines that say who opened what is open.
func (s set) tell() string {
	var b strings.Builder
	s.WriteOpen(&b, "\t")
	return b.String()
}

// tellDropped returns lines that say who opened what was dropped.
func (s set) tellDropped() string {
	var b strings.Builder
	s.WriteDropped(&b, "\t")
	return b.String()
}

// mark lies in what is opened by name, and stands for it in its set.
type mark struct {
	noCopy
	item *trace.Item
}

func (m *mark) opened(s set, did, name string) { m.item = s.Open(did, name) }
func (m *mark) closed(s set, did string)       { s.Close(m.item, did) }
func (m *mark) dropped(s set, did string)      { s.Drop(m.item, did) }

// tracedDomain notes who pins. Pins of single look-ups, which are brief, are not
// worth it.
type tracedDomain struct {
	epoch.Domain
	guards set
}

func clock(d *tracedDomain) *epoch.Domain { return &d.Domain }

func (d *tracedDomain) Pin() tracedPin {
	return tracedPin{d.Domain.Pin(), d.guards, d.guards.Open("pinned", "")}
}

// tracedPin keeps its item when it is unpinned, to tell what came before a
// misuse.
type tracedPin struct {
	epoch.Guard
	guards set
	item   *trace.Item
}

func (g *tracedPin) Release() bool {
	ok := g.Guard.Release()
	if ok {
		g.guards.Close(g.item, "unpinned")
	}
	return ok
}

func (g *tracedPin) Unpin() {
	g.Guard.Unpin()
	g.guards.Close(g.item, "unpinned")
}

// misuse adds to the text of a panic who pinned and unpinned the guard.
func misuse(text string, g *tracedPin) string {
	if g.item == nil {
		return text
	}
	var b strings.Builder
	b.WriteString(text)
	g.guards.WriteItem(&b, g.item)
	return b.String()
}
