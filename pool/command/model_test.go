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
	kept  int               // ids that are never Reset: moved out to an onRemove
}

// recorded is the model of one Buffer.
type recorded struct {
	m          *model
	b          *buffer
	insertions []handle
	ids        []uint64
	removals   []handle
}

func (r *recorded) empty() { r.insertions, r.ids, r.removals = nil, nil, nil }

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
				if reuse == pool.FIFO {
					o.MinFree = 1
				}
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
	o.Reset = func(v *value) { resets[v.number()]++; *v = value{} }
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
	text := fmt.Sprintf(format, args...)
	for i, m := range mc.models {
		text += fmt.Sprintf("\npool %d: %d live, %d reserved, Capacity %d; %+v", i, len(m.live), m.held, m.full, m.pool.Stats())
	}
	for i, b := range mc.buffers {
		text += fmt.Sprintf("\nbuffer %d: insertions %v, removals %v", i, b.insertions, b.removals)
	}
	mc.t.Fatal(text)
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
	used := len(m.live) + m.held + m.pool.Stats().Exhausted
	if !errors.Is(err, pool.ErrFull) || m.full == 0 || !errors.Is(err, pool.ErrExhausted) && used < m.full {
		mc.fatalf("%v, with %d slots in use", err, used)
	}
	mc.done["refused"]++
}

// step runs one operation.
func (mc *machine) step() {
	r, m, h := mc.buffers[mc.choose(4)], mc.models[mc.choose(2)], mc.any()
	mc.lastID++
	switch mc.choose(12) {
	case 0, 1, 2:
		h, err := r.b.Insert(valueOf(mc.lastID))
		mc.record(r, h, err)
	case 3:
		mc.insertFunc(r, mc.choose(6))
	case 4, 5, 6:
		r.b.Remove(h)
		r.removals = append(r.removals, h)
	case 7:
		var rs []*recorded
		for range mc.choose(7) { // some of the buffers, in any order, and any of them twice
			rs = append(rs, mc.buffers[mc.choose(4)])
		}
		mc.apply(rs, mc.choose(4))
	case 8:
		if n, want := r.b.Discard(), len(r.insertions)+len(r.removals); n != want {
			mc.fatalf("Discard: %d commands; want %d", n, want)
		}
		r.m.held -= len(r.insertions)
		mc.done["Discard"] += len(r.insertions)
		r.empty()
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
		mc.look(r)
	}
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
	v := apart(func() {
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

// removal is a removal that takes effect.
type removal struct {
	h  handle
	id uint64
}

// expect does in the model what an Apply must do.
func (mc *machine) expect(rs []*recorded, toldRemovals bool) (inserted []handle, removed []removal) {
	for _, r := range rs {
		for i, h := range r.insertions {
			r.m.live[h] = r.ids[i]
		}
		inserted = append(inserted, r.insertions...)
		r.m.held -= len(r.insertions)
		r.insertions = nil // it may be given twice
	}
	for _, r := range rs {
		for _, h := range r.removals {
			if id, live := r.m.live[h]; live {
				delete(r.m.live, h)
				removed = append(removed, removal{h, id})
				if toldRemovals {
					r.m.kept++
				}
			}
		}
		r.empty()
	}
	return inserted, removed
}

// apply applies buffers by Apply, or by ApplyFunc with one function or both, and compares
// the results, and what is live, with the model.
func (mc *machine) apply(rs []*recorded, functions int) {
	mc.t.Helper()
	wantInserted, wantRemoved := mc.expect(rs, functions&2 != 0)
	var onInsert func(handle)
	var onRemove func(handle, value)
	var toldInserted []handle
	var toldRemoved []removal
	if functions&1 != 0 {
		onInsert = func(h handle) {
			toldInserted = append(toldInserted, h)
			if len(toldRemoved) > 0 {
				mc.fatalf("a removal is told before the insertion of %v", h)
			}
		}
	}
	if functions&2 != 0 {
		onRemove = func(h handle, v value) { toldRemoved = append(toldRemoved, removal{h, v.number()}) }
	}
	var bs []*buffer
	for _, r := range rs {
		bs = append(bs, r.b)
	}
	if i, n := command.ApplyFunc(onInsert, onRemove, bs...); i != len(wantInserted) || n != len(wantRemoved) {
		mc.fatalf("Apply: %d inserted, %d removed; want %v, %v", i, n, wantInserted, wantRemoved)
	}
	if onInsert != nil && !slices.Equal(toldInserted, wantInserted) || onRemove != nil && !slices.Equal(toldRemoved, wantRemoved) {
		mc.fatalf("ApplyFunc told %v, %v; want %v, %v", toldInserted, toldRemoved, wantInserted, wantRemoved)
	}
	mc.done["inserted"] += len(wantInserted)
	mc.done["removed"] += len(wantRemoved)
	mc.all()
}

// all checks every handle and every value.
func (mc *machine) all() {
	mc.t.Helper()
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

// look checks Len, Insertions and Removals. A loop over either visits what is recorded
// meanwhile.
func (mc *machine) look(r *recorded) {
	mc.t.Helper()
	requireLen(mc.t, r.b, len(r.insertions), len(r.removals))
	n := 0
	for h, v := range r.b.Insertions() {
		if h != r.insertions[n] || v.number() != r.ids[n] {
			mc.fatalf("insertion %d: %v with value %d; want %v with %d", n, h, v.number(), r.insertions[n], r.ids[n])
		}
		if n++; n == 1 && mc.choose(4) == 0 {
			r.b.Remove(h)
			r.removals = append(r.removals, h)
			h, err := r.b.Insert(valueOf(mc.lastID))
			mc.record(r, h, err)
		}
	}
	if hs := slices.Collect(r.b.Removals()); n != len(r.insertions) || !slices.Equal(hs, r.removals) {
		mc.fatalf("%d insertions, removals %v; want %d, %v", n, hs, len(r.insertions), r.removals)
	}
}

// run runs steps while more returns true. Then it requires that no slot is lost, and that
// each value was Reset once.
func (mc *machine) run(more func() bool) {
	for more() {
		mc.step()
	}
	mc.apply(mc.buffers, 0)
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

// TestOperationsMatchModel runs generated streams.
func TestOperationsMatchModel(t *testing.T) {
	rnd := testkit.Rand(t)
	done := map[string]int{}
	for _, o := range machineConfigs() {
		t.Run(fmt.Sprintf("%v/capacity=%d/origin=%d", o.Reuse, o.Capacity, o.Origin), func(t *testing.T) {
			for range long(4) {
				mc := newMachine(t, o, rnd.IntN)
				n := 400
				mc.run(func() bool { n--; return n >= 0 })
				for what, times := range mc.done {
					done[what] += times
				}
			}
		})
	}
	for _, what := range []string{"recorded", "init fails", "Discard", "inserted", "removed", "refused"} {
		require.NotZerof(t, done[what], "%s never happened", what)
	}
}

// FuzzOps decodes bytes into the operations of TestOperationsMatchModel: the first byte
// chooses the pool, each other one a choice.
func FuzzOps(f *testing.F) {
	configs := machineConfigs()
	testkit.FuzzChoices(f, len(configs), 160, func(t *testing.T, which int, choose func(n int) int, more func() bool) {
		newMachine(t, configs[which%len(configs)], choose).run(more)
	})
}
