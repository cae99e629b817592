package dense_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// lastGeneration is a slot's last live generation.
const lastGeneration = 1<<32 - 3

// kind tells the machine how to handle values of T.
type kind[T any] struct {
	make func(id uint64) T
	id   func(*T) uint64
}

type plain struct{ ID, Twice uint64 }

var plainKind = kind[plain]{
	func(id uint64) plain { return plain{id, 2 * id} },
	func(v *plain) uint64 {
		if v.Twice != 2*v.ID {
			return 1 << 63 // torn
		}
		return v.ID
	},
}

type boxed struct{ Box *uint64 }

var boxedKind = kind[boxed]{
	func(id uint64) boxed { return boxed{&id} },
	func(v *boxed) uint64 {
		if v.Box == nil {
			return 1 << 62
		}
		return *v.Box
	},
}

// byteKind has few distinct values: ids that differ by 256 look alike.
var byteKind = kind[byte]{func(id uint64) byte { return byte(id) }, func(v *byte) uint64 { return uint64(*v) }}

var emptyKind = kind[struct{}]{func(uint64) (v struct{}) { return }, func(*struct{}) uint64 { return 0 }}

type page struct {
	ID   uint64
	Rest [4080]byte
	Last uint64
}

var pageKind = kind[page]{
	func(id uint64) page { return page{ID: id, Last: id} },
	func(v *page) uint64 {
		if v.Last != v.ID {
			return 1 << 63
		}
		return v.ID
	},
}

// item is a value of the model.
type item[T any] struct {
	h    pool.Handle[T]
	id   uint64
	dead bool
}

// machine runs operations on a store and on a model: a slice of items, in order, with
// those created in this phase at the end. A fuzzer or a generator feeds its choices
// through choose.
type machine[T any] struct {
	t         testing.TB
	kind      kind[T]
	opts      dense.Options[T]
	s         *dense.Store[T]
	onDestroy func(pool.Handle[T], *T)
	choose    func(n int) int // 0 ≤ choice < n

	items     []item[T]
	index     map[pool.Handle[T]]int  // into items
	joined    int                     // items that Values must have
	past      map[pool.Handle[T]]bool // every handle that was issued
	known     []pool.Handle[T]        // the same, to choose from
	pointers  map[*T]uint64           // what Get has returned in this phase
	exhausted int
	lastID    uint64

	shown   []item[T] // what OnDestroy has seen
	panicAt int       // the call at which it panics, or -1
	done    map[string]int
}

func newMachine[T any](t testing.TB, k kind[T], opts dense.Options[T], choose func(int) int) *machine[T] {
	mc := &machine[T]{
		t: t, kind: k, opts: opts, choose: choose, panicAt: -1,
		index: map[pool.Handle[T]]int{}, past: map[pool.Handle[T]]bool{}, pointers: map[*T]uint64{}, done: map[string]int{},
	}
	if opts.OnDestroy != nil {
		mc.onDestroy = func(h pool.Handle[T], v *T) {
			mc.shown = append(mc.shown, item[T]{h: h, id: k.id(v)})
			if len(mc.shown) == mc.panicAt {
				panic(errOnDestroy)
			}
		}
	}
	opts.OnDestroy = mc.onDestroy
	mc.s = tiny(t, &opts)
	return mc
}

var errOnDestroy = errors.New("OnDestroy")

// fatalf fails with the state of the machine.
func (mc *machine[T]) fatalf(format string, args ...any) {
	mc.t.Helper()
	mc.t.Fatalf("%s\n(%d items, %d of them joined, %d slots exhausted, capacity %d, origin %d, unordered %v, OnDestroy %v)", fmt.Sprintf(format, args...),
		len(mc.items), mc.joined, mc.exhausted, mc.opts.Capacity, mc.opts.Origin, mc.opts.Unordered, mc.opts.OnDestroy != nil)
}

// shownAs returns the id that a value made with this id shows.
func (mc *machine[T]) shownAs(id uint64) uint64 {
	v := mc.kind.make(id)
	return mc.kind.id(&v)
}

func (mc *machine[T]) create() {
	mc.lastID++
	h, err := mc.s.Create(mc.kind.make(mc.lastID))
	limit := mc.s.Cap() - mc.exhausted
	switch full := len(mc.items) >= limit; {
	case full && limit == 0 && !errors.Is(err, pool.ErrExhausted), full && !errors.Is(err, pool.ErrFull), full && h != 0,
		full && limit > 0 && errors.Is(err, pool.ErrExhausted):
		mc.fatalf("Create returned %v, %v at the limit, %d", h, err, limit)
	case full:
		mc.done["refused"]++
		return
	case err != nil:
		mc.fatalf("Create returned %v below the limit, %d", err, limit)
	case h.Generation()%2 == 0 || h.Generation() > lastGeneration || mc.past[h]:
		mc.fatalf("handle %v was issued, before: %v", h, mc.past[h])
	}
	mc.past[h] = true
	mc.known = append(mc.known, h)
	mc.index[h] = len(mc.items)
	mc.items = append(mc.items, item[T]{h: h, id: mc.lastID})
	mc.done["Create"]++
}

// any chooses a handle: usually a young one, which often lives, sometimes its neighbour
// or any word.
func (mc *machine[T]) any() pool.Handle[T] {
	if len(mc.known) == 0 {
		return pool.Handle[T](mc.choose(1 << 16))
	}
	h := mc.known[len(mc.known)-1-mc.choose(min(len(mc.known), 40))]
	switch mc.choose(16) {
	case 0:
		h += pool.Handle[T](mc.choose(5)-2) << 32
	case 1:
		h ^= 1 << mc.choose(64)
	case 2:
		h = pool.Handle[T](mc.choose(256)) << (mc.choose(8) * 8)
	}
	return h
}

func (mc *machine[T]) kill(h pool.Handle[T]) {
	i, lives := mc.index[h]
	want := lives && !mc.items[i].dead
	if got := mc.s.Kill(h); got != want {
		mc.fatalf("Kill(%v) returned %v, want %v", h, got, want)
	}
	if want {
		mc.items[i].dead = true
		mc.done["Kill"]++
		if i >= mc.joined {
			mc.done["Kill, created"]++
		}
	} else {
		mc.done["Kill, refused"]++
	}
}

// look checks Get, Alive and State.
func (mc *machine[T]) look(h pool.Handle[T]) {
	i, lives := mc.index[h]
	want := dense.Unused
	if lives {
		want = dense.Alive
		if mc.items[i].dead {
			want = dense.Dead
		}
		mc.done[want.String()]++
	}
	if got := mc.s.State(h); got != want {
		mc.fatalf("State(%v) is %v, want %v", h, got, want)
	}
	if got := mc.s.Alive(h); got != lives {
		mc.fatalf("Alive(%v) is %v, want %v", h, got, lives)
	}
	v, ok := mc.s.Get(h)
	if ok != lives || (v != nil) != lives {
		mc.fatalf("Get(%v) returned %v, %v, want %v", h, v != nil, ok, lives)
	}
	if !lives {
		return
	}
	if want := mc.shownAs(mc.items[i].id); mc.kind.id(v) != want {
		mc.fatalf("Get(%v) gives value %d, want %d", h, mc.kind.id(v), want)
	}
	mc.pointers[v] = mc.kind.id(v)
}

// slices checks Values, Handles, All, Len and Pending.
func (mc *machine[T]) slices() {
	s := mc.s
	vs, hs := s.Values(), s.Handles()
	if len(vs) != mc.joined || len(hs) != mc.joined || s.Len() != mc.joined || cap(vs) != len(vs) || cap(hs) != len(hs) {
		mc.fatalf("%d values, %d handles, Len %d; want %d", len(vs), len(hs), s.Len(), mc.joined)
	}
	for i := range vs {
		if it := mc.items[i]; hs[i] != it.h || mc.kind.id(&vs[i]) != mc.shownAs(it.id) {
			mc.fatalf("at %d is %v with value %d, want %v with %d", i, hs[i], mc.kind.id(&vs[i]), it.h, it.id)
		}
	}
	n := 0
	for h, v := range s.All() {
		if h != hs[n] || v != &vs[n] {
			mc.fatalf("All yields %v at %d", h, n)
		}
		n++
	}
	if n != mc.joined {
		mc.fatalf("All yields %d of %d", n, mc.joined)
	}
	dead := 0
	for _, it := range mc.items {
		if it.dead {
			dead++
		}
	}
	if created, killed := s.Pending(); created != len(mc.items)-mc.joined || killed != dead {
		mc.fatalf("Pending is %d, %d; want %d, %d", created, killed, len(mc.items)-mc.joined, dead)
	}
	if err := dense.Check(s); err != nil {
		mc.fatalf("%v", err)
	}
}

// watch checks that the pointers from Get still show their values.
func (mc *machine[T]) watch() {
	for v, id := range mc.pointers {
		if mc.kind.id(v) != id {
			mc.fatalf("a pointer shows %d, and showed %d", mc.kind.id(v), id)
		}
	}
}

// refresh checks Refresh and, if all is set, Clear.
func (mc *machine[T]) refresh(all bool) {
	s := mc.s
	var dead []item[T]
	for i := range mc.items {
		it := &mc.items[i]
		it.dead = it.dead || all
		if it.dead {
			dead = append(dead, *it)
		}
	}
	mc.shown, mc.panicAt = nil, -1
	leave := len(dead) // how many will
	if mc.opts.OnDestroy != nil && len(dead) > 0 && mc.choose(4) == 0 {
		mc.panicAt = 1 + mc.choose(len(dead))
		leave = mc.panicAt
	}
	wantCreated := len(mc.items) - mc.joined
	before := slices.Clone(s.Handles())
	var created, destroyed int
	switch v := recovered(func() {
		if all {
			s.Clear()
			created, destroyed = wantCreated, leave
		} else {
			created, destroyed = s.Refresh()
		}
	}); {
	case mc.panicAt >= 0 && v != any(errOnDestroy), mc.panicAt < 0 && v != nil:
		mc.fatalf("panic %v reached the caller", v)
	case v != nil:
		mc.done["Refresh, panic"]++
	case created != wantCreated || destroyed != len(dead):
		mc.fatalf("Refresh returned %d, %d; want %d, %d", created, destroyed, wantCreated, len(dead))
	}
	if mc.opts.OnDestroy != nil {
		if len(mc.shown) != leave {
			mc.fatalf("OnDestroy has seen %d, want %d", len(mc.shown), leave)
		}
		for i, it := range mc.shown {
			if it.h != dead[i].h || it.id != mc.shownAs(dead[i].id) {
				mc.fatalf("OnDestroy has seen %v with %d, want %v with %d", it.h, it.id, dead[i].h, dead[i].id)
			}
		}
	}
	for _, it := range dead[:leave] {
		delete(mc.index, it.h)
		if it.h.Generation() == lastGeneration {
			mc.exhausted++
			mc.done["exhausted"]++
		}
		if s.Alive(it.h) || s.State(it.h) != dense.Unused || s.Kill(it.h) {
			mc.fatalf("%v lives after Refresh", it.h)
		}
	}
	old := mc.items
	mc.items = slices.DeleteFunc(slices.Clone(old), func(it item[T]) bool { _, lives := mc.index[it.h]; return !lives })
	if mc.opts.Unordered {
		mc.adoptOrder(old, before)
	}
	for i, it := range mc.items {
		mc.index[it.h] = i
	}
	mc.joined = len(mc.items)
	clear(mc.pointers)
	mc.done["Refresh"]++
	mc.slices()
	for i := 0; i < len(mc.known); i += 1 + len(mc.known)/64 {
		mc.look(mc.known[i])
	}
}

// adoptOrder adopts the store's order of the items, and checks that no more have moved
// than left.
func (mc *machine[T]) adoptOrder(old []item[T], before []pool.Handle[T]) {
	hs := mc.s.Handles()
	if len(hs) != len(mc.items) {
		mc.fatalf("%d values, want %d", len(hs), len(mc.items))
	}
	moved := 0
	ordered := make([]item[T], len(hs))
	for i, h := range hs {
		at, lives := mc.index[h]
		if !lives {
			mc.fatalf("%v is in Values", h)
		}
		ordered[i] = old[at]
		if i != at {
			moved++
		}
		if at < len(before) && before[at] != h {
			mc.fatalf("%v was at %d", h, at)
		}
	}
	if gone := len(old) - len(hs); moved > gone {
		mc.fatalf("%d values moved for %d that left", moved, gone)
	}
	mc.items = ordered
}

// step runs one operation.
func (mc *machine[T]) step() {
	switch c := mc.choose(34); {
	case c < 11:
		mc.create()
	case c < 18:
		mc.kill(mc.any())
	case c < 25:
		mc.look(mc.any())
	case c < 27:
		mc.slices()
	case c < 29:
		mc.refresh(false)
	case c < 30:
		n := mc.choose(2*len(mc.items) + 8)
		mc.s.Reserve(n)
		if most := mc.s.Cap() - mc.exhausted; mc.s.Allocated() < min(n, most) {
			mc.fatalf("Allocated is %d after Reserve(%d)", mc.s.Allocated(), n)
		}
		clear(mc.pointers)
		mc.done["Reserve"]++
	case c < 31:
		if mc.choose(8) == 0 {
			mc.refresh(true)
			mc.done["Clear"]++
		}
	case c < 32:
		was := mc.s.Allocated()
		if freed := mc.s.Trim(); freed < 0 || mc.s.Allocated() > was && was >= len(mc.items) {
			mc.fatalf("Trim frees %d bytes, from room for %d to %d", freed, was, mc.s.Allocated())
		} else if len(mc.items) == 0 && mc.exhausted == 0 && mc.s.Allocated() > 0 {
			mc.fatalf("Trim of nothing leaves room for %d", mc.s.Allocated())
		} else if freed > 0 {
			mc.done["Trim"]++
		}
		clear(mc.pointers)
		if err := dense.Check(mc.s); err != nil {
			mc.fatalf("after Trim: %v", err)
		}
	case c < 33:
		mc.snapshot()
	default: // a burst, for chunks
		for range mc.choose(40) {
			mc.create()
		}
	}
}

// snapshot goes on with a copy of the store, which must issue the handles that the
// original does.
func (mc *machine[T]) snapshot() {
	var b bytes.Buffer
	n, err := mc.s.WriteTo(&b)
	if created, killed := mc.s.Pending(); created+killed > 0 {
		if err == nil || b.Len() > 0 {
			mc.fatalf("WriteTo during a phase: %d bytes, %v", b.Len(), err)
		}
		return
	}
	if err != nil || n != int64(b.Len()) {
		mc.fatalf("WriteTo: %d of %d bytes, %v", n, b.Len(), err)
	}
	opts := mc.opts
	opts.Origin, opts.OnDestroy = 0, mc.onDestroy
	c, err := dense.ReadFrom(&b, &opts)
	if err != nil {
		mc.fatalf("ReadFrom: %v", err)
	}
	if len(mc.items) < mc.s.Cap()-mc.exhausted {
		h, _ := mc.s.Create(mc.kind.make(0))
		was := mc.s
		mc.s = c
		mc.create()
		if last := mc.items[len(mc.items)-1]; last.h != h {
			mc.fatalf("the copy issues %v, and the original %v", last.h, h)
		}
		if v, ok := was.Get(h); !ok || mc.kind.id(v) != mc.shownAs(0) {
			mc.fatalf("the copy and the original share memory")
		}
	}
	mc.s = c
	clear(mc.pointers)
	mc.slices()
	mc.done["snapshot"]++
}

// runAll runs steps while more returns true, and then destroys everything.
func (mc *machine[T]) runAll(more func() bool) {
	for more() {
		mc.step()
		mc.watch()
	}
	for len(mc.items) > 0 { // a panic may leave some
		mc.refresh(true)
	}
	for _, h := range mc.known {
		if mc.s.Alive(h) {
			mc.fatalf("stale handle %v lives", h)
		}
	}
	// No slot was lost: as many values fit as there are slots that can still live.
	if c := mc.opts.Capacity; c > 0 {
		for range c - mc.exhausted + 1 {
			mc.create()
		}
	}
}

// modelConfigs are stores of every kind.
func modelConfigs[T any]() (all []dense.Options[T]) {
	for _, unordered := range []bool{false, true} {
		for _, capacity := range []int{0, 1, 5, 70} {
			for _, origin := range []uint32{0, 1, lastGeneration - 6} {
				for _, onDestroy := range []func(pool.Handle[T], *T){nil, func(pool.Handle[T], *T) {}} {
					all = append(all, dense.Options[T]{Capacity: capacity, Origin: origin, Unordered: unordered, OnDestroy: onDestroy})
				}
			}
		}
	}
	return all
}

// TestOperationsMatchModel catches, among others: a moved run whose slots keep the old
// positions, handles to be issued that overwrite each other, a slot issued beyond its
// last generation, marks lost when chunks are joined, and a mark that survives its
// Refresh.
func TestOperationsMatchModel(t *testing.T) {
	done := map[string]int{}
	t.Run("plain", func(t *testing.T) { testModel(t, plainKind, 1500, done) })
	t.Run("boxed", func(t *testing.T) { testModel(t, boxedKind, 700, done) })
	t.Run("byte", func(t *testing.T) { testModel(t, byteKind, 300, done) })
	t.Run("empty", func(t *testing.T) { testModel(t, emptyKind, 300, done) })
	t.Run("page", func(t *testing.T) { testModel(t, pageKind, 200, done) })
	if t.Failed() {
		return
	}
	for _, what := range []string{
		"Create", "refused", "Kill", "Kill, created", "Kill, refused", "alive", "dead", "Refresh", "Refresh, panic", "Reserve", "Clear", "exhausted", "Trim", "snapshot",
	} {
		require.GreaterOrEqualf(t, done[what], 10, "%q was hardly tried", what)
	}
}

func testModel[T any](t *testing.T, k kind[T], steps int, done map[string]int) {
	rnd := newRand(t)
	for _, o := range modelConfigs[T]() {
		mc := newMachine(t, k, o, rnd.IntN)
		n := max(150, long(steps))
		mc.runAll(func() bool { n--; return n >= 0 })
		for what, n := range mc.done {
			done[what] += n
		}
	}
}
