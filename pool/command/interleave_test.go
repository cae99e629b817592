//go:build interleave

package command

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// scenario is a small program to be explored, on one pool with three buffers. Its texts are
// calls:
//
//	h = insert 0; remove 1 h; apply 0 1
//
// records an insertion in buffer 0 and its removal in buffer 1, and applies both.
type scenario struct {
	name     string
	before   string   // what is done before the threads begin
	threads  []string // with one thread, its steps are checked
	capacity int
	reset    string // what the pool's Reset does, until there are six values
	want     string // the values that go live and that go, by order of insertion, if only one order is right
}

var scenarios = []scenario{
	{name: "the stated order",
		before:  "a = put; b = insert 2; c = insert 0; remove 1 b; remove 0 a; d = insert 2; e = insert 1; remove 2 c; remove 2 a; f = put; remove 1 f",
		threads: []string{"apply 1 2 0"}, want: " +e +b +d +c -b -f -c -a"},
	{name: "two recorders share a buffer", before: "old = put",
		threads: []string{"h = insert 0; remove 0 h; insert 0", "insert 0; remove 0 old"}},
	{name: "a recorder against Apply", before: "h = insert 0; remove 0 h",
		threads: []string{"k = insert 0; remove 0 k; insert 0", "apply 0"}},
	{name: "a recorder in two buffers against Apply", before: "insert 0", // so that Apply is not idle
		threads: []string{"h = insert 0; remove 1 h; k = insert 1; remove 0 k", "apply 0 1"}},
	{name: "two recorders of each other's insertions against Apply",
		threads: []string{"h = insert 0", "remove 1 h", "apply 1 0"}},
	{name: "Apply against Apply, in the other order", before: "h = insert 0; remove 1 h; k = insert 1; remove 0 k",
		threads: []string{"apply 0 1", "apply 1 0"}},
	{name: "a recorder between two Applys",
		threads: []string{"h = insert 0; remove 1 h", "apply 0 1", "apply 1 0"}},
	{name: "Applys that have one buffer in common", before: "h = insert 1; remove 2 h; remove 0 h",
		threads: []string{"apply 2 1", "apply 1 0", "remove 1 h"}},
	{name: "a reader against Apply", before: "old = put; h = insert 0; k = insert 1; remove 0 old; remove 1 k",
		threads: []string{"read h; read k; read old; read h", "apply 0 1; insert 0"}},
	{name: "others remove what Apply inserts and removes", before: "old = put; h = insert 0; remove 0 h; remove 0 old",
		threads: []string{"removeNow h; removeNow old; removeNow h", "apply 0"}},
	{name: "two frames remove the same", before: "old = put; remove 0 old; remove 1 old",
		threads: []string{"apply 0", "apply 1"}},
	{name: "two frames tell of the same", before: "old = put; remove 0 old; remove 1 old; remove 0 old",
		threads: []string{"tell 0", "tell 1", "removeNow old"}},
	{name: "a recorder of functions against ApplyFunc", before: "h = insert 0; remove 0 h; do 0",
		threads: []string{"k = insert 0; do 0; remove 0 k; do 0", "tell 0"}},
	{name: "Discard against Apply and a recorder", before: "h = insert 0; remove 0 h",
		threads: []string{"insert 1", "discard 0", "apply 1 0"}},
	{name: "Discard against Discard", before: "insert 0; insert 0",
		threads: []string{"discard 0", "discard 0"}},
	{name: "a full pool against Apply", capacity: 2, before: "old = put; insert 0; remove 0 old",
		threads: []string{"insert 0; insert 0", "apply 0"}},
	{name: "a Reset records and applies", capacity: 4, reset: "insert 0; apply 0",
		before:  "a = insert 0; remove 0 a; b = insert 0; remove 0 b; c = insert 0; remove 0 c",
		threads: []string{"apply 0", "apply 0; insert 0; insert 0"}},
	{name: "loops over what waits while others record and apply", before: "h = insert 0; remove 0 h",
		threads: []string{"remove 0 h; apply 0; remove 0 h", "loop 0"}},
}

// value is the value of the explored pools. The pointer makes the pool zero reclaimed slots.
type value struct {
	id   int // from 1
	keep *int
}

type handle = pool.Handle[value]

// world is one run: what its threads know, and what must hold at the end.
type world struct {
	r       *interleave.Run
	p       *pool.Pool[value]
	buffers [3]*Buffer[value]

	last    int               // the id of the last value
	known   map[string]handle // of a name
	handles []handle          // in the order in which they became known
	live    map[handle]bool
	going   map[handle]bool // a removal was recorded after the insertion
	events  string          // what went live and what went

	// The results of calls. inserted and removed count those by the pool as well.
	recorded, inserted, removed, discarded int

	told              map[handle]bool // by ApplyFunc
	functions, called int

	over bool // the threads have ended
}

func (s scenario) setup(r *interleave.Run) {
	w := &world{r: r, known: map[string]handle{}, live: map[handle]bool{}, going: map[handle]bool{}, told: map[handle]bool{}}
	o := &pool.Options[value]{Capacity: s.capacity, Origin: 101, Shards: 1}
	if s.reset != "" {
		o.Reset = func(v *value) {
			*v = value{}
			if w.last < 6 && !w.over {
				w.do(nil, s.reset) // during an operation
			}
		}
	}
	w.p = pool.Must(o)
	for i := range w.buffers {
		w.buffers[i] = New(w.p)
	}
	w.do(nil, s.before)
	w.check()
	w.events = ""
	r.Check(func() error { w.check(); return nil })
	for i, text := range s.threads {
		r.Go(string(rune('A'+i)), 0, func(t *interleave.Thread) { w.do(t, text) })
	}
	r.Finally(func() error { return w.finally(s.want) })
}

// do makes the calls of a text, in a thread or, with t nil, before them.
func (w *world) do(t *interleave.Thread, text string) {
	for _, call := range strings.Split(text, "; ") {
		to, expr, assigns := strings.Cut(call, " = ")
		if !assigns {
			to, expr = "", to
		}
		verb, rest, _ := strings.Cut(expr, " ")
		var bs []*Buffer[value]
		var h handle // 0 if the thread is early, or the pool was full
		for _, word := range strings.Fields(rest) {
			if i, err := strconv.Atoi(word); err == nil {
				bs = append(bs, w.buffers[i])
			} else {
				h = w.known[word]
			}
		}
		t.Begin(verb)
		w.call(verb, bs, h, to)
		t.End()
	}
}

func (w *world) call(verb string, bs []*Buffer[value], h handle, to string) {
	switch verb {
	case "put", "insert":
		w.last++
		v, insert := value{w.last, &w.last}, w.p.Insert
		if verb == "insert" {
			insert = bs[0].Insert
		}
		if h, err := insert(v); err == nil {
			w.known[to], w.handles = h, append(w.handles, h)
			w.recorded++
		}
		if verb == "put" {
			w.inserted++
		}
	case "remove":
		if h != 0 {
			bs[0].Remove(h)
			w.going[h] = true
		}
	case "removeNow":
		if w.p.Remove(h) {
			w.removed++
		}
	case "apply":
		inserted, removed := Apply(bs...)
		w.inserted += inserted
		w.removed += removed
	case "tell":
		n := 0
		inserted, removed := ApplyFunc(func(h handle, v value) {
			if w.told[h] || w.p.Contains(h) || v.keep == nil || h != w.handles[v.id-1] {
				w.r.Failf("told of %v, with value %d", h, v.id)
			}
			w.told[h] = true
			n++
		}, bs...)
		if n != removed {
			w.r.Failf("told of %d values, and %d were removed", n, removed)
		}
		w.inserted += inserted
		w.removed += removed
	case "do":
		bs[0].Do(func() { w.called++ })
		w.functions++
	case "discard":
		w.discarded += bs[0].Discard()
	case "loop":
		for h := range bs[0].Insertions() {
			if !slices.Contains(w.handles, h) {
				w.r.Failf("insertion of %v", h)
			}
		}
		for h := range bs[0].Removals() {
			if !slices.Contains(w.handles, h) {
				w.r.Failf("removal of %v", h)
			}
		}
	case "read":
		if v, ok := w.p.Get(h); ok && v.keep == nil {
			w.r.Failf("%v is live without its value", h)
		}
	}
}

// check notes what has gone live, and what has gone, in the last step.
func (w *world) check() {
	for i, h := range w.handles {
		if live := w.p.Contains(h); live != w.live[h] {
			w.live[h] = live
			w.events += map[bool]string{true: " +", false: " -"}[live] + string(rune('a'+i))
		}
	}
}

// finally applies the rest and compares the results of all calls with the state of the pool.
func (w *world) finally(want string) error {
	if want != "" && w.events != want {
		return fmt.Errorf("what happened is%s; want%s", w.events, want)
	}
	w.over = true // what else is Reset does nothing
	w.call("apply", w.buffers[:], 0, "")
	if w.called != w.functions {
		return fmt.Errorf("%d functions were recorded, and %d calls made", w.functions, w.called)
	}
	live := 0
	for _, h := range w.handles {
		if w.p.Contains(h) {
			live++
			if w.going[h] && w.discarded == 0 {
				return fmt.Errorf("%v is live, and its removal was recorded", h)
			}
		}
	}
	if lost := w.recorded - w.inserted; lost < 0 || lost > w.discarded || w.inserted-w.removed != live {
		return fmt.Errorf("%d were recorded, %d discarded with their removals, %d inserted and %d removed; %d are live",
			w.recorded, w.discarded, w.inserted, w.removed, live)
	}
	if err := w.p.Synchronize(context.Background()); err != nil {
		return err
	}
	if st := w.p.Stats(); st.Live != live || st.Reserved+st.Limbo+int(st.Dropped) != 0 || st.Allocated != st.Live+st.Free+st.Exhausted {
		return fmt.Errorf("%d are live, and the pool has %+v", live, st)
	}
	return nil
}

// TestInterleave runs the exported methods of this package, on a real pool, under all
// schedules with a few preemptions:
//
//	go test -tags interleave -run Interleave -v ./pool/command -interleave.bound 2
//
// A failure prints the interleaving.
func TestInterleave(t *testing.T) {
	// Collections are kept between runs. One during a run would add steps: it clears the
	// block that the pool keeps for the next insertion.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	n := 0
	for _, s := range scenarios {
		setup := func(r *interleave.Run) {
			if n++; n%500 == 0 { // some megabytes
				runtime.GC()
			}
			s.setup(r)
		}
		t.Run(s.name, func(t *testing.T) {
			testkit.RunsTwiceTheSame(t, s.name, setup)
			testkit.Explore(t, setup, len(s.threads) == 1)
		})
	}
	t.Run("an Apply with nothing to do", func(t *testing.T) { testkit.Explore(t, idle, false) })
}
