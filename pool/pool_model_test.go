//go:build !race

package pool_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime/debug"
	"slices"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

type (
	call[T any] = verbs.Call[T]
	hold[T any] = verbs.Hold[T]
)

// machine runs operations on a pool and judges each result by a verbs.Model. Its choices come
// from choose, which a fuzzer or a generator feeds.
type machine[T any] struct {
	verbs.Model[T]
	t       testing.TB
	kind    kind[T]
	opts    pool.Options[T]
	p       *pool.Pool[T]
	choose  func(n int) int // 0 ≤ choice < n
	verbs   verbs.List[T]
	worker  *pool.Worker[T]
	held    []*pool.Reservation[T]
	holds   []*hold[T]
	known   []pool.Handle[T]          // all that were shown, to choose from
	taken   map[uint64]bool           // values that verbs gave away
	heard   map[pool.Handle[T]]uint64 // values between their two events; nil if there are none
	left    int                       // values that were gone when the pool was copied
	deaf    bool                      // a copy is used beside
	within  bool                      // within an event: what the call around it has done is not reported yet
	filling bool                      // the pool is filled at the end: events insert nothing
	inside  int                       // callbacks and loops under way
	alone   bool                      // no sentinel reclaims, so what a call has written can be seen
	gc      int                       // the percentage to go back to
	done    map[string]int            // operations that had an effect
}

func newMachine[T any](t testing.TB, k kind[T], opts pool.Options[T], choose func(int) int) *machine[T] {
	mc := &machine[T]{
		t: t, kind: k, opts: opts, choose: choose, verbs: verbs.Table[T](),
		taken: map[uint64]bool{}, done: map[string]int{},
	}
	if reset := opts.Reset; reset != nil {
		mc.opts.Reset = func(v *T) {
			if mc.taken[k.Number(v)] {
				mc.Failf("Reset sees value %d, which was taken", k.Number(v))
			}
			reset(v)
		}
	}
	if choose(2) > 0 {
		mc.heard = map[pool.Handle[T]]uint64{}
		mc.opts.OnInsert, mc.opts.OnRemove = mc.onInsert, mc.onRemove
	}
	if mc.alone = choose(2) > 0; mc.alone {
		mc.gc = debug.SetGCPercent(-1) // a cycle that is under way spares the new pool
	}
	mc.p = tiny(t, &mc.opts)
	return mc
}

// Failf fails with the last operations' context: what is live and held.
func (mc *machine[T]) Failf(format string, args ...any) {
	mc.t.Helper()
	mc.t.Fatalf("%s\n(%d live, %d reserved, %d guards and Refs, worker %v, %v, capacity %d, origin %d, shards %d; %+v)", fmt.Sprintf(format, args...),
		mc.Live(), len(mc.held), len(mc.holds), mc.worker != nil, mc.opts.Reuse, mc.opts.Capacity, mc.opts.Origin, mc.opts.Shards, mc.p.Stats())
}

func (mc *machine[T]) Returned(c *call[T]) {
	if c.Needs&(verbs.Pins|verbs.Either|verbs.Cancels) != 0 {
		mc.done[c.String()]++
	}
}

// onInsert judges an OnInsert.
func (mc *machine[T]) onInsert(h pool.Handle[T], v *T) {
	if mc.deaf {
		return
	}
	n, again := mc.heard[h]
	if again || mc.p.Contains(h) || mc.Life(h) > verbs.Reserved {
		mc.Failf("OnInsert of %v, which was %v; told before: %v, %d", h, mc.Life(h), again, n)
	}
	mc.heard[h] = mc.kind.Number(v)
	mc.pair("OnInsert")
}

// onRemove judges an OnRemove.
func (mc *machine[T]) onRemove(h pool.Handle[T], v *T) {
	if mc.deaf {
		return
	}
	n, told := mc.heard[h]
	if !told || mc.p.Contains(h) || mc.kind.Number(v) != n {
		mc.Failf("OnRemove of %v, with value %d; told before: %v, %d", h, mc.kind.Number(v), told, n)
	}
	delete(mc.heard, h)
	mc.pair("OnRemove")
	if mc.kind.Number(v) != n {
		mc.Failf("during OnRemove of %v its value changed", h)
	}
}

// pair inserts and removes a value within an event, now and then.
func (mc *machine[T]) pair(event string) {
	if mc.filling || mc.inside > 3 || mc.choose(4) > 0 {
		return
	}
	was := mc.within
	mc.within = true
	mc.inside++
	defer func() { mc.inside--; mc.within = was }()
	mc.done["pair in "+event]++
	known := len(mc.known)
	in := mc.call("Insert")
	if mc.worker != nil && mc.choose(2) == 0 {
		in.Via = mc.worker
	}
	in.Do()
	if len(mc.known) > known {
		mc.call([]string{"Remove", "Take"}[mc.choose(2)], mc.known[len(mc.known)-1]).Do()
	}
}

// hear requires that what the events told is what is live, if there are any.
func (mc *machine[T]) hear() {
	if mc.heard == nil {
		return
	}
	for h, n := range mc.heard {
		if mc.Life(h) != verbs.Live(n) {
			mc.Failf("events say that %v lives with value %d; it is %v", h, n, mc.Life(h))
		}
	}
	if len(mc.heard) != mc.Live() {
		mc.Failf("events say that %d values live, want %d", len(mc.heard), mc.Live())
	}
}

// Inside removes and inserts in a callback or the body of a loop, now and then, and panics.
func (mc *machine[T]) Inside(c *call[T], h pool.Handle[T]) {
	if c.Needs&(verbs.Loops|verbs.Calls) == 0 || mc.inside > 3 || mc.choose(4) > 0 {
		return
	}
	mc.inside++
	defer func() { mc.inside-- }()
	mc.call("Remove", h).Do()
	if mc.Live() < 100 {
		mc.draw(mc.verbs.Draw(mc.choose, verbs.Inserts, 0))
	}
	mc.done["change in "+c.Name]++
	if mc.choose(3) == 0 {
		mc.done["panic in "+c.Name]++
		panic(verbs.ErrMeant)
	}
}

// Reported judges by the model, and then what the model does not know.
func (mc *machine[T]) Reported(c *call[T], h pool.Handle[T], r verbs.Report) {
	if mc.Life(h) == verbs.Unborn && (r.Effect == verbs.Reserve || r.Effect == verbs.Insert) {
		mc.known = append(mc.known, h)
	}
	mc.Model.Reported(c, h, r)
	switch r.Effect {
	case verbs.Reserve:
		mc.shown()
		return
	case verbs.Cancel:
		mc.done[c.Name+", given up"]++
		return
	case verbs.Sweep:
		return // Counted
	case verbs.Insert, verbs.Commit:
		if limit := mc.opts.Capacity; limit > 0 && !mc.within && mc.Live()+len(mc.held) > limit {
			mc.Failf("%v: beyond the Capacity", c)
		}
	case verbs.Take:
		mc.taken[r.Value] = r.OK
	}
	switch {
	case r.OK:
		mc.done[c.String()]++
	case r.Effect == verbs.Remove || r.Effect == verbs.Take:
		mc.done["stale"]++
	}
}

// shown takes a snapshot in a constructor, now and then.
func (mc *machine[T]) shown() {
	if mc.inside == 0 && mc.choose(30) == 0 {
		mc.inside++
		mc.snapshot()
		mc.done["Snapshot in a constructor"]++
		mc.inside--
	}
}

// Refused judges a refusal: there must have been no slot within reach.
func (mc *machine[T]) Refused(c *call[T], err error) {
	mc.done["refused"]++
	if !errors.Is(err, pool.ErrFull) {
		mc.Failf("%v: %v", c, err)
	}
	if mc.opts.Capacity == 0 && mc.opts.MaxLimbo == 0 {
		mc.Failf("%v: %v in a pool without a Capacity", c, err)
	}
	if mc.worker != nil || mc.inside > 0 {
		return // what it has in reach, others have not; and a loop has a pin of its own
	}
	st := mc.p.Stats()
	if mc.opts.Capacity > 0 && st.Free > 0 {
		mc.Failf("%v: %v, but %d slots are free", c, err, st.Free)
	}
	stalled, exhausted := errors.Is(err, pool.ErrStalled), errors.Is(err, pool.ErrExhausted)
	switch {
	case len(mc.holds) == 0 && st.Limbo > 0 && mc.synchronized().Free > st.Free:
		mc.Failf("%v: %v, but some of %d slots in limbo could be reclaimed", c, err, st.Limbo)
	case stalled && st.Limbo == 0, stalled && mc.Live()+len(mc.held) == mc.opts.Capacity:
		mc.Failf("%v: %v, but no slot waits that a value could have", c, err)
	case exhausted:
		mc.Failf("%v: %v, but exhausted slots are replaced", c, err)
	}
	mc.done[err.Error()]++
}

// synchronized reclaims all that can be, and returns Stats. After a refusal that makes no slot
// free: one that is left in limbo has no other life, and is in the hands of a sentinel.
func (mc *machine[T]) synchronized() pool.Stats {
	if err := mc.p.Synchronize(context.Background()); err != nil {
		mc.Failf("Synchronize: %v", err)
	}
	return mc.p.Stats()
}

func (mc *machine[T]) Condemned(_ *call[T], _ pool.Handle[T], id uint64) bool { return id%3 == 0 }

func (mc *machine[T]) Counted(c *call[T], n int) {
	mc.Model.Counted(c, n)
	mc.done[c.Name] += n
}

func (mc *machine[T]) Acted(c *call[T], err error) {
	st, needs := mc.p.Stats(), func(n verbs.Needs) bool { return c.Needs&n != 0 }
	switch {
	case needs(verbs.Context) && (err != nil || st.Limbo > 0):
		mc.Failf("%v: %v, and %d slots wait", c, err, st.Limbo)
	case needs(verbs.Worker) && st.Cached > 0:
		mc.Failf("%d slots are cached after %v", st.Cached, c)
	case needs(verbs.Counts) && (st.Live != mc.Live() || mc.p.Len() != mc.Live()):
		mc.Failf("Len is %d, want %d", mc.p.Len(), mc.Live())
	case needs(verbs.Counts) && int(st.Inserted) != mc.Begun()-mc.left:
		mc.Failf("%d were inserted, want %d", st.Inserted, mc.Begun()-mc.left)
	case needs(verbs.Counts) && (st.Reserved != len(mc.held) || st.Held+st.Pinned != len(mc.holds)):
		mc.Failf("%d are reserved, %d held and %d pinned", st.Reserved, st.Held, st.Pinned)
	case needs(verbs.Frees) && c.N > 0:
		mc.done[c.Name+" that gives memory back"]++
	}
	mc.done[c.Name]++
}

// any chooses a handle that was issued, live or not, or another word. An error in the
// comparison of words would accept a word that differs in one bit, or is of a neighbour.
func (mc *machine[T]) any() (h pool.Handle[T]) {
	if len(mc.known) > 0 {
		// Mostly a young one, so that it often lives.
		h = mc.known[len(mc.known)-1-mc.choose(min(len(mc.known), 16))]
	}
	switch mc.choose(16) {
	case 0, 1, 2:
		return h ^ 1<<mc.choose(64)
	case 3:
		generation, index := int(h>>32)+mc.choose(9)-4, int(h.Index())+mc.choose(9)-4
		return pool.Handle[T](uint64(uint32(generation))<<32 | uint64(uint32(index)))
	case 4:
		words := [...]pool.Handle[T]{0, 1, 1 << 32, 1<<32 | math.MaxUint32, ^h, testkit.LastGeneration << 32, (testkit.LastGeneration + 1) << 32, math.MaxUint64}
		return words[mc.choose(len(words))]
	}
	return h
}

// do runs a call. If none of its handles is live, it must write nothing.
func (mc *machine[T]) do(c *call[T]) {
	before := mc.p.Stats()
	lives := func(h pool.Handle[T]) bool { return mc.Life(h).IsLive() }
	// A bag that is full, which one slot does in a bounded pool, is emptied whatever the handle.
	emptied := c.Via == mc.worker && before.Cached > 0 && mc.opts.Capacity > 0
	if !mc.alone || len(c.Handles) == 0 || slices.ContainsFunc(c.Handles, lives) || emptied {
		c.Do()
		return
	}
	words, values := pool.Image(mc.p)
	cells := pool.CellBytes(mc.p)
	c.Do()
	wordsAfter, valuesAfter := pool.Image(mc.p)
	after := mc.p.Stats()
	// A verb that pins may let the epoch advance, and the first one makes cells.
	after.Bytes -= pool.CellBytes(mc.p) - cells
	after.Epoch, after.OldestPin, after.PinAge = before.Epoch, before.OldestPin, before.PinAge
	if !reflect.DeepEqual(words, wordsAfter) || !reflect.DeepEqual(values, valuesAfter) || before != after {
		mc.Failf("%v with %v, which are not live, wrote: %x became %x, before: %+v", c, c.Handles, words, wordsAfter, before)
	}
	mc.done[c.String()+" that writes nothing"]++
}

// call is that of the verb with a name.
func (mc *machine[T]) call(name string, hs ...pool.Handle[T]) *call[T] {
	return mc.of(mc.verbs.Named(name), hs...)
}

func (mc *machine[T]) of(v *verbs.Verb[T], hs ...pool.Handle[T]) *call[T] {
	return &call[T]{Verb: v, Judge: mc, Kind: mc.kind, Pool: mc.p, Handles: hs}
}

// step runs one operation.
func (mc *machine[T]) step() {
	sum := 8 // for a snapshot
	for i := range mc.verbs {
		sum += mc.verbs[i].Weight
	}
	at := mc.choose(sum)
	for i := range mc.verbs {
		if at -= mc.verbs[i].Weight; at < 0 {
			mc.draw(&mc.verbs[i])
			return
		}
	}
	mc.snapshot()
}

// draw runs one of v's operations, if there is all that it needs.
func (mc *machine[T]) draw(v *verbs.Verb[T]) {
	c := mc.of(v)
	needs := func(n verbs.Needs) bool { return v.Needs&n != 0 }
	switch {
	case v.Name == "Open" && mc.worker != nil, needs(verbs.Worker) && mc.worker == nil,
		needs(verbs.Reservation) && len(mc.held) == 0, needs(verbs.Pins) && len(mc.holds) > 3, needs(verbs.Context) && len(mc.holds) > 0:
		return
	case needs(verbs.Guard | verbs.Either):
		i := mc.choose(len(mc.holds) + 1)
		if i == len(mc.holds) || needs(verbs.Guard) && mc.holds[i].Ref != nil {
			return
		}
		c.Hold = mc.holds[i]
		if needs(verbs.Either) {
			mc.holds = slices.Delete(mc.holds, i, i+1)
		}
	case needs(verbs.Reservation):
		i := mc.choose(len(mc.held))
		c.Open = mc.held[i]
		mc.held = slices.Delete(mc.held, i, i+1)
	}
	had := c.Hold
	if needs(verbs.Handle) {
		c.Handles = append(c.Handles, mc.any())
	}
	if needs(verbs.Handles) {
		for range mc.choose(8) {
			c.Handles = append(c.Handles, mc.any())
		}
	}
	if needs(verbs.Number) {
		c.N = mc.choose(20)
	}
	if mc.worker != nil && needs(verbs.Any) && (needs(verbs.Worker) || mc.choose(2) == 0) {
		c.Via = mc.worker
	}
	if needs(verbs.Context) {
		ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience())
		defer cancel()
		c.Context = ctx
	}
	c.Fails = needs(verbs.Inserts) && mc.choose(4) == 0
	mc.do(c)
	switch {
	case v.Name == "Close":
		mc.worker = nil
	case c.Opened != nil:
		mc.worker = c.Opened
	case needs(verbs.Inserts) && c.Open != nil:
		mc.held = append(mc.held, c.Open)
		mc.done[v.Name]++
	case c.Hold != had:
		mc.holds = append(mc.holds, c.Hold)
	}
}

// watch requires that no value under a guard or a Ref has changed.
func (mc *machine[T]) watch() {
	for _, k := range mc.holds {
		k.Check(mc, mc.kind)
	}
}

// runAll runs steps while more returns true, and then removes everything. It returns how often
// what happened.
func (mc *machine[T]) runAll(more func() bool) map[string]int {
	if mc.alone {
		defer debug.SetGCPercent(mc.gc)
	}
	for more() {
		mc.step()
		mc.watch()
		mc.hear()
	}
	for _, k := range mc.holds {
		c := mc.call("Unpin")
		c.Hold = k
		c.Do()
	}
	mc.holds = nil
	for _, r := range mc.held {
		r.Cancel()
	}
	mc.held = nil
	if mc.worker != nil {
		mc.worker.Close()
		mc.worker = nil
	}
	mc.call("Clear").Do()
	st := testkit.RequireReclaimed(mc.t, mc.p)
	if st.Live != 0 {
		mc.Failf("something lives after Clear")
	}
	for _, h := range mc.known {
		mc.call("Contains", h).Do()
	}
	if mc.opts.Capacity == 0 {
		return mc.done
	}
	// No slot was lost, and those that are exhausted are replaced.
	mc.filling = true
	for refused := mc.done["refused"]; mc.done["refused"] == refused; {
		mc.call("Insert").Do()
	}
	if mc.Live() != mc.opts.Capacity {
		mc.Failf("at the end %d values fit, want %d", mc.Live(), mc.opts.Capacity)
	}
	return mc.done
}

// TestOperationsMatchModel catches, among others: a life that is not burned by a constructor
// that fails (a handle is issued twice), a grace period that ends early (a value under a guard
// or Ref changes), a Reset of a value that was taken, a pin that a panic does not give back
// (Stats and Synchronize see it), a slot that a flush forgets (fewer fit at the end), a link
// that points to its own slot (a forged match), a comparison that leaves out a bit, and a verb
// that refuses a handle and writes.
func TestOperationsMatchModel(t *testing.T) {
	all := []string{
		"stale", "refused", "Snapshot", "Clone", "Snapshot in a constructor", "InsertFunc, given up", "TryInsertFunc, given up", "Trim that gives memory back",
		"change in All", "change in Guard.All", "change in Each", "change in View", "change in InsertFunc",
		"panic in DeleteFunc", "panic in Drain", "panic in InsertFunc", "pair in OnInsert", "pair in OnRemove",
		pool.ErrFull.Error(), pool.ErrStalled.Error(),
	}
	for _, v := range verbs.Table[plain]() {
		names := []string{v.Name}
		if v.Needs&verbs.Any != 0 && v.Needs&verbs.Worker == 0 {
			names = append(names, "Worker."+v.Name)
		}
		for _, name := range names {
			all = append(all, name)
			if v.Needs&(verbs.Handle|verbs.Handles) != 0 {
				all = append(all, name+" that writes nothing")
			}
		}
	}
	testkit.MatchModel(t, streams(), 1, max(300, testkit.Long(1500)), stream, 10, all...)
}

func FuzzOps(f *testing.F) { testkit.FuzzModel(f, streams(), 60, stream) }

// streams is how many kinds of pools stream has, and stream runs a machine on one of them.
func streams() int { return 2 * len(modelConfigs(resetPlain)) }

func stream(t testing.TB, which int, choose func(n int) int, more func() bool) map[string]int {
	if which%2 == 0 {
		return newMachine(t, plainKind, modelConfigs(resetPlain)[which/2], choose).runAll(more)
	}
	return newMachine(t, boxedKind, modelConfigs(resetBoxed)[which/2], choose).runAll(more)
}
