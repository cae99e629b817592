//go:build interleave

package explore_test

import (
	"cmp"
	"fmt"
	"math/bits"
	"reflect"
	"strings"

	"coatcheck/internal/check/interleave"
	. "coatcheck/pool"
	"coatcheck/shard/slots"
)

// program is a scenario, or a program that was drawn.
type program struct {
	name string
	settings
	resets  []op // what Reset does
	events  []op // what OnInsert and OnRemove do
	prepare []op
	threads []script
}

// script is a thread, and the shard that it uses.
type script struct {
	shard int
	ops   []op
}

// settings describe a pool, and what is known of its program. Where they are zero, pages have
// two slots, there is one shard, and generations start at 101.
type settings struct {
	Capacity, Shards, MaxLimbo int
	FIFO, Preallocate, Reset   bool
	Plain                      bool // values have no pointers
	NoReplay                   bool // the pool does not replay: the collector reclaims
	Copying                    bool // Get copies without a pin
	Page                       int  // slots of a page, at most
	Unit                       int  // slots of the first page, from which pages grow; 0: Page
	Origin                     int
	Apart                      bool // slots begin apart, the first one at 101; so the pool does not replay
	Lives                      int  // of each slot; they set Origin
	Restored                   int  // it was restored: the slots that are live when threads begin skip so many lives
	Cells                      int  // for so many guards from the start
	Most                       int  // cells of the longest row, and none before the first Pin; 0: a row of one
	Spreads                    bool // it begins with one shard, and makes others where threads meet
	Resets                     int  // how often Reset does what the program says
	Traced                     bool // each guard and Ref is recorded
	Events                     bool // there are an OnInsert and an OnRemove, in which other threads may run
	Calls                      int  // how many of these do what the program says
	Roomy                      bool // there is a slot for each insertion, whatever the schedule
}

// parse parses settings such as Capacity=4 FIFO.
func (s *settings) parse(text string) {
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		switch at := reflect.ValueOf(s).Elem().FieldByName(name); at.Kind() {
		case reflect.Bool:
			at.SetBool(true)
		case reflect.Int:
			at.SetInt(int64(number(value)))
		default:
			panic("there is no setting " + name)
		}
	}
}

// String returns the settings as parse reads them.
func (s *settings) String() (text string) {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		switch name, at := v.Type().Field(i).Name, v.Field(i); {
		case at.IsZero():
		case at.Kind() == reflect.Bool:
			text += " " + name
		default:
			text += fmt.Sprintf(" %s=%d", name, at.Int())
		}
	}
	return text
}

// options returns the options of the pool, and the sizes of its pages.
func (s *settings) options() (o Options[val], sizes slots.PageSizes) {
	o = Options[val]{
		Capacity: s.Capacity, Shards: max(s.Shards, 1), MaxLimbo: s.MaxLimbo, Preallocate: s.Preallocate,
		Origin: uint32(cmp.Or(s.Origin, 101)),
	}
	if s.Apart {
		o.Origin = 0
	}
	if s.FIFO {
		o.Reuse = FIFO
	}
	if s.Traced {
		o.TraceGuards = 1
	}
	if s.Lives > 0 {
		o.Origin = uint32(slots.LastGeneration - 2*(s.Lives-1))
	}
	shift := func(slots int) uint8 { return uint8(bits.TrailingZeros(uint(slots))) }
	page := cmp.Or(s.Page, 2)
	return o, slots.PageSizes{Unit: shift(cmp.Or(s.Unit, page)), Page: shift(page), Most: shift(page) + 1}
}

// setup builds the state of a run of p.
func (p *program) setup(r *interleave.Run) {
	w := &world{r: r, alone: len(p.threads) == 1, most: p.Most}
	v := new(vars)
	o, sizes := p.options()
	if p.Reset {
		o.Reset = w.resetting(p.Resets, func(a *actor) { run(v, a, p.resets) })
	}
	if p.Events {
		w.tells(&o, p.Calls, func(a *actor) { run(v, a, p.events) })
	}
	a := w.pool(sizes, o)
	if p.Plain {
		Arena(w.p).Pointers = false
	}
	if p.NoReplay {
		Arena(w.p).NotReplaying()
	}
	CopyWithoutPin(p.Copying)
	if p.Spreads {
		Arena(w.p).StartAgain(1)
		w.names.regions = nil
	}
	if p.Cells > 0 {
		Domain(w.p).Init(p.Cells)
	}
	run(v, a, p.prepare)
	if p.Restored > 0 {
		w.restored(p.Restored)
	}
	w.roomy = p.Roomy
	for _, s := range p.threads {
		w.thread(s.shard, func(a *actor) { run(v, a, s.ops) })
	}
}

// String returns p as parse reads it.
func (p *program) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s", p.name)
	if text := p.settings.String(); text != "" {
		line("\tpool:%s", text)
	}
	for i := range p.prepare {
		line("\t%v", &p.prepare[i])
	}
	if len(p.resets) > 0 {
		line("\treset: %s", listed(p.resets, "; "))
	}
	if len(p.events) > 0 {
		line("\tevents: %s", listed(p.events, "; "))
	}
	for _, s := range p.threads {
		line("\tthread %d: %s", s.shard, listed(s.ops, "\n\t\t"))
	}
	return b.String()
}
