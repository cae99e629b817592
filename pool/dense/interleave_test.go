//go:build interleave

package dense

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// val is a value of the explored stores. It is torn unless twice is twice the id.
type val struct{ id, twice int }

type valHandle = pool.Handle[val]

// world is one run: a store and what its threads know about it.
type world struct {
	r       *interleave.Run
	s       *Store[val]
	ids     map[valHandle]int  // what was created
	killed  map[valHandle]int  // how often it was killed
	stale   map[valHandle]bool // destroyed before the threads began
	serial  int
	threads int
	refused int
	noticed int // calls that panicked because of a Refresh
	misused bool
}

// begin makes the run's store, with that much room and chunks that begin with two values.
func (w *world) begin(o Options[val], room int) {
	o.Origin = 101
	s, err := build(&o, 1)
	if err != nil {
		panic(err)
	}
	s.Reserve(room)
	w.s, w.ids, w.killed, w.stale = s, map[valHandle]int{}, map[valHandle]int{}, map[valHandle]bool{}
	w.r.Describe(w.name)
	w.r.Finally(w.finally)
}

// fill creates n values and refreshes.
func (w *world) fill(n int) (hs []valHandle) {
	for range n {
		hs = append(hs, w.create(nil))
	}
	w.s.Refresh()
	return hs
}

// thread adds a thread.
func (w *world) thread(body func(t *interleave.Thread)) {
	w.r.Go(string(rune('A'+w.threads)), 0, body)
	w.threads++
}

// refresh adds a thread that calls Refresh, which overlaps the calls of the others.
func (w *world) refresh() {
	w.misused = true
	w.thread(func(t *interleave.Thread) {
		t.Begin("Refresh")
		w.s.Refresh()
		t.End()
	})
}

// create creates a value and records it.
func (w *world) create(t *interleave.Thread) valHandle {
	w.serial++
	id := w.serial
	t.Begin("Create")
	h, err := w.s.Create(val{id, 2 * id})
	t.End()
	t.Notef("%v, %v", h, err)
	if err != nil {
		w.refused++
		if !errors.Is(err, pool.ErrFull) {
			w.r.Failf("Create: %v", err)
		}
		return 0
	}
	if _, issued := w.ids[h]; issued {
		w.r.Failf("%v was issued twice", h)
	}
	w.ids[h] = id
	return h
}

// kill kills h and records it.
func (w *world) kill(t *interleave.Thread, h valHandle) {
	t.Begin("Kill")
	ok := w.s.Kill(h)
	t.End()
	t.Notef("%v: %v", h, ok)
	if ok {
		w.killed[h]++
	}
	if w.killed[h] > 1 {
		w.r.Failf("%v was killed twice", h)
	}
	if _, known := w.ids[h]; ok && !known {
		w.r.Failf("%v was killed and never created", h)
	}
}

// get looks h up. A value that it finds must be whole, and h's.
func (w *world) get(t *interleave.Thread, h valHandle, must bool) {
	t.Begin("Get")
	v, ok := w.s.Get(h)
	t.End()
	t.Notef("%v: %v", h, ok)
	switch id, known := w.ids[h]; {
	case must && !ok:
		w.r.Failf("%v is lost", h)
	case ok && (v.id == 0 || v.twice != 2*v.id || known && v.id != id):
		w.r.Failf("%v shows %+v, want %d", h, *v, id)
	}
}

// noticing runs a call that a Refresh may overlap, and reports whether none did.
func (w *world) noticing(call func()) (alone bool) {
	defer func() {
		if v := recover(); v != nil {
			if text, ok := v.(string); !ok || !strings.HasPrefix(text, "dense: ") || !strings.Contains(text, "Refresh") {
				panic(v)
			}
			w.noticed++
			alone = false
		}
	}()
	call()
	return true
}

// then checks more at the end.
func (w *world) then(check func() error) {
	w.r.Finally(func() error { return errors.Join(check(), w.finally()) })
}

// finally checks, with hooks off, that the store is sound.
func (w *world) finally() error {
	if w.misused && w.noticed > 0 {
		// Its contents are of no use after an overlap, but its calls must not fault.
		w.s.Refresh()
		if _, err := w.s.Create(val{}); err != nil {
			return err
		}
		w.s.Refresh()
		return nil
	}
	if err := Check(w.s); err != nil {
		return err
	}
	for h, id := range w.ids {
		if v, ok := w.s.Get(h); ok && v.id != id {
			return fmt.Errorf("%v shows %+v, want %d", h, *v, id)
		} else if !ok && w.killed[h] == 0 {
			return fmt.Errorf("%v is lost", h)
		}
		if st := w.s.State(h); w.killed[h] > 0 && st == Alive {
			return fmt.Errorf("%v was killed, and is alive", h)
		}
	}
	w.s.Refresh()
	if err := Check(w.s); err != nil {
		return err
	}
	if want := len(w.ids) - len(w.killed); w.s.Len() != want {
		return fmt.Errorf("%d values are left of %d, want %d", w.s.Len(), len(w.ids), want)
	}
	for h, v := range w.s.All() {
		if v.id != w.ids[h] || w.killed[h] > 0 {
			return fmt.Errorf("%v, killed %d times, shows %+v, want %d", h, w.killed[h], *v, w.ids[h])
		}
	}
	return nil
}

// name names the shared words in the printed interleaving.
func (w *world) name(p unsafe.Pointer) (string, func(uint64) string) {
	d := w.s.room.Load()
	switch p {
	case unsafe.Pointer(&w.s.phase):
		return "phase", nil
	case unsafe.Pointer(&w.s.tail):
		return "tail", nil
	case unsafe.Pointer(&w.s.room):
		return "room", nil
	case unsafe.Pointer(&d.mu):
		return "mu", nil
	}
	for k := range d.chunks {
		if p == unsafe.Pointer(&d.chunks[k]) {
			return fmt.Sprintf("chunk %d", k), nil
		}
	}
	for first, c := range d.parts(w.s.used() + 8) {
		for i := range c.slots {
			if p == unsafe.Pointer(&c.slots[i].generation) {
				return fmt.Sprintf("slot %d", first+i), nil
			}
		}
		for l := range c.dead.depth {
			for i := range c.dead.levels[l] {
				if p == unsafe.Pointer(&c.dead.levels[l][i]) {
					return fmt.Sprintf("marks from %d, level %d, %d", first, l, i), func(v uint64) string { return fmt.Sprintf("%#x", v) }
				}
			}
		}
	}
	return "", nil
}

type scenario struct {
	name  string
	setup func(w *world)
}

var scenarios = []scenario{
	{"two creators grow into chunks", func(w *world) {
		w.begin(Options[val]{}, 1)
		for range 2 {
			w.thread(func(t *interleave.Thread) {
				w.get(t, w.create(t), true)
				w.get(t, w.create(t), true)
			})
		}
	}},
	{"three creators and one chunk", func(w *world) {
		w.begin(Options[val]{}, 0)
		for range 3 {
			w.thread(func(t *interleave.Thread) { w.get(t, w.create(t), true) })
		}
	}},
	{"creators at the limit", func(w *world) {
		w.begin(Options[val]{Capacity: 3}, 3)
		w.fill(1)
		for range 3 {
			w.thread(func(t *interleave.Thread) {
				w.create(t)
				w.create(t)
			})
		}
		w.then(func() error {
			if len(w.ids) != 3 || w.refused != 4 {
				return fmt.Errorf("%d were created and %d refused", len(w.ids), w.refused)
			}
			return nil
		})
	}},
	{"two killers of one value", func(w *world) {
		w.begin(Options[val]{}, 0)
		hs := w.fill(3)
		for range 2 {
			w.thread(func(t *interleave.Thread) {
				w.kill(t, hs[1])
				w.kill(t, hs[2])
			})
		}
		w.then(func() error {
			if len(w.killed) != 2 {
				return fmt.Errorf("%d were killed", len(w.killed))
			}
			return nil
		})
	}},
	{"marks of neighbours and of others, three levels of them", func(w *world) {
		m := makeMarks(64*64 + 2)
		added := map[int]int{}
		for _, positions := range [][]int{{0, 64 * 64, 1}, {1, 64, 0}, {2, 64*64 + 1}} {
			w.thread(func(t *interleave.Thread) {
				for _, i := range positions {
					t.Begin("add")
					if m.add(i) {
						added[i]++
					}
					t.End()
				}
			})
		}
		w.r.Finally(func() error {
			n := 0
			for i := range m.all {
				if added[i] != 1 {
					return fmt.Errorf("%d was new to %d", i, added[i])
				}
				n++
			}
			if n != 6 || len(added) != 6 {
				return fmt.Errorf("%d were added, %d are found", len(added), n)
			}
			return nil
		})
	}},
	{"a killer and a reader", func(w *world) {
		w.begin(Options[val]{}, 0)
		hs := w.fill(2)
		w.thread(func(t *interleave.Thread) { w.kill(t, hs[0]) })
		w.thread(func(t *interleave.Thread) {
			was := Alive
			for range 3 {
				t.Begin("State")
				st := w.s.State(hs[0])
				t.End()
				if st < was {
					w.r.Failf("%v became %v", was, st)
				}
				was = st
				w.get(t, hs[0], true)
			}
		})
	}},
	{"a slot is reused, looked up by its old handle and by a guess at its next", func(w *world) {
		w.begin(Options[val]{}, 0)
		hs := w.fill(3)
		w.kill(nil, hs[0])
		w.s.Refresh() // the others close up, so the slot has another position next
		next := hs[0] + 2<<32
		id := w.serial + 1
		w.thread(func(t *interleave.Thread) { w.create(t) })
		w.thread(func(t *interleave.Thread) {
			t.Begin("Get")
			_, ok := w.s.Get(hs[0])
			t.End()
			if ok {
				w.r.Failf("stale handle %v lives", hs[0])
			}
			for range 2 {
				t.Begin("Get")
				v, ok := w.s.Get(next)
				t.End()
				if ok && *v != (val{id, 2 * id}) {
					w.r.Failf("%v shows %+v, want %d", next, *v, id)
				}
			}
		})
		w.thread(func(t *interleave.Thread) { w.kill(t, hs[0]); w.get(t, hs[1], true) })
	}},
	{"Refresh over look-ups", func(w *world) {
		w.begin(Options[val]{}, 0)
		hs := w.fill(3)
		w.kill(nil, hs[0])
		w.thread(func(t *interleave.Thread) {
			w.noticing(func() { w.get(t, hs[1], true) })
			w.noticing(func() { w.get(t, hs[2], true) })
		})
		w.refresh()
	}},
	{"Refresh over a killer", func(w *world) {
		w.begin(Options[val]{}, 0)
		hs := w.fill(3)
		w.kill(nil, hs[0])
		// Refresh moves the last value to a position without a mark.
		w.thread(func(t *interleave.Thread) { w.noticing(func() { w.kill(t, hs[2]) }) })
		w.refresh()
	}},
	{"Refresh over a killer of what it destroys", func(w *world) {
		w.begin(Options[val]{}, 0)
		hs := w.fill(1)
		w.kill(nil, hs[0])
		w.thread(func(t *interleave.Thread) {
			w.noticing(func() {
				t.Begin("Kill")
				defer t.End()
				if w.s.Kill(hs[0]) {
					w.r.Failf("%v was killed twice", hs[0])
				}
			})
		})
		w.refresh()
	}},
	{"Refresh over a creator that needs a chunk", func(w *world) {
		w.begin(Options[val]{}, 1)
		hs := w.fill(1)
		w.kill(nil, hs[0])
		w.create(nil)
		w.thread(func(t *interleave.Thread) { w.noticing(func() { w.create(t) }) })
		w.refresh()
	}},
	{"two Refreshes", func(w *world) {
		w.begin(Options[val]{}, 0)
		hs := w.fill(3)
		w.kill(nil, hs[1])
		w.create(nil)
		destroyed, alone := 0, 0
		for range 2 {
			w.thread(func(t *interleave.Thread) {
				w.noticing(func() {
					t.Begin("Refresh")
					_, n := w.s.Refresh()
					t.End()
					destroyed += n
					alone++
				})
			})
		}
		w.then(func() error {
			if destroyed != 1 || alone == 0 {
				return fmt.Errorf("%d were destroyed by %d", destroyed, alone)
			}
			return nil
		})
	}},
}

// These tests run the exported methods under all schedules with a few preemptions:
//
//	go test -tags interleave -run Interleave -v ./pool/dense -interleave.bound 3
//
// A failure prints the interleaving and its schedule, which -interleave.replay repeats.
func TestInterleave(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			noticed, clean := 0, 0
			setup := func(r *interleave.Run) {
				w := &world{r: r}
				s.setup(w)
				if w.misused {
					r.Finally(func() error {
						if w.noticed > 0 {
							noticed++
						} else {
							clean++
						}
						return w.finally()
					})
				}
			}
			testkit.Explore(t, setup, false, testkit.Preemptions(2))
			if strings.HasPrefix(s.name, "Refresh over") && (noticed == 0 || clean == 0) {
				t.Fatalf("%d runs had an overlap, %d had none: the scenario shows nothing", noticed, clean)
			}
		})
	}
}
