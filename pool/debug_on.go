//go:build coatcheck_debug && !interleave

package pool

import (
	"fmt"
	"log"
	"reflect"
	"strings"
	"sync"

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

func init() {
	trace.Youngest = func(pool any) uint64 { return pool.(interface{ youngest() uint64 }).youngest() }
}

// youngest returns the number of what was opened last, for package pooltest.
func (c *core) youngest() (number uint64) {
	for _, s := range []set{c.records.guards, c.records.reservations, c.records.workers, c.records.refs} {
		number = max(number, s.Youngest())
	}
	return number
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
func (s set) tell(b *strings.Builder) { s.WriteOpen(b, "\t") }

func (s set) tellDropped(b *strings.Builder) { s.WriteDropped(b, "\t") }

// mark is part of what is opened, and refers to its record.
type mark struct {
	noCopy
	item  *trace.Item
	watch *trace.Watch
}

func (m *mark) opened(s set, action, name string) { m.item = s.Open(action, name) }

func (m *mark) closed(s set, action string) { s.Close(m.item, action) }

func (m *mark) dropped(s set, action string) { s.Drop(m.item, action) }

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

// tracedDomain records the calls that pin, except for brief pins.
type tracedDomain struct {
	epoch.Domain
	guards set
}

func clock(d *tracedDomain) *epoch.Domain { return &d.Domain }

func (d *tracedDomain) Pin() tracedPin { return d.record(d.Domain.Pin(), trace.Here()) }

func (d *tracedDomain) record(g epoch.Guard, at trace.Place) tracedPin {
	it := d.guards.OpenAt("pinned", "", at)
	return tracedPin{g, d.guards, it, d.guards.Watch(it, forgotten)}
}

// caller is the call of a method whose other goroutines pin, so their stacks do not tell who called it.
type caller = trace.Place

func callerOf() caller { return trace.Here() }

func pinFor(d *tracedDomain, at caller) tracedPin { return d.record(d.PinUntraced(), at) }

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

// copied has the types of values that warnOfCopy has met.
var copied sync.Map

// warnOfCopy logs, once for each type, that the caller copies values with a field that others
// change in place: a lock or an atomic. Vet reports the copies of such a field, but not where the
// value has type T.
func warnOfCopy[T any]() {
	t := reflect.TypeFor[T]()
	if _, known := copied.LoadOrStore(t, nil); known {
		return
	}
	if part := changing(t, t.String()); part != "" {
		log.Printf("pool: Get, MustGet, Take, and a Clone without a function, copy a value without synchronization, but %s. "+
			"Use View, a Guard or Hold, or keep pointers in the pool. Only the first call is logged for each type:%s", part, trace.Caller())
	}
}

// changing returns the first part of type t that has a Lock method or is an atomic, and "" if there
// is none. name is the part's name.
func changing(t reflect.Type, name string) string {
	_, locks := reflect.PointerTo(t).MethodByName("Lock")
	_, refers := t.MethodByName("Lock") // such as an embedded *sync.Mutex, which a copy shares
	switch {
	case locks && !refers && t.PkgPath() != "sync/atomic":
		return name + " (" + t.String() + ") has a Lock method"
	case t.PkgPath() == "sync/atomic":
		return name + " (" + t.String() + ") is an atomic"
	case t.Kind() == reflect.Array && t.Len() > 0:
		return changing(t.Elem(), name+"[0]")
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if part := changing(f.Type, name+"."+f.Name); part != "" {
				return part
			}
		}
	}
	return ""
}
