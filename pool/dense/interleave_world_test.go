//go:build interleave

package dense

import (
	"errors"
	"fmt"
	"strings"

	"coatcheck/internal/check/interleave"
	"coatcheck/pool"
)

// val is a value of the explored stores. It is torn unless twice is twice the id.
type val struct{ id, twice int }

type valHandle = pool.Handle[val]

// world is one run: a store and what its threads know about it.
type world struct {
	r       *interleave.Run
	s       *Store[val]
	names   map[string]valHandle
	ids     map[valHandle]int  // what was created
	guessed map[valHandle]int  // what Pointer showed for handles that were not created yet
	wanted  map[valHandle]bool // a Kill of it began while it was there
	killed  map[valHandle]bool
	stale   map[valHandle]bool // destroyed before the threads began
	serial  int
	threads int
	refused int

	callers    int // calls in threads, except for Refresh
	refreshers int // calls of Refresh in threads
	refreshed  int // those that returned
	destroyed  int // by Refreshes
	noticed    int // calls that panicked because of a Refresh
	late       int // those of them that had begun before it
}

func newWorld(r *interleave.Run) *world {
	return &world{
		r: r, names: map[string]valHandle{}, ids: map[valHandle]int{}, guessed: map[valHandle]int{},
		wanted: map[valHandle]bool{}, killed: map[valHandle]bool{}, stale: map[valHandle]bool{},
	}
}

// begin makes the run's store, with that much room and chunks that begin with two values.
func (w *world) begin(o Options[val], room int) {
	o.Origin = 101
	s, err := NewTiny(&o)
	if err != nil {
		panic(err)
	}
	s.Grow(room)
	w.s = s
}

// thread adds a thread.
func (w *world) thread(body func(t *interleave.Thread)) {
	w.r.Go(string(rune('A'+w.threads)), 0, body)
	w.threads++
}

// do makes the calls of a text, without a thread before the others begin.
func (w *world) do(t *interleave.Thread, text string) {
	for _, call := range strings.Split(text, "; ") {
		verb, name, _ := strings.Cut(call, " ")
		name, ahead := strings.CutSuffix(name, "+")
		h := w.names[name]
		must := h != 0 && !ahead && !w.stale[h]
		if ahead && h != 0 {
			h += 2 << 32
		}
		switch {
		case verb == "Create":
			w.call(t, verb, func() { w.names[name] = w.create(t) })
		case verb == "CreateFunc":
			w.call(t, verb, func() { w.names[name] = w.createFunc(t, false) })
		case verb == "Fail":
			w.call(t, verb, func() { w.createFunc(t, true) })
		case verb == "Refresh":
			w.call(t, verb, func() { w.refresh(t) })
		case h == 0:
		case verb == "Kill":
			w.call(t, verb, func() { w.kill(t, h, must) })
		case verb == "Pointer":
			w.call(t, verb, func() { w.get(t, h, must) })
		case verb == "State":
			w.call(t, verb, func() { w.state(t, h, must) })
		default:
			w.call(t, verb, func() { looks[verb](w.s, h) })
		}
	}
}

// looks are further calls. All that the threads know of them is that they notice a Refresh.
var looks = map[string]func(s *Store[val], h valHandle){
	"Alive":      func(s *Store[val], h valHandle) { s.Alive(h) },
	"All":        func(s *Store[val], _ valHandle) { s.All()(func(valHandle, *val) bool { return true }) },
	"Allocated":  func(s *Store[val], _ valHandle) { s.Allocated() },
	"Cap":        func(s *Store[val], _ valHandle) { s.Cap() },
	"DeleteFunc": func(s *Store[val], _ valHandle) { s.DeleteFunc(func(valHandle, *val) bool { return false }) },
	"Get":        func(s *Store[val], h valHandle) { s.Get(h) },
	"Handles":    func(s *Store[val], _ valHandle) { s.Handles() },
	"Len":        func(s *Store[val], _ valHandle) { s.Len() },
	"Ptr":        func(s *Store[val], h valHandle) { s.Ptr(h) },
	"Values":     func(s *Store[val], _ valHandle) { s.Values() },
}

// call makes a call, which may notice a Refresh that it overlaps, if there is one.
func (w *world) call(t *interleave.Thread, verb string, f func()) {
	if w.refreshers > 0 {
		defer func() {
			t.End()
			v := recover()
			if text, _ := v.(string); strings.HasPrefix(text, "dense: ") && strings.Contains(text, "Refresh") {
				w.noticed++
				if strings.Contains(text, "was called during "+verb+",") {
					w.late++
				}
			} else if v != nil {
				panic(v)
			}
		}()
	}
	t.Begin(verb)
	f()
	t.End()
}

func (w *world) create(t *interleave.Thread) valHandle {
	w.serial++
	id := w.serial
	h, err := w.s.Create(val{id, 2 * id})
	return w.created(t, id, h, err)
}

// createFunc calls CreateFunc with an init that builds the value in two steps, or panics between
// them. Meanwhile the handle names nothing.
func (w *world) createFunc(t *interleave.Thread, fail bool) valHandle {
	w.serial++
	id := w.serial
	errInit := errors.New("init fails")
	defer func() {
		if fail {
			if v := recover(); v != errInit {
				w.r.Failf("CreateFunc panicked with %v, want what init did", v)
			}
		}
	}()
	h, err := w.s.CreateFunc(func(h valHandle, v *val) {
		if *v != (val{}) {
			w.r.Failf("init gets %+v", *v)
		}
		v.id = id
		if _, ok := w.s.Pointer(h); ok || w.s.Kill(h) {
			w.r.Failf("%v is live in its init", h)
		}
		if fail {
			panic(errInit)
		}
		v.twice = 2 * id
	})
	return w.created(t, id, h, err)
}

// created notes the result of a call that creates a value.
func (w *world) created(t *interleave.Thread, id int, h valHandle, err error) valHandle {
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

// refresh calls Refresh. Before the threads begin, what is destroyed by it is stale.
func (w *world) refresh(t *interleave.Thread) {
	_, n := w.s.Refresh()
	w.destroyed += n
	if t != nil {
		w.refreshed++
		return
	}
	for h := range w.killed {
		w.stale[h] = true
	}
}

func (w *world) kill(t *interleave.Thread, h valHandle, there bool) {
	w.wanted[h] = w.wanted[h] || there
	ok := w.s.Kill(h)
	t.Notef("%v: %v", h, ok)
	if !ok {
		return
	}
	if _, known := w.ids[h]; w.killed[h] || !known {
		w.r.Failf("%v was killed, before: %v, created: %v", h, w.killed[h], known)
	}
	w.killed[h] = true
}

// get looks h up. A value that it finds must be whole, and h's.
func (w *world) get(t *interleave.Thread, h valHandle, must bool) {
	v, ok := w.s.Pointer(h)
	t.Notef("%v: %v", h, ok)
	switch id, known := w.ids[h]; {
	case must && !ok:
		w.r.Failf("%v is lost", h)
	case ok && (v.id == 0 || v.twice != 2*v.id || known && v.id != id || w.stale[h]):
		w.r.Failf("%v shows %+v, want %d; is it stale: %v", h, *v, id, w.stale[h])
	case ok && !known:
		w.guessed[h] = v.id
	}
}

// state looks up the state of h, which is dead if it was before.
func (w *world) state(t *interleave.Thread, h valHandle, must bool) {
	dead := w.killed[h]
	st := w.s.State(h)
	t.Notef("%v: %v", h, st)
	if (st != Unused) != must || must && dead && st != Dead {
		w.r.Failf("%v is %v, killed before: %v", h, st, dead)
	}
}

// finally checks, with hooks off, that the store is sound.
func (w *world) finally() error {
	if w.refreshers > 0 && w.refreshed == 0 {
		return errors.New("no Refresh was done")
	}
	if w.callers > 0 && w.noticed > 0 {
		// Its contents are of no use after an overlap, but its calls must not fault.
		w.s.Refresh()
		if _, err := w.s.Create(val{}); err != nil && !errors.Is(err, pool.ErrFull) {
			return err
		}
		w.s.Refresh()
		return nil
	}
	if err := Check(w.s); err != nil {
		return err
	}
	if n := len(w.ids) - w.destroyed; w.refused > 0 && w.refreshers == 0 && n != w.s.Cap() {
		return fmt.Errorf("%d were refused, with %d values of %d", w.refused, n, w.s.Cap())
	}
	for h, id := range w.guessed {
		if w.ids[h] != id {
			return fmt.Errorf("%v showed %d, and was created as %d", h, id, w.ids[h])
		}
	}
	for h, id := range w.ids {
		if v, ok := w.s.Pointer(h); ok && v.id != id {
			return fmt.Errorf("%v shows %+v, want %d", h, *v, id)
		} else if !ok && !w.killed[h] {
			return fmt.Errorf("%v is lost", h)
		}
		if st := w.s.State(h); w.killed[h] && st == Alive {
			return fmt.Errorf("%v was killed, and is alive", h)
		}
		if w.wanted[h] && !w.killed[h] {
			return fmt.Errorf("%v ended, and was not killed", h)
		}
	}
	if w.refresh(nil); w.destroyed != len(w.killed) {
		return fmt.Errorf("%d were destroyed of %d", w.destroyed, len(w.killed))
	}
	return Check(w.s)
}
