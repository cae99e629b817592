//go:build !race

package command_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/command"
)

// model is a model of a pool.
type model struct {
	pool  *pool.Pool[value]
	live  map[handle]uint64 // the id of the value
	past  map[handle]bool   // every handle that was ever shown
	full  int               // Capacity, or 0
	held  int               // reserved by buffers
	reset map[uint64]int    // how often each id was Reset; nil if the pool has no Reset
	kept  int               // ids that are never Reset: moved out by ApplyFunc
}

// recorded is the model of one Buffer.
type recorded struct {
	m          *model
	b          *buffer
	insertions []handle
	ids        []uint64
	removals   []handle
	functions  []function
}

// function is a function given to Do behind so many removals.
type function struct{ id, behind int }

// late is the id of functions that are recorded by user code.
const late = -1

// machine runs operations on pools with buffers and on models of them. A fuzzer or a
// generator feeds its choices through choose.
type machine struct {
	t       testing.TB
	choose  func(n int) int // 0 ≤ choice < n
	models  []*model
	buffers []*recorded
	known   []handle // to choose from, live or not
	lastID  uint64
	done    map[string]int

	// What an Apply did.
	called []int
	told   []told

	// What user code does in an Apply or a Discard: see meddle.
	fuse int       // the call that does it, or 0
	way  int       // whether it panics, exits or returns
	to   *recorded // where it records late
	late handle    // a removal, 0 until then; a function comes behind it
}

// machineConfigs returns the options of the pools.
func machineConfigs() (all []pool.Options[value]) {
	for _, reuse := range testkit.Reuses {
		for _, capacity := range []int{0, 1, 5, 40} {
			for _, origin := range []uint32{0, 1, testkit.LastGeneration - 10} {
				if capacity == 0 && origin > 1 {
					origin = testkit.LastGeneration - 40
				}
				o := pool.Options[value]{Reuse: reuse, Capacity: capacity, Origin: origin, Shards: 1 + len(all)%2}
				all = append(all, o)
			}
		}
	}
	return all
}

// newMachine makes buffers for two pools, the second with default options and no Reset.
func newMachine(t testing.TB, o pool.Options[value], choose func(int) int) *machine {
	mc := &machine{t: t, choose: choose, done: map[string]int{}}
	resets := map[uint64]int{}
	o.Reset = func(v *value) {
		resets[v.number()]++
		*v = value{}
	}
	o.OnRemove = func(handle, *value) { mc.meddle("OnRemove") }
	for i, o := range []pool.Options[value]{o, {}} {
		m := &model{pool: pool.Must(&o), live: map[handle]uint64{}, past: map[handle]bool{}, full: o.Capacity}
		mc.models = append(mc.models, m)
		for range []int{3, 1}[i] {
			mc.buffers = append(mc.buffers, &recorded{m: m, b: command.New(m.pool)})
		}
	}
	mc.models[0].reset = resets
	return mc
}

func (mc *machine) fatalf(format string, args ...any) {
	mc.t.Helper()
	for i, m := range mc.models {
		mc.t.Logf("pool %d: %d live, %d reserved, Capacity %d; %+v", i, len(m.live), m.held, m.full, m.pool.Stats())
	}
	for i, b := range mc.buffers {
		mc.t.Logf("buffer %d: insertions %v, removals %v", i, b.insertions, b.removals)
	}
	mc.t.Fatalf(format, args...)
}

// any chooses a handle: usually a young one, which often lives or waits.
func (mc *machine) any() handle {
	if len(mc.known) == 0 || mc.choose(8) == 0 {
		return handle(uint64(mc.choose(4))<<33 | 1<<32 | uint64(mc.choose(8)))
	}
	return mc.known[len(mc.known)-1-mc.choose(min(len(mc.known), 16))]
}

// issue checks a handle that was returned for the first time.
func (mc *machine) issue(m *model, h handle) {
	mc.t.Helper()
	if h == 0 || h.Generation()%2 == 0 || m.past[h] || m.pool.Contains(h) {
		mc.fatalf("handle %v was issued; before: %v; live: %v", h, m.past[h], m.pool.Contains(h))
	}
	m.past[h] = true
	mc.known = append(mc.known, h)
}

// refused checks an error: there must be no free slot.
func (mc *machine) refused(m *model, err error) {
	mc.t.Helper()
	used := len(m.live) + m.held
	if !errors.Is(err, pool.ErrFull) || m.full == 0 || used < m.full {
		mc.fatalf("%v, with %d slots in use", err, used)
	}
	mc.done["refused"]++
}

// step runs one operation.
func (mc *machine) step() {
	r, m, h := mc.buffers[mc.choose(4)], mc.models[mc.choose(2)], mc.any()
	mc.lastID++
	switch mc.choose(14) {
	case 0, 1, 2:
		mc.insert(r)
	case 3:
		mc.insertFunc(r, mc.choose(6))
	case 4, 5, 6:
		r.remove(h)
	case 7:
		var rs []*recorded
		for range mc.choose(7) { // some of the buffers, in any order, and any of them twice
			rs = append(rs, mc.buffers[mc.choose(4)])
		}
		mc.apply(rs, mc.choose(2) == 0)
	case 8:
		mc.discard(r)
	case 9: // by others
		if _, live := m.live[h]; m.pool.Remove(h) != live {
			mc.fatalf("Remove(%v) by others; live was %v", h, live)
		}
		delete(m.live, h)
	case 10: // by others
		h, err := m.pool.Insert(valueOf(mc.lastID))
		if err != nil {
			mc.refused(m, err)
			return
		}
		m.past[h], m.live[h] = true, mc.lastID
		mc.known = append(mc.known, h)
	case 11:
		mc.look(r, mc.choose(4) == 0)
	case 12: // enough for a batch of the pool's, so that Resets run in later insertions
		for range mc.choose(200) {
			mc.lastID++
			if h := mc.insert(r); h != 0 && mc.choose(2) == 0 {
				r.remove(h)
			}
			if mc.choose(20) == 0 {
				mc.do(r)
			}
		}
	case 13:
		mc.do(r)
	}
}

func (r *recorded) remove(h handle) {
	r.b.Remove(h)
	r.removals = append(r.removals, h)
}

func (mc *machine) do(r *recorded) {
	f := function{int(mc.lastID), len(r.removals)}
	r.b.Do(func() {
		mc.called = append(mc.called, f.id)
		mc.meddle("Do")
	})
	r.functions = append(r.functions, f)
}

func (mc *machine) insert(r *recorded) handle {
	mc.t.Helper()
	h, err := r.b.Insert(valueOf(mc.lastID))
	mc.record(r, h, err)
	return h
}

// record notes an insertion that was recorded with the last id.
func (mc *machine) record(r *recorded, h handle, err error) {
	mc.t.Helper()
	if err != nil {
		mc.refused(r.m, err)
		return
	}
	mc.issue(r.m, h)
	r.m.held++
	r.insertions, r.ids = append(r.insertions, h), append(r.ids, mc.lastID)
	mc.done["recorded"]++
}

// insertFunc builds a value. Of six ways, one panics in init, and one ends its goroutine.
func (mc *machine) insertFunc(r *recorded, way int) {
	var shown, h handle
	var err error
	v := testkit.Apart(func() {
		h, err = r.b.InsertFunc(func(h handle, v *value) {
			if v.number() != 0 {
				mc.t.Errorf("init of %v meets value %d", h, v.number())
			}
			*v, shown = valueOf(mc.lastID), h
			switch way {
			case 0:
				panic("ouch")
			case 1:
				runtime.Goexit()
			}
		})
	})
	switch {
	case way < 2 && shown != 0:
		if (v == "ouch") != (way == 0) {
			mc.fatalf("init fails, and the caller gets %v", v)
		}
		mc.issue(r.m, shown) // must never live
		mc.done["init fails"]++
	case h != shown:
		mc.fatalf("InsertFunc: %v, init was shown %v", h, shown)
	default:
		mc.record(r, h, err)
	}
}

// meddle is called by user code that an Apply or a Discard calls. Once in each of them it
// records a removal and a function, and may then panic or exit.
func (mc *machine) meddle(where string) {
	if mc.fuse == 0 {
		return
	}
	if mc.fuse--; mc.fuse > 0 {
		return
	}
	mc.late = mc.any()
	mc.to.b.Remove(mc.late)
	mc.to.b.Do(func() { mc.called = append(mc.called, late) })
	mc.done[where]++
	switch mc.way {
	case 0:
		panic("ouch")
	case 1:
		runtime.Goexit()
	}
}

// meddled calls f, during which user code may meddle, and reports whether f returned. The
// caller must then call recordLate.
func (mc *machine) meddled(f func()) (returned bool) {
	mc.t.Helper()
	mc.fuse, mc.way, mc.to, mc.late = mc.choose(8), mc.choose(3), mc.buffers[mc.choose(4)], 0
	v := testkit.Apart(func() {
		f()
		returned = true
	})
	failed := mc.late != 0 && mc.way < 2
	if returned == failed || (v == "ouch") != (failed && mc.way == 0) {
		mc.fatalf("user code failed: %v; the caller got %v, returned: %v", failed, v, returned)
	}
	mc.fuse = 0
	return returned
}

// recordLate notes what meddle has recorded, behind what is recorded already.
func (mc *machine) recordLate() {
	if mc.late != 0 {
		mc.to.removals = append(mc.to.removals, mc.late)
		mc.to.functions = append(mc.to.functions, function{late, len(mc.to.removals)})
	}
}

// discard discards a buffer. It calls no code of the user, so it always returns, and nothing is left.
func (mc *machine) discard(r *recorded) {
	n := 0
	returned := mc.meddled(func() { n = r.b.Discard() })
	left, _ := command.Recorded(r.b)
	if want := len(r.insertions) + len(r.removals) + len(r.functions); n != want || left > 0 || !returned {
		mc.fatalf("Discard: %d commands; want %d; %d are left; returned: %v", n, want, left, returned)
	}
	gone := len(r.insertions)
	r.insertions, r.ids, r.removals, r.functions = nil, nil, nil, nil
	r.m.held -= gone
	mc.done["Discard"] += gone
	mc.recordLate()
	mc.all()
}

// told is a value that an ApplyFunc has told of.
type told struct {
	h  handle
	id uint64
}

// apply applies buffers by Apply or by ApplyFunc, or a single one by its method, and compares the
// results, and what is live, with the model.
func (mc *machine) apply(rs []*recorded, tells bool) {
	mc.t.Helper()
	var bs []*buffer
	for _, r := range rs {
		bs = append(bs, r.b)
	}
	i, n := 0, 0
	mc.called, mc.told = nil, nil
	returned := mc.meddled(func() {
		tell := func(h handle, v value) {
			mc.told = append(mc.told, told{h, v.number()})
			mc.meddle("told")
		}
		switch single := len(bs) == 1; {
		case single && tells:
			i, n = bs[0].ApplyFunc(tell)
		case single:
			i, n = bs[0].Apply()
		case tells:
			i, n = command.ApplyFunc(tell, bs...)
		default:
			i, n = command.Apply(bs...)
		}
		mc.done[fmt.Sprintf("single: %v, tells: %v", len(bs) == 1, tells)]++
	})
	inserted := 0
	for _, r := range rs {
		for i, h := range r.insertions {
			r.m.live[h] = r.ids[i]
		}
		inserted += len(r.insertions)
		r.m.held -= len(r.insertions)
		r.insertions, r.ids = nil, nil // it may be given twice
	}
	removed := mc.remove(rs, tells, returned)
	if returned && (i != inserted || n != removed) {
		mc.fatalf("Apply: %d inserted, %d removed; want %d, %d", i, n, inserted, removed)
	}
	mc.done["inserted"] += inserted
	mc.done["removed"] += removed
	mc.recordLate()
	mc.all()
}

// remove does in the model the removals that an Apply made, and returns how many; the pool
// tells which. It must have made all, and called all functions, unless user code failed. Then
// the others are recorded again: in the list that was interrupted, what follows the last
// function that was called, or of these removals those of values that live; and all in the
// lists behind.
func (mc *machine) remove(rs []*recorded, tells, returned bool) (removed int) {
	interrupted := false
	var called []int
	var gone []told
	for _, r := range rs {
		removals, behind := command.Waiting(r.b)
		if last := len(behind) - 1; r == mc.to && mc.late != 0 && last >= 0 { // what was recorded meanwhile comes last
			if behind[last] != len(removals) {
				mc.fatalf("a late function waits behind %d removals, want %d", behind[last], len(removals))
			}
			removals, behind = removals[:len(removals)-1], behind[:last]
		}
		before := len(gone)
		for _, h := range r.removals {
			if id, live := r.m.live[h]; live && !r.m.pool.Contains(h) {
				delete(r.m.live, h)
				gone = append(gone, told{h, id})
				if tells && r.m.reset != nil {
					r.m.kept++
				}
			}
		}
		n := len(r.functions) - len(behind) // called
		from, to := 0, len(r.removals)
		for i, f := range r.functions {
			switch {
			case i < n:
				called = append(called, f.id)
				from = f.behind
			case i == n:
				to = f.behind
			}
		}
		var living []handle
		for _, h := range r.removals[from:to] {
			if _, live := r.m.live[h]; live {
				living = append(living, h)
			}
		}
		short := slices.Concat(living, r.removals[to:])
		switch at := len(r.removals) - len(removals); {
		case interrupted && (len(gone) > before || n > 0 || at > 0):
			mc.fatalf("%v, and %d functions, were done after a failure", gone[before:], n)
		case tells && (at < from || at > to || !slices.Equal(removals, r.removals[at:])),
			!tells && !slices.Equal(removals, short) && !slices.Equal(removals, r.removals[from:]):
			mc.fatalf("%v are recorded again of %v, behind %d functions, after %v were removed", removals, r.removals, n, gone)
		}
		moved := len(r.removals) - len(removals)
		r.functions = slices.Clone(r.functions[n:])
		for i := range r.functions {
			r.functions[i].behind -= moved
			if behind[i] != r.functions[i].behind {
				mc.fatalf("function %d waits behind %d removals, want %d", r.functions[i].id, behind[i], r.functions[i].behind)
			}
		}
		r.removals = removals
		interrupted = interrupted || len(removals)+len(behind) > 0
		if returned && interrupted {
			mc.fatalf("removals %v and functions behind %v were not done", removals, behind)
		}
	}
	if !slices.Equal(mc.called, called) || tells && !slices.Equal(mc.told, gone) {
		mc.fatalf("functions %v were called, want %v; told %v, want %v", mc.called, called, mc.told, gone)
	}
	return len(gone)
}

// all checks every handle, every value and every command that waits.
func (mc *machine) all() {
	mc.t.Helper()
	for _, r := range mc.buffers {
		mc.look(r, false)
	}
	for i, m := range mc.models {
		n := 0
		for h, v := range m.pool.All() {
			n++
			if id, live := m.live[h]; !live || v.number() != id {
				mc.fatalf("pool %d has %v with value %d; want %d, live %v", i, h, v.number(), id, live)
			}
		}
		if reserved := m.pool.Stats().Reserved; n != len(m.live) || reserved != m.held {
			mc.fatalf("pool %d has %d values and %d reserved; want %d, %d", i, n, reserved, len(m.live), m.held)
		}
		for h := range m.past {
			if _, live := m.live[h]; m.pool.Contains(h) != live {
				mc.fatalf("pool %d contains %v: %v", i, h, !live)
			}
		}
	}
}

// look checks what waits. A loop visits what is recorded meanwhile.
func (mc *machine) look(r *recorded, meanwhile bool) {
	mc.t.Helper()
	if n, want := r.b.Len(), len(r.insertions)+len(r.removals)+len(r.functions); n != want {
		mc.fatalf("%d commands wait, want %d", n, want)
	}
	n := 0
	for h, v := range r.b.Insertions() {
		if h != r.insertions[n] || v.number() != r.ids[n] {
			mc.fatalf("insertion %d: %v with value %d, want %v with %d", n, h, v.number(), r.insertions[n], r.ids[n])
		}
		mc.lastID++
		*v, r.ids[n] = valueOf(mc.lastID), mc.lastID // edited
		if n++; n == 1 && meanwhile {
			r.remove(h)
			mc.lastID++
			mc.insert(r)
		}
	}
	if n != len(r.insertions) {
		mc.fatalf("%d insertions, want %v", n, r.insertions)
	}
	n = 0
	for h := range r.b.Removals() {
		if h != r.removals[n] {
			mc.fatalf("removal %d: %v, want %v", n, h, r.removals[n])
		}
		if n++; n == 1 && meanwhile {
			r.remove(h)
			mc.lastID++
			mc.insert(r)
		}
	}
	if n != len(r.removals) {
		mc.fatalf("%d removals, want %v", n, r.removals)
	}
}

// run runs steps while more returns true. Then it requires that no slot is lost, and that
// each value was Reset once.
func (mc *machine) run(more func() bool) {
	for more() {
		mc.step()
	}
	mc.apply(mc.buffers, false)
	for _, m := range mc.models {
		requireNoneLost(mc.t, m.pool)
		for id, n := range m.reset {
			require.Equalf(mc.t, 1, n, "times that value %d was Reset", id)
		}
		if m.reset != nil {
			require.Equal(mc.t, len(m.past), len(m.reset)+m.kept, "values, and those that were Reset or moved out")
		}
	}
}

func stream(t testing.TB, which int, choose func(n int) int, more func() bool) map[string]int {
	mc := newMachine(t, machineConfigs()[which], choose)
	mc.run(more)
	return mc.done
}

func TestOperationsMatchModel(t *testing.T) {
	testkit.MatchModel(t, len(machineConfigs()), testkit.Long(4), 400, stream, 1,
		"recorded", "init fails", "Discard", "inserted", "removed", "refused", "OnRemove", "Do", "told",
		"single: true, tells: true", "single: true, tells: false", "single: false, tells: true", "single: false, tells: false")
}

func FuzzOps(f *testing.F) { testkit.FuzzModel(f, len(machineConfigs()), 160, stream) }
