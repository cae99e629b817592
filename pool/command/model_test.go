package command_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/command"
)

type handle = pool.Handle[value]

// model is a model of a pool and its buffers: maps and lists.
type model struct {
	live map[handle]uint64 // the id of the value
	past map[handle]bool   // every handle that was ever shown
	full int               // Capacity, or 0
	held int               // reserved by buffers
	pool *pool.Pool[value]
}

// recorded is the model of one Buffer.
type recorded struct {
	m          *model
	b          *command.Buffer[value]
	insertions []handle
	ids        []uint64
	removals   []handle
}

// watched is a guard and the values it has seen, which must not change before Unpin.
type watched struct {
	g    pool.Guard[value]
	seen map[*value]uint64
}

// machine runs operations on pools with buffers and on models of them. A fuzzer or a
// generator feeds its choices through choose.
type machine struct {
	t       testing.TB
	choose  func(n int) int // 0 ≤ choice < n
	models  []*model
	buffers []*recorded
	guards  []*watched
	known   []handle // to choose from, live or not
	lastID  uint64
	done    map[string]int
}

// machineConfigs returns the options of the pools.
func machineConfigs() (all []pool.Options[value]) {
	for _, reuse := range []pool.Reuse{pool.LIFO, pool.FIFO} {
		for _, reset := range []func(*value){nil, (*value).reset} {
			for _, capacity := range []int{0, 1, 5, 40} {
				for _, origin := range []uint32{0, 1, lastGeneration - 10} {
					if capacity == 0 && origin > 1 {
						origin = lastGeneration - 40
					}
					o := pool.Options[value]{Reuse: reuse, Reset: reset, Capacity: capacity, Origin: origin, Shards: 1 + len(all)%2}
					if reuse == pool.FIFO {
						o.MinFree = 1
					}
					all = append(all, o)
				}
			}
		}
	}
	return all
}

// newMachine makes buffers for two pools, the second with default options.
func newMachine(t testing.TB, o pool.Options[value], choose func(int) int) *machine {
	mc := &machine{t: t, choose: choose, done: map[string]int{}}
	for _, o := range []pool.Options[value]{o, {}} {
		p, err := pool.New(&o)
		require.NoError(t, err)
		mc.models = append(mc.models, &model{live: map[handle]uint64{}, past: map[handle]bool{}, full: o.Capacity, pool: p})
	}
	for i := range 4 {
		m := mc.models[i/3]
		mc.buffers = append(mc.buffers, &recorded{m: m, b: command.New(m.pool)})
	}
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
	if len(mc.known) == 0 {
		return 0
	}
	return mc.known[len(mc.known)-1-mc.choose(min(len(mc.known), 16))]
}

func (mc *machine) buffer() *recorded { return mc.buffers[mc.choose(len(mc.buffers))] }

// issue checks a handle that was returned for the first time.
func (mc *machine) issue(m *model, h handle) {
	mc.t.Helper()
	if h == 0 || h.Generation()%2 == 0 || m.past[h] {
		mc.fatalf("handle %v was issued; before: %v", h, m.past[h])
	}
	if m.pool.Contains(h) {
		mc.fatalf("%v is live before Apply", h)
	}
	m.past[h] = true
	mc.known = append(mc.known, h)
}

// refused checks an error: there must have been no free slot.
func (mc *machine) refused(m *model, err error) {
	mc.t.Helper()
	if !errors.Is(err, pool.ErrFull) || m.full == 0 {
		mc.fatalf("%v, with Capacity %d", err, m.full)
	}
	if st := m.pool.Stats(); len(mc.guards) == 0 && !errors.Is(err, pool.ErrExhausted) &&
		len(m.live)+m.held+st.Exhausted < m.full {
		mc.fatalf("%v, but there is room", err)
	}
	mc.done["refused"]++
}

func (mc *machine) record(r *recorded, h handle, id uint64) {
	mc.t.Helper()
	mc.issue(r.m, h)
	r.m.held++
	r.insertions, r.ids = append(r.insertions, h), append(r.ids, id)
	if c := r.m.full; c > 0 && len(r.m.live)+r.m.held > c {
		mc.fatalf("beyond the Capacity")
	}
}

// step runs one operation.
func (mc *machine) step() {
	switch mc.choose(24) {
	case 0, 1, 2, 3:
		r := mc.buffer()
		mc.lastID++
		h, err := r.b.Insert(valueOf(mc.lastID))
		if err != nil {
			mc.refused(r.m, err)
			return
		}
		mc.record(r, h, mc.lastID)
		mc.done["Insert"]++
	case 4, 5:
		mc.insertFunc(mc.choose(4) == 0)
	case 6, 7, 8, 9:
		r, h := mc.buffer(), mc.any()
		r.b.Remove(h)
		r.removals = append(r.removals, h)
		mc.done["Remove"]++
	case 10:
		r := mc.buffer()
		h := handle(uint64(mc.choose(4))<<33 | 1<<32 | uint64(mc.choose(8)))
		r.b.Remove(h)
		r.removals = append(r.removals, h)
		mc.done["guess"]++
	case 11, 12:
		mc.apply()
	case 13:
		r := mc.buffer()
		mc.applied([]*recorded{r}, r.b.Apply)
	case 14:
		r := mc.buffer()
		if n, want := r.b.Discard(), len(r.insertions)+len(r.removals); n != want {
			mc.fatalf("Discard: %d commands; want %d", n, want)
		}
		r.m.held -= len(r.insertions)
		mc.done["Discard"] += len(r.insertions)
		r.insertions, r.ids, r.removals = nil, nil, nil
		mc.all()
	case 15, 16:
		m := mc.models[mc.choose(2)]
		h := mc.any()
		_, live := m.live[h]
		if ok := m.pool.Remove(h); ok != live {
			mc.fatalf("Remove(%v) by others: %v, live was %v", h, ok, live)
		}
		if live {
			delete(m.live, h)
			mc.done["removed by others"]++
		}
	case 17, 18:
		m := mc.models[mc.choose(2)]
		mc.lastID++
		h, err := m.pool.InsertFunc(func(h handle, v *value) {
			mc.issue(m, h)
			*v = valueOf(mc.lastID)
		})
		if err != nil {
			mc.refused(m, err)
			return
		}
		m.live[h] = mc.lastID
		mc.done["inserted by others"]++
	case 19:
		mc.pin()
	case 20, 21:
		mc.unpin()
	case 22:
		mc.look(mc.buffer())
	case 23:
		m := mc.models[mc.choose(2)]
		if mc.choose(8) == 0 {
			if n := m.pool.Clear(); n != len(m.live) {
				mc.fatalf("Clear: %d; want %d", n, len(m.live))
			}
			clear(m.live)
			mc.done["Clear"]++
		}
	}
}

func (mc *machine) insertFunc(fail bool) {
	r := mc.buffer()
	mc.lastID++
	id := mc.lastID
	var shown handle
	var h handle
	var err error
	func() {
		defer func() {
			if v := recover(); v != nil && v != "ouch" {
				panic(v)
			}
		}()
		h, err = r.b.InsertFunc(func(h handle, v *value) {
			if v.number() != 0 {
				mc.fatalf("init of %v meets value %d", h, v.number())
			}
			*v, shown = valueOf(id), h
			if fail {
				mc.issue(r.m, h) // must never live
				panic("ouch")
			}
		})
	}()
	switch {
	case err != nil:
		mc.refused(r.m, err)
	case fail:
		mc.done["InsertFunc, panic"]++
	case h != shown:
		mc.fatalf("InsertFunc: %v, init was shown %v", h, shown)
	default:
		mc.record(r, h, id)
		mc.done["InsertFunc"]++
	}
}

// apply applies some of the buffers, in any order, and any of them twice.
func (mc *machine) apply() {
	var rs []*recorded
	var bs []*command.Buffer[value]
	for range mc.choose(7) {
		r := mc.buffer()
		rs, bs = append(rs, r), append(bs, r.b)
	}
	mc.applied(rs, func() (int, int) { return command.Apply(bs...) })
}

// applied runs an Apply and checks it against the model.
func (mc *machine) applied(rs []*recorded, f func() (int, int)) {
	mc.t.Helper()
	inserted, removed := 0, 0
	var removals []func()
	for _, r := range rs {
		for i, h := range r.insertions {
			r.m.live[h] = r.ids[i]
			inserted++
		}
		r.m.held -= len(r.insertions)
		for _, h := range r.removals {
			removals = append(removals, func() {
				if _, live := r.m.live[h]; live {
					delete(r.m.live, h)
					removed++
				}
			})
		}
		r.insertions, r.ids, r.removals = nil, nil, nil
	}
	for _, remove := range removals {
		remove()
	}
	if i, n := f(); i != inserted || n != removed {
		mc.fatalf("Apply: %d inserted, %d removed; want %d, %d", i, n, inserted, removed)
	}
	mc.done["inserted"] += inserted
	mc.done["removed"] += removed
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
		if n != len(m.live) {
			mc.fatalf("pool %d has %d values; want %d", i, n, len(m.live))
		}
		for h := range m.past {
			if _, live := m.live[h]; m.pool.Contains(h) != live {
				mc.fatalf("pool %d contains %v: %v", i, h, !live)
			}
		}
		if got := m.pool.Stats().Reserved; got != m.held {
			mc.fatalf("pool %d: %d reserved; want %d", i, got, m.held)
		}
	}
}

// look checks Len, Insertions and Removals.
func (mc *machine) look(r *recorded) {
	mc.t.Helper()
	if i, n := r.b.Len(); i != len(r.insertions) || n != len(r.removals) {
		mc.fatalf("Len: %d, %d; want %d, %d", i, n, len(r.insertions), len(r.removals))
	}
	n := 0
	for h, v := range r.b.Insertions() {
		if h != r.insertions[n] || v.number() != r.ids[n] {
			mc.fatalf("insertion %d: %v with value %d; want %v with %d", n, h, v.number(), r.insertions[n], r.ids[n])
		}
		n++
	}
	if hs := slices.Collect(r.b.Removals()); n != len(r.insertions) || !slices.Equal(hs, r.removals) {
		mc.fatalf("%d insertions, removals %v; want %d, %v", n, hs, len(r.insertions), r.removals)
	}
	mc.done["look"]++
}

func (mc *machine) pin() {
	if len(mc.guards) == 3 {
		return
	}
	m := mc.models[0]
	w := &watched{g: m.pool.Pin(), seen: map[*value]uint64{}}
	for h, id := range m.live {
		v, ok := w.g.Get(h)
		if !ok || v.number() != id {
			mc.fatalf("a guard does not see %v", h)
		}
		w.seen[v] = id
	}
	mc.guards = append(mc.guards, w)
	mc.done["Pin"]++
}

func (mc *machine) unpin() {
	if len(mc.guards) == 0 {
		return
	}
	i := mc.choose(len(mc.guards))
	w := mc.guards[i]
	for v, id := range w.seen {
		if v.number() != id {
			mc.fatalf("value %d became %d under a guard", id, v.number())
		}
	}
	w.g.Unpin()
	mc.guards = slices.Delete(mc.guards, i, i+1)
}

// run runs steps while more returns true, and then requires that nothing is lost.
func (mc *machine) run(more func() bool) {
	for more() {
		mc.step()
	}
	for len(mc.guards) > 0 {
		mc.unpin()
	}
	mc.applied(mc.buffers, func() (int, int) {
		return command.Apply(mc.buffers[0].b, mc.buffers[1].b, mc.buffers[2].b, mc.buffers[3].b)
	})
	for _, m := range mc.models {
		require.Equal(mc.t, len(m.live), m.pool.Clear())
		requireNoneLost(mc.t, m.pool)
	}
}

// TestOperationsMatchModel runs generated streams.
func TestOperationsMatchModel(t *testing.T) {
	seed := newSeed(t)
	done := map[string]int{}
	for i, o := range machineConfigs() {
		t.Run(fmt.Sprintf("%v/capacity=%d/reset=%v/origin=%d", o.Reuse, o.Capacity, o.Reset != nil, o.Origin), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, uint64(i)))
			for range long(3) {
				mc := newMachine(t, o, rnd.IntN)
				n := 400
				mc.run(func() bool { n--; return n >= 0 })
				for what, times := range mc.done {
					done[what] += times
				}
			}
		})
	}
	for _, what := range []string{"Insert", "InsertFunc", "InsertFunc, panic", "Remove", "guess", "Discard", "inserted", "removed",
		"removed by others", "inserted by others", "refused", "look", "Pin", "Clear"} {
		require.NotZerof(t, done[what], "%s never happened", what)
	}
}
