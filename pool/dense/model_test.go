//go:build !race

package dense_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
)

// item is a value of the model.
type item struct {
	h      handle
	id     int
	dead   bool
	unborn bool // its init has panicked or exited: it only takes a place, until Refresh
}

// machine runs operations on a store and on a model: a slice of items, in order, with
// those created in this phase at the end. A fuzzer or a generator feeds its choices
// through choose.
type machine struct {
	t         testing.TB
	opts      storeOptions
	s         *dense.Store[int]
	onDestroy func(handle, *int)
	choose    func(n int) int // 0 ≤ choice < n

	items     []item
	index     map[handle]int  // into items
	joined    int             // items that Values must have
	past      map[handle]bool // every handle that was issued
	known     []handle        // the same, to choose from
	pointers  map[handle]*int // what Pointer has returned in this phase
	exhausted int
	lastID    int

	lived   map[uint32]uint32 // the last generation of each slot that had one, and that Trim has not freed
	used    int               // every index of a slot is less
	floor   uint32            // with an Origin, generations of other slots are not less
	mirrors bool              // CreateAt has created values

	shown  []item // what OnDestroy has seen
	failAt int    // the call at which it panics or exits, or -1
	exits  bool

	beside []int // if a function is registered, the values, as it hears of them
	stop   int   // the calls of OnMove until it panics; it is 0 then
	done   map[string]int
}

// storeOptions are those of a store, and whether OnMove has a function.
type storeOptions struct {
	dense.Options[int]
	tells bool
}

func newMachine(t testing.TB, opts storeOptions, choose func(int) int) *machine {
	mc := &machine{
		t: t, opts: opts, choose: choose, failAt: -1,
		index: map[handle]int{}, lived: map[uint32]uint32{}, past: map[handle]bool{}, pointers: map[handle]*int{}, done: map[string]int{},
	}
	if opts.OnDestroy != nil {
		mc.onDestroy = func(h handle, v *int) {
			if at := mc.pointers[h]; at != nil && at != v {
				mc.fatalf("OnDestroy sees %v with %d, which has moved", h, *v)
			}
			mc.reads(h)
			mc.shown = append(mc.shown, item{h: h, id: *v, dead: true})
			if len(mc.shown) == mc.failAt {
				if mc.exits {
					runtime.Goexit()
				}
				panic(errTest)
			}
		}
	}
	mc.opts.OnDestroy = mc.onDestroy
	mc.s = tiny(t, &mc.opts.Options)
	mc.register()
	return mc
}

// register registers onMove, and a function that is taken back.
func (mc *machine) register() {
	if mc.opts.tells {
		stop := mc.s.OnMove(func(handle, int, int) { mc.fatalf("a function that was taken back is called") })
		mc.s.OnMove(mc.onMove)
		stop()
		stop()
	}
}

// reads checks that h, and another, are found from OnDestroy as before.
func (mc *machine) reads(h handle) {
	for _, h := range []handle{h, mc.any()} {
		i, lives := mc.index[h]
		if v, ok := mc.s.Pointer(h); ok != lives || ok && *v != mc.items[i].id || mc.s.Alive(h) != lives {
			mc.fatalf("during Refresh Pointer(%v) returns %v, want %v", h, ok, lives)
		}
	}
}

// onMove keeps beside.
func (mc *machine) onMove(h handle, from, to int) {
	if mc.stop--; mc.stop == 0 {
		mc.done["OnMove, panic"]++
		panic(errTest)
	}
	i, n := mc.index[h], mc.joined
	want := i
	if i >= n {
		want = dense.None
	}
	if from == to || to > len(mc.beside) || from != want && from != n {
		mc.fatalf("OnMove(%v, %d, %d), of %d; it was at %d", h, from, to, n, i)
	}
	if v, ok := mc.s.Pointer(h); ok == (to == dense.None) || ok && *v != mc.items[i].id {
		mc.fatalf("OnMove(%v, %d, %d), but Pointer finds it: %v", h, from, to, ok)
	}
	if to >= 0 && to < mc.s.Len() && mc.s.Handles()[to] != h {
		mc.fatalf("OnMove(%v, %d, %d), but there is %v", h, from, to, mc.s.Handles()[to])
	}
	if dead := mc.s.State(h) == dense.Dead; to != dense.None && dead != mc.items[i].dead {
		mc.fatalf("OnMove(%v, %d, %d) finds it dead: %v", h, from, to, dead)
	}
	if to == dense.None {
		if mc.beside[from] != mc.items[i].id {
			mc.fatalf("OnMove(%v, %d, %d) comes late: there is %d", h, from, to, mc.beside[from])
		}
		mc.done["OnMove, gone"]++
		return
	}
	if to == len(mc.beside) {
		mc.beside = append(mc.beside, 0)
	}
	if from == dense.None {
		mc.beside[to] = mc.items[i].id
		mc.done["OnMove, new"]++
	} else {
		mc.beside[to] = mc.beside[from]
		mc.done["OnMove"]++
	}
}

// cut checks beside after a call that may have moved values.
func (mc *machine) cut(panicked bool) {
	if !mc.opts.tells {
		return
	}
	if panicked {
		mc.beside = append([]int(nil), mc.s.Values()...)
	}
	mc.beside = mc.beside[:min(len(mc.beside), mc.s.Len())]
	if !slices.Equal(mc.beside, mc.s.Values()) {
		mc.fatalf("beside the values there is %v, want %v", mc.beside, mc.s.Values())
	}
}

// sort checks SortFunc, and that it is stable.
func (mc *machine) sort() {
	kinds, turn := 1+mc.choose(40), 1-2*mc.choose(2)
	key := func(id int) int { return id * turn % kinds }
	stop := -1
	if mc.choose(4) == 0 {
		stop = 1 + mc.choose(mc.joined+1)
	}
	mc.stop = mc.stopsMoves()
	v := testkit.Recovered(func() {
		mc.s.SortFunc(func(a, b *int) int {
			if stop--; stop == 0 {
				panic(errTest)
			}
			return key(*a) - key(*b)
		})
	})
	moved := v == nil || stop != 0 // OnMove has panicked
	if v != nil && v != errTest || v == nil && stop == 0 {
		mc.fatalf("SortFunc panicked: %v", v)
	}
	if moved {
		slices.SortStableFunc(mc.items[:mc.joined], func(a, b item) int { return key(a.id) - key(b.id) })
		for i, it := range mc.items[:mc.joined] {
			mc.index[it.h] = i
		}
		clear(mc.pointers)
		mc.done["SortFunc"]++
	} else {
		mc.done["SortFunc, panic"]++
	}
	mc.slices()
	mc.cut(v != nil)
}

// stopsMoves returns the call of OnMove that panics, or -1.
func (mc *machine) stopsMoves() int {
	if mc.choose(4) == 0 {
		return 1 + mc.choose(mc.joined+8)
	}
	return -1
}

// fatalf fails with the state of the machine.
func (mc *machine) fatalf(format string, args ...any) {
	mc.t.Helper()
	mc.t.Fatalf("%s\n(%d items, %d of them joined, %d slots exhausted, capacity %d, origin %d, unordered %v, OnDestroy %v)", fmt.Sprintf(format, args...),
		len(mc.items), mc.joined, mc.exhausted, mc.opts.Capacity, mc.opts.Origin, mc.opts.Unordered, mc.opts.OnDestroy != nil)
}

func (mc *machine) create() {
	mc.lastID++
	h, err := mc.s.Create(mc.lastID)
	limit := mc.limit()
	switch full := len(mc.items) >= limit; {
	case full && (!errors.Is(err, pool.ErrFull) || errors.Is(err, pool.ErrExhausted) || h != 0):
		mc.fatalf("Create returned %v, %v at the limit, %d", h, err, limit)
	case full:
		mc.done["refused"]++
		return
	case err != nil:
		mc.fatalf("Create returned %v below the limit, %d", err, limit)
	case h.Generation()%2 == 0 || h.Generation() > testkit.LastGeneration || mc.past[h]:
		mc.fatalf("handle %v was issued, before: %v", h, mc.past[h])
	}
	mc.joins(h)
	mc.done["Create"]++
}

// joins adds a value that has been created.
func (mc *machine) joins(h handle) {
	mc.past[h] = true
	mc.known = append(mc.known, h)
	mc.index[h] = len(mc.items)
	mc.items = append(mc.items, item{h: h, id: mc.lastID})
	mc.lived[h.Index()] = h.Generation()
	mc.used = max(mc.used, int(h.Index())+1)
}

// createFunc checks CreateFunc, whose init may panic or exit.
func (mc *machine) createFunc() {
	mc.lastID++
	how := []string{"CreateFunc", "CreateFunc", "CreateFunc, panic", "CreateFunc, exit"}[mc.choose(4)]
	full := len(mc.items) >= mc.limit()
	var h, seen handle
	var err error
	v := testkit.Apart(func() {
		h, err = mc.s.CreateFunc(func(h handle, v *int) {
			if seen = h; *v != 0 || mc.past[h] || mc.s.Alive(h) || mc.s.Kill(h) || full {
				mc.fatalf("init gets %v with %d, issued before: %v", h, *v, mc.past[h])
			}
			*v = mc.lastID
			switch how {
			case "CreateFunc, panic":
				panic(errTest)
			case "CreateFunc, exit":
				runtime.Goexit()
			}
		})
	})
	switch {
	case full:
		if !errors.Is(err, pool.ErrFull) || h != 0 || v != nil {
			mc.fatalf("CreateFunc returned %v, %v at the limit", h, err)
		}
		return
	case err != nil || (v == errTest) != (how == "CreateFunc, panic"):
		mc.fatalf("%s: %v, panic %v", how, err, v)
	case how == "CreateFunc" && h != seen:
		mc.fatalf("CreateFunc returned %v, and init got %v", h, seen)
	}
	mc.joins(seen)
	if how != "CreateFunc" {
		mc.items[len(mc.items)-1].unborn = true
		mc.items[len(mc.items)-1].dead = true
		delete(mc.index, seen)
	}
	mc.done[how]++
}

// holder returns the item that has a slot, or -1.
func (mc *machine) holder(index uint32) int {
	return slices.IndexFunc(mc.items, func(it item) bool { return it.h.Index() == index })
}

// foreign draws a handle for CreateAt, with an index not far beyond the highest.
func (mc *machine) foreign() handle {
	h := mc.any()
	if mc.choose(3) == 0 { // one of the next slots, before Origin
		h = handle(mc.used+mc.choose(3)) | handle(1+2*mc.choose(6))<<32
	} else if mc.choose(2) == 0 {
		first := mc.opts.Origin | 1
		if mc.choose(4) > 0 {
			first = 1
		}
		index := uint32(mc.choose(mc.used + 20))
		for range mc.choose(8) { // one that is vacant, if possible
			if mc.holder(index) >= 0 {
				index = uint32(mc.choose(mc.used + 20))
			}
		}
		g := first + 2*uint32(mc.choose(6))
		if last, lived := mc.lived[index]; lived && mc.choose(4) > 0 {
			g = last + 2*uint32(mc.choose(3))
		}
		h = handle(index) | handle(g)<<32
		if mc.opts.Capacity > 0 && mc.choose(4) == 0 {
			h = h&^(1<<32-1) | handle(mc.opts.Capacity+mc.exhausted-2+mc.choose(4))
		}
	} else if mc.choose(2) == 0 {
		h += 2 << 32
	}
	if mc.opts.Capacity == 0 && int64(h.Index()) > int64(mc.used)+100 {
		h &^= 1<<32 - 1 // or it takes much memory
	}
	return h
}

// createAt checks CreateAt.
func (mc *machine) createAt(h handle) {
	mc.lastID++
	g := h.Generation()
	var want, or error // or is another right answer
	last, lived := mc.lived[h.Index()]
	holder := mc.holder(h.Index())
	switch {
	case g%2 == 0 || g > testkit.LastGeneration || mc.opts.Capacity > 0 && int64(h.Index()) >= int64(max(mc.used, mc.opts.Capacity+mc.exhausted)):
		want, or = dense.ErrHandle, dense.ErrHandle
	case holder >= 0 && mc.items[holder].h.Generation() <= g:
		want, or = dense.ErrLive, dense.ErrLive
	case holder >= 0 && mc.items[holder].unborn:
		want, or = dense.ErrLive, dense.ErrStale
	case holder >= 0 || lived && g <= last || !lived && g < mc.floor && mc.opts.Origin != 0:
		want, or = dense.ErrStale, dense.ErrStale
	case len(mc.items) >= mc.limit():
		want, or = pool.ErrFull, pool.ErrFull
	}
	if mc.opts.Origin == 0 && or != dense.ErrHandle && or != dense.ErrLive {
		or = dense.ErrStale // the slot has jumped, or its generation is not known
	}
	before := mc.used
	switch err := mc.s.CreateAt(h, mc.lastID); {
	case !errors.Is(err, want) && !errors.Is(err, or):
		mc.fatalf("CreateAt(%d@%d) returned %v, want %v", h.Index(), g, err, want)
	case err != nil:
		for _, e := range []error{dense.ErrHandle, dense.ErrLive, dense.ErrStale, pool.ErrFull} {
			if errors.Is(err, e) {
				mc.done["CreateAt, "+e.Error()]++
			}
		}
		return
	}
	mc.mirrors = true
	mc.joins(h)
	if mc.used > before+1 {
		mc.done["CreateAt, far"]++
	}
	if g < mc.opts.Origin {
		mc.done["CreateAt, before Origin"]++
	}
	mc.done["CreateAt"]++
}

// deleteFunc checks DeleteFunc.
func (mc *machine) deleteFunc() {
	kinds, stop := 1+mc.choose(6), -1
	if mc.choose(4) == 0 {
		stop = 1 + mc.choose(mc.joined+1)
	}
	var want []int // the items that it shows
	for i, it := range mc.items[:mc.joined] {
		if !it.dead {
			want = append(want, i)
		}
	}
	killed, shown := 0, 0
	var got int
	v := testkit.Recovered(func() {
		got = mc.s.DeleteFunc(func(h handle, v *int) bool {
			for shown < len(want) && mc.items[want[shown]].dead {
				want = slices.Delete(want, shown, shown+1)
			}
			if shown == len(want) || mc.items[want[shown]].h != h || mc.items[want[shown]].id != *v {
				mc.fatalf("DeleteFunc shows %v with %d", h, *v)
			}
			it := &mc.items[want[shown]]
			shown++
			if stop--; stop == 0 {
				panic(errTest)
			}
			switch {
			case mc.choose(16) == 0:
				mc.kill(h) // so it counts for Kill
				return true
			case mc.choose(16) == 0:
				mc.create()
				mc.kill(mc.any())
				return false
			case *v%kinds != 0:
				return false
			}
			it.dead = true
			killed++
			return true
		})
	})
	left := 0 // are still alive, and were not shown
	for _, i := range want[shown:] {
		if !mc.items[i].dead {
			left++
		}
	}
	if v == nil && (got != killed || left > 0) || v != nil && (v != errTest || stop != 0) {
		mc.fatalf("DeleteFunc returned %d, want %d; %v; %d were not shown", got, killed, v, left)
	}
	mc.done[fmt.Sprint("DeleteFunc, panic: ", v != nil)]++
}

// trims checks Trim, and what it makes of generations.
func (mc *machine) trims() {
	if freed := mc.s.Trim(); freed < 0 || mc.s.Allocated() != len(mc.items) && !mc.mirrors {
		mc.fatalf("Trim frees %d bytes, and leaves room for %d values, want %d", freed, mc.s.Allocated(), len(mc.items))
	} else if freed > 0 {
		mc.done["Trim"]++
	}
	clear(mc.pointers)
	mc.slices()
	if mc.mirrors {
		return
	}
	top := 0
	for _, it := range mc.items {
		top = max(top, int(it.h.Index())+1)
	}
	for index, last := range mc.lived {
		if last == testkit.LastGeneration { // exhausted, unless it has a value
			top = max(top, int(index)+1)
		}
	}
	for index, last := range mc.lived {
		if int(index) >= top {
			mc.floor = max(mc.floor, last+2)
			delete(mc.lived, index)
		}
	}
	mc.used = min(mc.used, top)
}

// limit is how many values there may be.
func (mc *machine) limit() int {
	if mc.opts.Capacity == 0 {
		return pool.MaxCapacity
	}
	return mc.opts.Capacity
}

// any chooses a handle: usually a young one, which often lives, sometimes its neighbour, one
// beyond the last, or any word.
func (mc *machine) any() handle {
	if len(mc.known) == 0 {
		return handle(mc.choose(1 << 16))
	}
	h := mc.known[len(mc.known)-1-mc.choose(min(len(mc.known), 40))]
	switch mc.choose(16) {
	case 0:
		h += handle(mc.choose(5)-2) << 32
	case 1:
		h ^= 1 << mc.choose(64)
	case 2:
		h = handle(mc.choose(256)) << (mc.choose(8) * 8)
	case 3:
		h += handle(mc.choose(64))
	}
	return h
}

func (mc *machine) kill(h handle) {
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

// look checks Pointer, Get, Alive and State, also by a Ptr.
func (mc *machine) look(h handle) {
	i, lives := mc.index[h]
	want := dense.Unused
	if lives {
		want = dense.Alive
		if mc.items[i].dead {
			want = dense.Dead
		}
		mc.done[want.String()]++
	}
	q := mc.s.Ptr(h)
	if st, alive := mc.s.State(h), mc.s.Alive(h); st != want || alive != lives || q.State() != want || q.Alive() != lives {
		mc.fatalf("%v is %v, alive: %v, and by a Ptr %v; want %v", h, st, alive, q.State(), want)
	}
	v, ok := mc.s.Pointer(h)
	if ok != lives || (v != nil) != lives {
		mc.fatalf("Pointer(%v) returned %v, %v, want %v", h, v != nil, ok, lives)
	}
	if !lives {
		return
	}
	if want := mc.items[i].id; *v != want {
		mc.fatalf("Pointer(%v) gives value %d, want %d", h, *v, want)
	}
	if copied, ok := mc.s.Get(h); !ok || copied != *v {
		mc.fatalf("Get(%v) returns %v, %v", h, copied, ok)
	}
	mc.pointers[h] = v
}

// slices checks Values, Handles, All, Len, Cap and Stats.
func (mc *machine) slices() {
	s := mc.s
	vs, hs := s.Values(), s.Handles()
	if len(vs) != mc.joined || len(hs) != mc.joined || s.Len() != mc.joined || cap(vs) != len(vs) || cap(hs) != len(hs) {
		mc.fatalf("%d values, %d handles, Len %d; want %d", len(vs), len(hs), s.Len(), mc.joined)
	}
	for i := range vs {
		if it := mc.items[i]; hs[i] != it.h || vs[i] != it.id {
			mc.fatalf("at %d is %v with value %d, want %v with %d", i, hs[i], vs[i], it.h, it.id)
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
	if st := s.Stats(); s.Cap() != mc.limit() || st.Capacity != mc.limit() || st.Live != len(mc.items) || st.Live+st.Free != st.Allocated || st.Allocated < s.Allocated() || s.Allocated() > mc.limit() {
		mc.fatalf("Cap is %d, want %d; %+v", s.Cap(), mc.limit(), st)
	}
	if err := dense.Check(s); err != nil {
		mc.fatalf("%v", err)
	}
}

// watch checks that the pointers from Pointer still show their values.
func (mc *machine) watch() {
	for h, v := range mc.pointers {
		if id := mc.items[mc.index[h]].id; *v != id {
			mc.fatalf("the pointer to %v shows %d, and showed %d", h, *v, id)
		}
	}
}

// refresh checks Refresh and, if all is set, Clear.
func (mc *machine) refresh(all bool) {
	s := mc.s
	var dead []item
	for i := range mc.items {
		it := &mc.items[i]
		it.dead = it.dead || all
		if it.dead && !it.unborn {
			dead = append(dead, *it)
		}
	}
	mc.shown, mc.failAt, mc.exits = nil, -1, mc.choose(2) == 0
	var want any
	leave := len(dead) // how many will
	if mc.opts.OnDestroy != nil && len(dead) > 0 && mc.choose(4) == 0 {
		mc.failAt = 1 + mc.choose(len(dead))
		leave = mc.failAt
		if !mc.exits {
			want = errTest
		}
	}
	mc.stop = -1
	if mc.opts.tells && mc.failAt < 0 {
		mc.stop = mc.stopsMoves()
	}
	unborn := slices.DeleteFunc(slices.Clone(mc.items), func(it item) bool { return !it.unborn })
	wantCreated := len(mc.items) - mc.joined - len(unborn)
	before := slices.Clone(s.Handles())
	var created, destroyed int
	returned := false
	switch v := testkit.Apart(func() {
		if all {
			created, destroyed = wantCreated, s.Clear()
		} else {
			created, destroyed = s.Refresh()
		}
		returned = true
	}); {
	case mc.stop == 0 && v == errTest: // OnMove has panicked
	case v != want || returned == (mc.failAt >= 0):
		mc.fatalf("panic %v reached the caller, want %v; Refresh returned: %v", v, want, returned)
	case !returned:
		mc.done[fmt.Sprintf("Refresh, exit: %v", mc.exits)]++
	case created != wantCreated || destroyed != len(dead):
		mc.fatalf("Refresh returned %d, %d; want %d, %d", created, destroyed, wantCreated, len(dead))
	}
	if mc.opts.OnDestroy != nil && !slices.Equal(mc.shown, dead[:leave]) {
		mc.fatalf("OnDestroy has seen %v, want %v", mc.shown, dead[:leave])
	}
	for _, it := range append(unborn, dead[:leave]...) {
		delete(mc.index, it.h)
		if it.h.Generation() == testkit.LastGeneration {
			mc.exhausted++
			mc.done["exhausted"]++
		}
		if s.Alive(it.h) || s.State(it.h) != dense.Unused || s.Kill(it.h) {
			mc.fatalf("%v lives after Refresh", it.h)
		}
	}
	old := mc.items
	mc.items = slices.DeleteFunc(slices.Clone(old), func(it item) bool { _, lives := mc.index[it.h]; return !lives })
	if mc.opts.Unordered {
		mc.adoptOrder(old, before)
	}
	for i, it := range mc.items {
		mc.index[it.h] = i
	}
	mc.joined = len(mc.items)
	clear(mc.pointers)
	mc.cut(mc.stop == 0)
	mc.done["Refresh"]++
	mc.slices()
	for i := 0; i < len(mc.known); i += 1 + len(mc.known)/64 {
		mc.look(mc.known[i])
	}
}

// adoptOrder adopts the store's order of the items, and checks that only those have moved
// that were behind its new end: no more than left.
func (mc *machine) adoptOrder(old []item, before []handle) {
	hs := mc.s.Handles()
	if len(hs) != len(mc.items) {
		mc.fatalf("%d values, want %d", len(hs), len(mc.items))
	}
	ordered := make([]item, len(hs))
	for i, h := range hs {
		at, lives := mc.index[h]
		if !lives {
			mc.fatalf("%v is in Values", h)
		}
		ordered[i] = old[at]
		if i != at && at < len(hs) {
			mc.fatalf("%v moved from %d to %d, and %d are left", h, at, i, len(hs))
		}
		if at < len(before) && before[at] != h {
			mc.fatalf("%v was at %d", h, at)
		}
	}
	mc.items = ordered
}

// step runs one operation.
func (mc *machine) step() {
	switch c := mc.choose(44); {
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
		n := mc.choose(len(mc.items) + 8)
		mc.s.Grow(n)
		if mc.s.Allocated() < min(len(mc.items)+n, mc.limit()) {
			mc.fatalf("Allocated is %d after Grow(%d)", mc.s.Allocated(), n)
		}
		clear(mc.pointers)
		mc.done["Grow"]++
	case c < 31:
		if mc.choose(8) == 0 {
			mc.refresh(true)
			mc.done["Clear"]++
		}
	case c < 32:
		mc.snapshot()
	case c < 33:
		mc.trims()
	case c < 34:
		mc.sort()
	case c < 36: // a burst, for chunks
		for range mc.choose(160) {
			mc.create()
		}
	case c < 38:
		mc.createFunc()
	case c < 42:
		mc.createAt(mc.foreign())
	case c < 43:
		mc.deleteFunc()
	default: // neighbours, or every second or third, so that long runs die and live
		some := mc.items[mc.choose(len(mc.items)+1):]
		some = some[:mc.choose(len(some)+1)]
		for stride, i := 1+mc.choose(3), 0; i < len(some); i += stride {
			mc.kill(some[i].h)
		}
	}
}

// snapshot goes on with a copy of the store. With Origin, it must issue the handles that the
// original does, and else none of them.
func (mc *machine) snapshot() {
	c := mc.copied()
	if c == nil {
		return
	}
	var hs []handle
	for range min(mc.choose(40), mc.limit()-len(mc.items)) {
		hs = append(hs, create(mc.t, mc.s, 0))
	}
	was := mc.s
	mc.s = c
	mc.register()
	for _, h := range hs {
		if mc.s.Alive(h) {
			mc.fatalf("in the copy %v is alive, which the original has issued since", h)
		}
		mc.create()
		if last := mc.items[len(mc.items)-1]; (last.h == h) != (mc.opts.Origin != 0) {
			mc.fatalf("the copy issues %v, and the original %v", last.h, h)
		}
		if v, ok := was.Pointer(h); !ok || *v != 0 {
			mc.fatalf("the copy and the original share memory")
		}
	}
	clear(mc.pointers)
	mc.slices()
	mc.done["snapshot"]++
	if mc.mirrors { // the copy knows that as well
		mc.refresh(true)
		mc.trims()
		for range 8 {
			index := uint32(mc.choose(mc.used))
			mc.createAt(handle(index) | handle(mc.lived[index]+2)<<32)
		}
		mc.done["snapshot of a mirror"]++
	}
}

// copied returns a copy, by a snapshot or by Clone, or nil during a phase.
func (mc *machine) copied() (c *dense.Store[int]) {
	inPhase := len(mc.items) > mc.joined || slices.ContainsFunc(mc.items, func(it item) bool { return it.dead })
	var err error
	how := mc.choose(4)
	switch how {
	case 0:
		c, err = mc.s.Clone(&mc.opts.Options, nil)
	case 1:
		c, err = mc.s.Clone(&mc.opts.Options, func(dst, src *int) { *dst += *src })
	default:
		var b bytes.Buffer
		var n int64
		if n, err = mc.s.WriteTo(&b); n != int64(b.Len()) || err != nil && n > 0 {
			mc.fatalf("WriteTo: %d of %d bytes, %v", n, b.Len(), err)
		}
		if err == nil {
			c, err = dense.ReadFrom(&b, &mc.opts.Options)
		}
	}
	if inPhase != (err != nil) {
		mc.fatalf("a copy, during a phase: %v: %v", inPhase, err)
	}
	if !inPhase && how < 2 {
		mc.done["Clone"]++
	}
	return c
}

// runAll runs steps while more returns true, and then destroys everything.
func (mc *machine) runAll(more func() bool) {
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
	// No slot was lost, nor replaced by more than one.
	if c := mc.opts.Capacity; c > 0 {
		for range c + 1 {
			mc.create()
		}
	}
}

// modelConfigs are stores of every kind.
func modelConfigs() (all []storeOptions) {
	for _, unordered := range []bool{false, true} {
		for _, capacity := range []int{0, 1, 5, 70} {
			for _, origin := range []uint32{0, 1, testkit.LastGeneration - 6} {
				o := dense.Options[int]{Capacity: capacity, Origin: origin, Unordered: unordered}
				all = append(all, storeOptions{o, false})
				o.OnDestroy = func(handle, *int) {}
				all = append(all, storeOptions{o, true})
			}
		}
	}
	return all
}

func stream(t testing.TB, which int, choose func(n int) int, more func() bool) map[string]int {
	mc := newMachine(t, modelConfigs()[which], choose)
	mc.runAll(more)
	return mc.done
}

// TestOperationsMatchModel catches, among others: a moved run whose slots keep the old
// positions, handles to be issued that overwrite each other, a slot issued beyond its
// last generation, marks lost when chunks are joined, and a mark that survives its
// Refresh.
func TestOperationsMatchModel(t *testing.T) {
	testkit.MatchModel(t, len(modelConfigs()), 1, max(600, testkit.Long(3000)), stream, 10,
		"Create", "refused", "Kill", "Kill, created", "Kill, refused", "alive", "dead", "Refresh", "Refresh, exit: false", "Refresh, exit: true", "Grow", "Clear", "exhausted",
		"snapshot", "snapshot of a mirror", "Clone", "Trim", "SortFunc", "SortFunc, panic", "OnMove", "OnMove, new", "OnMove, gone", "OnMove, panic",
		"CreateFunc", "CreateFunc, panic", "CreateFunc, exit", "DeleteFunc, panic: false", "DeleteFunc, panic: true",
		"CreateAt", "CreateAt, far", "CreateAt, before Origin", "CreateAt, "+dense.ErrHandle.Error(), "CreateAt, "+dense.ErrLive.Error(),
		"CreateAt, "+dense.ErrStale.Error())
}

func FuzzOps(f *testing.F) { testkit.FuzzModel(f, len(modelConfigs()), 120, stream) }
