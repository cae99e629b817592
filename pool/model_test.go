package pool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// model is the pool that is obviously right: a mutex and a map. It drives no
// operation itself; it judges what the real pool answered.
type model[T any] struct {
	mu   sync.Mutex
	live map[pool.Handle[T]]uint64 // what the value is known by
	past map[pool.Handle[T]]bool   // every handle that was ever shown
}

// issue notes a handle that the pool has shown for the first time.
func (m *model[T]) issue(h pool.Handle[T]) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h == 0 || h.Generation()%2 == 0 || h.Generation() > lastGeneration || m.past[h] {
		return fmt.Errorf("handle %v was issued, before: %v", h, m.past[h])
	}
	m.past[h] = true
	return nil
}

func (m *model[T]) insert(h pool.Handle[T], id uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live[h] = id
}

func (m *model[T]) get(h pool.Handle[T]) (uint64, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id, ok := m.live[h]
	return id, ok
}

func (m *model[T]) remove(h pool.Handle[T]) (uint64, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id, ok := m.live[h]
	delete(m.live, h)
	return id, ok
}

func (m *model[T]) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.live)
}

// kind says how the machine deals with values of T.
type kind[T any] struct {
	make func(id uint64) T
	id   func(*T) uint64 // 0 for a zero or reset value
}

type plain struct{ id, twice uint64 }

var plainKind = kind[plain]{
	func(id uint64) plain { return plain{id, 2 * id} },
	func(v *plain) uint64 {
		if v.twice != 2*v.id {
			return 1 << 63 // torn
		}
		return v.id
	},
}

type boxed struct {
	id  uint64
	box *uint64
	buf []byte // what Reset keeps
}

var boxedKind = kind[boxed]{
	func(id uint64) boxed { return boxed{id, &id, make([]byte, 0, 1)} },
	func(v *boxed) uint64 {
		switch {
		case v.box == nil && v.id == 0:
			return 0
		case v.box == nil || *v.box != v.id:
			return 1 << 63
		}
		return v.id
	},
}

// watched is a guard and what it has seen: none of it may change before Unpin.
type watched[T any] struct {
	g    pool.Guard[T]
	seen map[*T]uint64
}

// machine runs an operation stream on a pool and a model side by side. Its
// choices come from choose, which a fuzzer or a generator feeds.
type machine[T any] struct {
	t      testing.TB
	kind   kind[T]
	opts   pool.Options[T]
	p      *pool.Pool[T]
	m      model[T]
	choose func(n int) int // 0 ≤ choice < n
	worker *pool.Worker[T]
	held   []*pool.Reservation[T]
	guards []*watched[T]
	known  []pool.Handle[T] // live or stale, to choose from
	lastID uint64
	done   map[string]int // operations that had an effect
}

func newMachine[T any](t testing.TB, k kind[T], opts pool.Options[T], choose func(int) int) *machine[T] {
	return &machine[T]{
		t: t, kind: k, opts: opts, p: tiny(t, &opts), choose: choose,
		m:    model[T]{live: map[pool.Handle[T]]uint64{}, past: map[pool.Handle[T]]bool{}},
		done: map[string]int{},
	}
}

// fatalf fails with the last operations' context: what is live and held.
func (mc *machine[T]) fatalf(format string, args ...any) {
	mc.t.Helper()
	mc.t.Fatalf("%s\n(%d live, %d reserved, %d guards, worker %v, %v, capacity %d, origin %d, shards %d; %+v)", fmt.Sprintf(format, args...),
		mc.m.len(), len(mc.held), len(mc.guards), mc.worker != nil, mc.opts.Reuse, mc.opts.Capacity, mc.opts.Origin, mc.opts.Shards, mc.p.Stats())
}

func (mc *machine[T]) newID() uint64 { mc.lastID++; return mc.lastID }

// inserted judges an insertion.
func (mc *machine[T]) inserted(what string, h pool.Handle[T], id uint64, err error) {
	mc.t.Helper()
	if err != nil {
		mc.refused(what, err)
		return
	}
	if err := mc.m.issue(h); err != nil {
		mc.fatalf("%s: %v", what, err)
	}
	mc.m.insert(h, id)
	mc.known = append(mc.known, h)
	mc.done[what]++
	if c := mc.opts.Capacity; c > 0 && mc.m.len()+len(mc.held) > c {
		mc.fatalf("%s: beyond the Capacity", what)
	}
}

// refused judges a refusal: there must have been no slot within reach.
func (mc *machine[T]) refused(what string, err error) {
	mc.t.Helper()
	mc.done["refused"]++
	if !errors.Is(err, pool.ErrFull) {
		mc.fatalf("%s: %v", what, err)
	}
	if mc.opts.Capacity == 0 && mc.opts.MaxLimbo == 0 {
		mc.fatalf("%s: %v in a pool without a Capacity", what, err)
	}
	if mc.worker != nil {
		return // what it has in reach, others have not
	}
	st := mc.p.Stats()
	spare := 0
	if mc.opts.Reuse == pool.FIFO {
		spare = mc.opts.MinFree + mc.opts.Shards
	}
	if mc.opts.Capacity > 0 && st.Free > spare {
		mc.fatalf("%s: %v, but %d slots are free", what, err, st.Free)
	}
	stalled, exhausted := errors.Is(err, pool.ErrStalled), errors.Is(err, pool.ErrExhausted)
	switch {
	case len(mc.guards) == 0 && st.Limbo > 0 && !exhausted:
		mc.fatalf("%s: %v, but %d slots could be reclaimed", what, err, st.Limbo)
	case stalled && st.Limbo == 0, stalled && mc.m.len()+len(mc.held) == mc.opts.Capacity:
		mc.fatalf("%s: %v, but no slot waits that a value could have", what, err)
	case exhausted && mc.m.len()+len(mc.held) > 0:
		mc.fatalf("%s: %v, but something lives", what, err)
	}
	mc.done[err.Error()]++
}

// any chooses a handle that was issued, live or not.
func (mc *machine[T]) any() (h pool.Handle[T], live bool) {
	if len(mc.known) == 0 {
		return 0, false
	}
	// Mostly a young one, so that it often lives.
	i := len(mc.known) - 1 - mc.choose(min(len(mc.known), 16))
	h = mc.known[i]
	_, live = mc.m.get(h)
	return h, live
}

// ended judges a removal of h.
func (mc *machine[T]) ended(what string, h pool.Handle[T], ok bool) (id uint64) {
	mc.t.Helper()
	id, live := mc.m.remove(h)
	if ok != live {
		mc.fatalf("%s(%v) answers %v, live was %v", what, h, ok, live)
	}
	if ok {
		mc.done[what]++
	} else {
		mc.done["stale"]++
	}
	if mc.p.Contains(h) {
		mc.fatalf("%s(%v), and it is still there", what, h)
	}
	return id
}

// moved judges a removal that hands the value over.
func (mc *machine[T]) moved(what string, h pool.Handle[T], v T, ok bool) {
	mc.t.Helper()
	if want := mc.ended(what, h, ok); mc.kind.id(&v) != want {
		mc.fatalf("%s(%v) gives value %d, want %d", what, h, mc.kind.id(&v), want)
	}
}

// looked judges a look-up.
func (mc *machine[T]) looked(what string, h pool.Handle[T], v *T, ok bool) {
	mc.t.Helper()
	want, live := mc.m.get(h)
	if ok != live || ok && mc.kind.id(v) != want {
		mc.fatalf("%s(%v) answers %v, live is %v, want value %d", what, h, ok, live, want)
	}
	if ok {
		mc.done[what]++
	}
}

// blank judges what a constructor meets.
func (mc *machine[T]) blank(what string, h pool.Handle[T], v *T) {
	mc.t.Helper()
	if id := mc.kind.id(v); id != 0 {
		mc.fatalf("%s: the slot of %v holds value %d", what, h, id)
	}
	if mc.p.Contains(h) {
		mc.fatalf("%s: %v is live before its time", what, h)
	}
}

func (mc *machine[T]) insertFunc(what string, f func(func(pool.Handle[T], *T)) (pool.Handle[T], error)) {
	mc.t.Helper()
	id := mc.newID()
	var shown pool.Handle[T]
	h, err := f(func(h pool.Handle[T], v *T) {
		mc.blank(what, h, v)
		*v, shown = mc.kind.make(id), h
	})
	if err == nil && h != shown {
		mc.fatalf("%s: handle %v, init was shown %v", what, h, shown)
	}
	mc.inserted(what, h, id, err)
}

// insertPanics runs a constructor that inserts, fills its slot and panics.
func (mc *machine[T]) insertPanics(f func(func(pool.Handle[T], *T)) (pool.Handle[T], error)) {
	mc.t.Helper()
	var shown pool.Handle[T]
	v := recovered(func() {
		_, err := f(func(h pool.Handle[T], v *T) {
			mc.blank("InsertFunc, panic", h, v)
			*v, shown = mc.kind.make(mc.newID()), h
			panic(shown)
		})
		mc.refused("InsertFunc, panic", err)
	})
	if v == nil {
		return
	}
	if v != any(shown) {
		mc.fatalf("InsertFunc: panic %v came up, want %v", v, shown)
	}
	if err := mc.m.issue(shown); err != nil {
		mc.fatalf("InsertFunc: %v", err)
	}
	mc.known = append(mc.known, shown) // must never live
	mc.done["InsertFunc, panic"]++
}

// all judges what a loop yields while nothing changes.
func (mc *machine[T]) all(what string, loop func(yield func(pool.Handle[T], *T) bool)) {
	mc.t.Helper()
	n := 0
	seen := map[pool.Handle[T]]bool{}
	loop(func(h pool.Handle[T], v *T) bool {
		mc.looked(what, h, v, true)
		if seen[h] {
			mc.fatalf("%s yields %v twice", what, h)
		}
		seen[h] = true
		n++
		return true
	})
	if n != mc.m.len() {
		mc.fatalf("%s yields %d of %d", what, n, mc.m.len())
	}
}

// step runs one operation.
func (mc *machine[T]) step() {
	p := mc.p
	switch mc.choose(36) {
	case 0, 1, 2, 3:
		id := mc.newID()
		h, err := p.Insert(mc.kind.make(id))
		mc.inserted("Insert", h, id, err)
	case 4:
		mc.insertFunc("InsertFunc", p.InsertFunc)
	case 5:
		mc.insertPanics(p.InsertFunc)
	case 6:
		r, err := p.Reserve()
		if err != nil {
			mc.refused("Reserve", err)
			return
		}
		if err := mc.m.issue(r.Handle()); err != nil {
			mc.fatalf("Reserve: %v", err)
		}
		mc.blank("Reserve", r.Handle(), r.Value())
		mc.known = append(mc.known, r.Handle())
		mc.held = append(mc.held, r)
	case 7, 8:
		if len(mc.held) == 0 {
			return
		}
		i := mc.choose(len(mc.held))
		r := mc.held[i]
		mc.held = slices.Delete(mc.held, i, i+1)
		if mc.choose(3) == 0 {
			r.Cancel()
			mc.done["Cancel"]++
			return
		}
		id := mc.newID()
		*r.Value() = mc.kind.make(id)
		mc.m.insert(r.Commit(), id)
		mc.done["Commit"]++
	case 9, 10, 11:
		h, _ := mc.any()
		mc.ended("Remove", h, p.Remove(h))
	case 12:
		h, _ := mc.any()
		mc.ended("Ptr.Remove", h, p.Ptr(h).Remove())
	case 13:
		h, _ := mc.any()
		v, ok := p.Take(h)
		mc.moved("Take", h, v, ok)
	case 14:
		h, live := mc.any()
		v, ok := p.Get(h)
		mc.looked("Get", h, &v, ok)
		mc.looked("View", h, &v, p.View(h, func(in *T) { mc.looked("in View", h, in, true) }))
		if p.Contains(h) != live || p.Ptr(h).Live() != live {
			mc.fatalf("Contains(%v), live is %v", h, live)
		}
	case 15:
		vs, ids := make([]T, mc.choose(6)), make([]uint64, 6)
		for i := range vs {
			ids[i] = mc.newID()
			vs[i] = mc.kind.make(ids[i])
		}
		hs, err := p.InsertBatch(vs, nil)
		if (err == nil) != (len(hs) == len(vs)) {
			mc.fatalf("InsertBatch: %d of %d, %v", len(hs), len(vs), err)
		}
		for i, h := range hs {
			mc.inserted("InsertBatch", h, ids[i], nil)
		}
		if err != nil {
			mc.refused("InsertBatch", err)
		}
	case 16:
		hs := make([]pool.Handle[T], mc.choose(8))
		want := 0
		for i := range hs {
			hs[i], _ = mc.any()
			if _, ok := mc.m.remove(hs[i]); ok {
				want++
			}
		}
		if n := p.RemoveBatch(hs); n != want {
			mc.fatalf("RemoveBatch removes %d, want %d", n, want)
		}
		mc.done["RemoveBatch"] += want
	case 17, 18:
		if len(mc.guards) < 4 {
			w := &watched[T]{seen: map[*T]uint64{}}
			if mc.worker != nil && mc.choose(2) == 0 {
				w.g = mc.worker.Pin()
			} else {
				w.g = p.Pin()
			}
			mc.guards = append(mc.guards, w)
			mc.done["Pin"]++
		}
	case 19, 20, 21:
		mc.unpin()
	case 22, 23:
		mc.lookThroughGuard()
	case 24, 25:
		if mc.worker == nil {
			mc.worker = p.Worker()
		}
		id := mc.newID()
		h, err := mc.worker.Insert(mc.kind.make(id))
		mc.inserted("Worker.Insert", h, id, err)
	case 26:
		if mc.worker != nil {
			mc.insertFunc("Worker.InsertFunc", mc.worker.InsertFunc)
			mc.insertPanics(mc.worker.InsertFunc)
		}
	case 27:
		if mc.worker != nil {
			h, _ := mc.any()
			v, ok := mc.worker.Get(h)
			mc.looked("Worker.Get", h, &v, ok)
			mc.ended("Worker.Remove", h, mc.worker.Remove(h))
		}
	case 28:
		if mc.worker != nil {
			h, _ := mc.any()
			v, ok := mc.worker.Take(h)
			mc.moved("Worker.Take", h, v, ok)
		}
	case 29:
		if mc.worker != nil && mc.choose(2) == 0 {
			mc.worker.Flush()
			if n := p.Stats().Cached; n != 0 {
				mc.fatalf("%d slots are cached after Flush", n)
			}
		} else if mc.worker != nil {
			mc.worker.Close()
			mc.worker = nil
			mc.done["Close"]++
		}
	case 30:
		mc.all("All", p.All())
		if n := p.Len(); n != mc.m.len() {
			mc.fatalf("Len is %d, want %d", n, mc.m.len())
		}
		mc.all("Each", func(yield func(pool.Handle[T], *T) bool) {
			_ = p.Each(context.Background(), 1, func(h pool.Handle[T], v *T) error { yield(h, v); return nil })
		})
	case 31:
		mc.removeMany()
	case 32:
		if len(mc.guards) == 0 {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			if err := p.Synchronize(ctx); err != nil {
				mc.fatalf("Synchronize: %v", err)
			}
			if n := p.Stats().Limbo; n != 0 {
				mc.fatalf("%d slots wait after Synchronize", n)
			}
			mc.done["Synchronize"]++
		}
	case 33:
		mc.loopAndChange()
	case 34:
		mc.snapshot()
	case 35:
		p.Trim()
		n := mc.choose(20)
		if err := p.Grow(n); (err != nil) != (n > p.Cap()) {
			mc.fatalf("Grow(%d) of a pool of %d: %v", n, p.Cap(), err)
		}
	}
}

// removeMany clears the pool by one of the verbs, or a part of it.
func (mc *machine[T]) removeMany() {
	p := mc.p
	switch mc.choose(12) {
	case 0:
		if n := p.Clear(); n != mc.m.len() {
			mc.fatalf("Clear removes %d of %d", n, mc.m.len())
		}
		clear(mc.m.live)
		mc.done["Clear"]++
	case 1, 2:
		most := mc.choose(8)
		for h, v := range p.Drain() {
			mc.moved("Drain", h, v, true)
			if most--; most < 0 {
				break
			}
		}
		if most >= 0 && mc.m.len() > 0 {
			mc.fatalf("Drain leaves %d", mc.m.len())
		}
	default:
		keep := uint64(2 + mc.choose(3))
		want := 0
		n := p.DeleteFunc(func(h pool.Handle[T], v *T) bool {
			mc.looked("DeleteFunc", h, v, true)
			if mc.kind.id(v)%keep != 0 {
				return false
			}
			mc.m.remove(h)
			want++
			return true
		})
		if n != want {
			mc.fatalf("DeleteFunc removes %d, want %d", n, want)
		}
	}
}

// loopAndChange removes and inserts in the body of a loop.
func (mc *machine[T]) loopAndChange() {
	before := map[pool.Handle[T]]bool{}
	for h := range mc.m.live {
		before[h] = true
	}
	seen := map[pool.Handle[T]]bool{}
	body := func(h pool.Handle[T], v *T) bool {
		mc.looked("All, changing", h, v, true)
		if seen[h] {
			mc.fatalf("All yields %v twice", h)
		}
		seen[h] = true
		if mc.choose(2) == 0 {
			id, _ := mc.m.get(h)
			mc.ended("Remove in All", h, mc.p.Remove(h))
			if mc.kind.id(v) != id {
				mc.fatalf("the value of %v changed when it was removed", h)
			}
		}
		if mc.choose(4) == 0 && len(seen) < 100 {
			id := mc.newID()
			h, err := mc.p.Insert(mc.kind.make(id))
			if err == nil { // under the loop's own pin a refusal is no wonder
				mc.inserted("Insert in All", h, id, nil)
			}
		}
		return true
	}
	if len(mc.guards) > 0 && mc.choose(2) == 0 {
		mc.guards[0].g.All()(body)
	} else {
		mc.p.All()(body)
	}
	for h := range before {
		if _, live := mc.m.get(h); live && !seen[h] {
			mc.fatalf("All misses %v", h)
		}
	}
}

// unpin ends a guard, if there is one.
func (mc *machine[T]) unpin() {
	if len(mc.guards) == 0 {
		return
	}
	i := mc.choose(len(mc.guards))
	mc.guards[i].g.Unpin()
	mc.guards = slices.Delete(mc.guards, i, i+1)
}

// lookThroughGuard looks values up under a guard, which then watches them.
func (mc *machine[T]) lookThroughGuard() {
	if len(mc.guards) == 0 {
		return
	}
	w := mc.guards[mc.choose(len(mc.guards))]
	hs := make([]pool.Handle[T], 1+mc.choose(6))
	for i := range hs {
		hs[i], _ = mc.any()
		v, ok := w.g.Get(hs[i])
		mc.looked("Guard.Get", hs[i], v, ok)
		if ok {
			w.seen[v] = mc.kind.id(v)
		}
	}
	for i, v := range w.g.GetBatch(hs, nil) {
		mc.looked("Guard.GetBatch", hs[i], v, v != nil)
	}
	if mc.choose(4) == 0 {
		mc.all("Guard.All", w.g.All())
		mc.all("Guard.Pages", func(yield func(pool.Handle[T], *T) bool) {
			for _, page := range w.g.Pages() {
				page(yield)
			}
		})
	}
}

// watch checks that no pinned value has changed.
func (mc *machine[T]) watch() {
	for _, w := range mc.guards {
		for v, id := range w.seen {
			if got := mc.kind.id(v); got != id {
				mc.fatalf("a pinned value changed from %d to %d", id, got)
			}
		}
	}
}

// run runs n steps.
func (mc *machine[T]) run(n int) { mc.runAll(func() bool { n--; return n >= 0 }) }

// runAll runs steps while more says so, and then takes everything back.
func (mc *machine[T]) runAll(more func() bool) {
	for more() {
		mc.step()
		mc.watch()
	}
	for len(mc.guards) > 0 {
		mc.unpin()
	}
	for _, r := range mc.held {
		r.Cancel()
	}
	mc.held = nil
	if mc.worker != nil {
		mc.worker.Close()
		mc.worker = nil
	}
	if n := mc.p.Clear(); n != mc.m.len() {
		mc.fatalf("Clear removes %d of %d", n, mc.m.len())
	}
	st := requireReclaimed(mc.t, mc.p)
	if st.Live != 0 {
		mc.fatalf("something lives after Clear")
	}
	for _, h := range mc.known {
		if mc.p.Contains(h) {
			mc.fatalf("stale handle %v lives", h)
		}
	}
	if mc.opts.Capacity == 0 {
		return
	}
	// No slot was lost: as many values fit as there are slots that can still live.
	want := mc.opts.Capacity - st.Exhausted
	got := 0
	for {
		h, err := mc.p.Insert(mc.kind.make(mc.newID()))
		if err != nil {
			break
		}
		if err := mc.m.issue(h); err != nil {
			mc.fatalf("at the end: %v", err)
		}
		got++
	}
	if mc.opts.Reuse == pool.FIFO { // exhausted slots are missed in the reserve first
		// (and in a copy made from a snapshot the dummy may be exhausted too)
		want = max(0, min(mc.opts.Capacity, want+mc.opts.MinFree))
	}
	// A queue of a copy has no dummy before the first slot comes to it.
	if copied := mc.opts.Reuse == pool.FIFO && mc.done["Snapshot"] > 0; got < want || got > want && !copied || got > min(want+mc.opts.Shards, mc.opts.Capacity) {
		mc.fatalf("at the end %d values fit, want %d", got, want)
	}
}

// modelConfigs are tiny pools of every kind.
func modelConfigs[T any](reset func(*T)) (all []pool.Options[T]) {
	for _, reuse := range reuses {
		for _, shards := range []int{1, 2} {
			for _, capacity := range []int{0, 1, 5, 24, 80} {
				for _, origin := range []uint32{0, lastGeneration - 6, lastGeneration - 40} {
					for _, reset := range []func(*T){nil, reset} {
						o := pool.Options[T]{Reuse: reuse, Shards: shards, Capacity: capacity, Origin: origin, Reset: reset}
						if reuse == pool.FIFO {
							o.MinFree = 3
						}
						if capacity == 1 {
							o.Shards = 1 // as New makes of it
						}
						all = append(all, o)
					}
				}
			}
		}
	}
	return all
}

func resetPlain(v *plain) { *v = plain{} }

func resetBoxed(v *boxed) { *v = boxed{buf: v.buf[:0]} }

// TestOperationsMatchModel catches, among others: a generation that is not
// burned by Burn or Return (a handle is issued twice), a tag that is taken
// before limbo (a pinned value changes), a slot that Worker.flush forgets (fewer
// fit at the end), and a link that points to its own slot (a forged match).
func TestOperationsMatchModel(t *testing.T) {
	rnd := newRand(t)
	done := map[string]int{}
	t.Run("plain", func(t *testing.T) {
		for _, o := range modelConfigs(resetPlain) {
			mc := newMachine(t, plainKind, o, rnd.IntN)
			mc.run(max(600, long(1500)))
			tally(done, mc.done)
		}
	})
	t.Run("boxed", func(t *testing.T) {
		for _, o := range modelConfigs(resetBoxed) {
			mc := newMachine(t, boxedKind, o, rnd.IntN)
			mc.run(max(600, long(1500)))
			tally(done, mc.done)
		}
	})
	if t.Failed() {
		return
	}
	for _, what := range []string{
		"Insert", "InsertFunc", "InsertFunc, panic", "Commit", "Cancel", "Remove", "Ptr.Remove", "Take", "Get", "View",
		"InsertBatch", "RemoveBatch", "Pin", "Guard.Get", "Guard.GetBatch", "Guard.All", "Guard.Pages", "Worker.Insert",
		"Worker.InsertFunc", "Worker.Get", "Worker.Remove", "Worker.Take", "Close", "All", "Each", "DeleteFunc", "Drain",
		"Synchronize", "Remove in All", "Insert in All", "stale", "refused", "Snapshot",
		pool.ErrFull.Error(), pool.ErrStalled.Error(), pool.ErrExhausted.Error(),
	} {
		require.GreaterOrEqualf(t, done[what], 10, "%q was hardly tried", what)
	}
	require.Positive(t, done["Clear"])
}

func tally(sum, add map[string]int) {
	for k, n := range add {
		sum[k] += n
	}
}
