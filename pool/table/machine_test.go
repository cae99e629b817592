//go:build !race

package table_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

// drawn are the arguments of an operation.
type drawn[K comparable] struct {
	k  K           // any key, half of the time one that is there
	i  table.Index // any index, often one that is there
	id uint64      // of a new record
	ks []K         // for a batch
	rs []record    // see records
	n  int         // a small number
}

func (d *drawn[K]) record() record { return d.records(1)[0] }

// records returns new records, the same to each subject.
func (d *drawn[K]) records(n int) []record {
	for len(d.rs) < n {
		d.rs = append(d.rs, newRecord(d.id+uint64(len(d.rs))))
	}
	return d.rs
}

func (d *drawn[K]) text() string {
	return fmt.Sprintf("key %v, index %v, id %d, keys %v, n %d", d.k, d.i, d.id, d.ks, d.n)
}

// operation is a method of subjects. do returns its result and whether it succeeded.
type operation[K comparable] struct {
	name   string
	weight int
	do     func(s subject[K], d *drawn[K]) (result any, ok bool)
}

// operations are the methods that change a table. look checks those that find something.
func operations[K comparable]() []operation[K] {
	type s = subject[K]
	type d = *drawn[K]
	index := func(i table.Index) (any, bool) { return i, i.IsSet() }
	return []operation[K]{
		{"Add", 8, func(s s, d d) (any, bool) { return index(s.Add(d.k, d.record())) }},
		{"AddOrSet", 2, func(s s, d d) (any, bool) { return index(s.AddOrSet(d.k, d.record())) }},
		{"AddBatch", 3, func(s s, d d) (any, bool) { ok := s.AddBatch(d.ks, d.records(len(d.ks))); return ok, ok }},
		{"Remove", 2, func(s s, d d) (any, bool) { return index(s.Remove(d.k)) }},
		{"RemoveAt", 1, func(s s, d d) (any, bool) { return index(s.RemoveAt(d.i)) }},
		{"RemoveDead", 5, func(s s, d d) (any, bool) { n := s.RemoveDead(); return n, n > 0 }},
		{"DeleteFunc", 2, func(s s, d d) (any, bool) {
			var shown []K
			n := s.DeleteFunc(func(k K, i table.Index) bool {
				shown = append(shown, k)
				return int(i)%(d.n+2) == 0
			})
			return fmt.Sprint(n, shown), n > 0
		}},
		{"Clear", 1, func(s s, d d) (any, bool) {
			if d.n > 0 {
				return nil, false
			}
			return s.Clear(), true
		}},
		{"Set", 1, func(s s, d d) (any, bool) { ok := s.Set(d.k, d.record()); return ok, ok }},
		{"SetAt", 1, func(s s, d d) (any, bool) { ok := s.SetAt(d.i, d.record()); return ok, ok }},
	}
}

// side is one of the real tables, and what its OnMove and OnDead were told.
type side[K comparable] struct {
	*table.Table[K, record]
	columns []column
	ids     table.View[uint64]
	moves   []string

	sorting bool
	beside  []uint64 // then, the IDs, as OnMove tells of them
	found   map[K]table.Index
}

// machine runs operations on a model and on a table of either layout. A fuzzer or a
// generator feeds its choices through choose.
type machine[K comparable] struct {
	t          testing.TB
	m          model[K]
	sides      []*side[K]
	operations []operation[K]
	key, fresh func() K // any key; one that was never there
	choose     func(n int) int
	add        *K // if it is not nil, the next step adds it
	lastID     uint64
	kept       *table.Table[K, record] // the last clone
	done       map[string]int
}

func newMachine[K comparable](t testing.TB, m model[K], key, fresh func() K, choose func(int) int, build func(table.Layout) *table.Table[K, record]) *machine[K] {
	mc := &machine[K]{t: t, m: m, key: key, fresh: fresh, choose: choose, done: map[string]int{}}
	for _, o := range operations[K]() {
		mc.operations = append(mc.operations, slices.Repeat([]operation[K]{o}, o.weight)...)
	}
	mc.m.tells = choose(2) == 0
	for _, l := range layouts {
		tb := build(l)
		s := &side[K]{Table: tb, columns: columnsOf(tb), ids: table.Column(tb, func(r *record) *uint64 { return &r.ID })}
		s.OnMove(func(k K, from, to table.Index) {
			if s.sorting {
				s.follow(t, k, from, to)
				return
			}
			s.moves = append(s.moves, moved(k, from, to))
			if to == table.None { // another record is in its place
				if got, ok := s.KeyAt(from); !ok || got == k || s.Lookup(got) != from || s.Lookup(k) != to {
					t.Fatalf("%v: OnMove(%v, %d, %d), but there is %v, %v", l, k, from, to, got, ok)
				}
				if r, _ := s.GetAt(from); r.ID != mc.m.ids[from] {
					t.Fatalf("%v: OnMove(%v, %d, %d), but there is record %d, want %d", l, k, from, to, r.ID, mc.m.ids[from])
				}
				mc.done["replaced"]++
				return
			}
			if got, ok := s.KeyAt(to); !ok || got != k || s.Len() != int(from) {
				t.Fatalf("%v: OnMove(%v, %d, %d), but there is %v, %v", l, k, from, to, got, ok)
			}
		})
		if mc.m.tells {
			s.OnDead(func(k K, r record) {
				if s.Lookup(k).IsSet() || r.differs(r.ID) != "" {
					t.Fatalf("%v: OnDead(%v) with %d, which is there, or not whole", l, k, r.ID)
				}
				s.moves = append(s.moves, died(k, r.ID))
				mc.done["died"]++
			})
		}
		mc.sides = append(mc.sides, s)
	}
	return mc
}

// draw draws arguments, for a batch or not.
func (mc *machine[K]) draw(batch bool) *drawn[K] {
	d := &drawn[K]{k: mc.key(), n: mc.choose(8), id: mc.lastID + 1}
	last := len(mc.m.keys) - 1
	if last >= 0 && mc.choose(2) == 0 {
		d.k = mc.m.keys[mc.choose(last+1)]
	}
	d.i = table.Index(mc.choose(last + 2)) // perhaps the first that is not there
	if mc.choose(8) == 0 {
		d.i = []table.Index{table.None, -7, table.Index(last + 100), math.MaxInt}[mc.choose(4)]
	}
	if !batch {
		mc.lastID++
		return d
	}
	key, n := mc.key, mc.choose(4)
	if mc.choose(8) == 0 {
		key, n = mc.fresh, 50+mc.choose(50) // enough for growth
	}
	for range n {
		d.ks = append(d.ks, key())
	}
	if n > 0 && mc.choose(3) == 0 {
		d.ks = append(d.ks, d.ks[0]) // the batch is refused
	}
	mc.lastID += uint64(len(d.ks)) + 1
	return d
}

// step runs one operation, and compares what it returned, and what it left.
func (mc *machine[K]) step() {
	n := mc.choose(len(mc.operations) + 5)
	if mc.add != nil {
		n = 0 // Add
	}
	switch n - len(mc.operations) {
	case 0:
		mc.all()
		return
	case 1:
		mc.grow(mc.choose(40))
		return
	case 2:
		mc.trim()
		return
	case 3:
		mc.sort()
		return
	case 4:
		mc.clone()
		return
	}
	o := mc.operations[n]
	d := mc.draw(strings.HasSuffix(o.name, "Batch"))
	if mc.add != nil {
		d.k, mc.add = *mc.add, nil
	}
	want, ok := o.do(&mc.m, d)
	mc.done[fmt.Sprint(o.name, " ", ok)]++
	for _, s := range mc.sides {
		allocated := s.Allocated()
		var got any
		if p := testkit.Recovered(func() { got, _ = o.do(s, d) }); p != nil {
			got = p
		}
		if got != want {
			mc.t.Fatalf("%v: %s with %s returned %v, want %v; the model has %v", s.Layout(), o.name, d.text(), got, want, mc.m.keys)
		}
		if s.Allocated() != allocated {
			if s.Len() <= allocated {
				mc.t.Fatalf("%v: %s reallocates with %d of %d records", s.Layout(), o.name, s.Len(), allocated)
			}
			mc.done["growth"]++
		}
		if !slices.Equal(s.Keys(), mc.m.keys) || s.Len() != len(mc.m.keys) || s.ids.Len() != s.Len() || !slices.Equal(s.moves, mc.m.moves) {
			mc.t.Fatalf("%v: after %s with %s: keys %v, want %v; moves %v, want %v", s.Layout(), o.name, d.text(), s.Keys(), mc.m.keys, s.moves, mc.m.moves)
		}
		s.moves = nil
		mc.look(s, d)
	}
	mc.m.moves = nil
}

// look checks what a side finds by the key and the index of d.
func (mc *machine[K]) look(s *side[K], d *drawn[K]) {
	found := func(r record, ok bool) table.Index {
		switch {
		case !ok:
			return table.None
		case r.differs(r.ID) == "":
			return table.Index(slices.Index(mc.m.ids, r.ID))
		}
		mc.t.Fatalf("%v: a copy by %s returned %v", s.Layout(), d.text(), r.ID)
		return 0
	}
	at := d.i
	if at < 0 || int(at) >= len(mc.m.keys) {
		at = table.None
	}
	byKey, ok := s.Get(d.k)
	byIndex, ok2 := s.GetAt(d.i)
	k, ok3 := s.KeyAt(d.i)
	want := mc.m.Lookup(d.k)
	if s.Lookup(d.k) != want || found(byKey, ok) != want {
		mc.t.Fatalf("%v: key %v is at %d, with a copy of %d, %v; want %d", s.Layout(), d.k, s.Lookup(d.k), byKey.ID, ok, want)
	}
	if found(byIndex, ok2) != at || at.IsSet() && k != mc.m.keys[at] || ok3 != at.IsSet() {
		mc.t.Fatalf("%v: at %d is %v, %v, and a copy of %d, %v", s.Layout(), d.i, k, ok3, byIndex.ID, ok2)
	}
}

// grow makes room for n more, which the model does not have.
func (mc *machine[K]) grow(n int) {
	for _, s := range mc.sides {
		s.Grow(n)
		require.GreaterOrEqual(mc.t, s.Allocated(), s.Len()+n)
	}
}

// trim trims, which leaves the room that growth would have made.
func (mc *machine[K]) trim() {
	for _, s := range mc.sides {
		grown := table.Must[K, record](s.Layout())
		grown.Grow(s.Len())
		s.Trim()
		require.Equal(mc.t, grown.Allocated(), s.Allocated())
		require.Equal(mc.t, grown.Pages(), s.Pages())
		require.Zero(mc.t, s.Trim())
	}
}

// clone compares clones with what the model has, but for the keys that are dead, and so does a table that is
// used again.
func (mc *machine[K]) clone() {
	var keys []K
	var ids []uint64
	for i, k := range mc.m.keys {
		if mc.m.live(k) {
			keys, ids = append(keys, k), append(ids, mc.m.ids[i])
		}
	}
	var copyRecord func(dst, src *record)
	if mc.choose(2) == 0 {
		copyRecord = func(dst, src *record) {
			require.Equal(mc.t, record{}, *dst)
			*dst = *src
		}
	}
	for j, s := range mc.sides {
		clone := s.Clone(copyRecord)
		if mc.kept == nil {
			mc.kept = s.Clone(nil)
		}
		mc.kept.CloneFrom(mc.sides[(j+mc.choose(2))%len(mc.sides)].Table, copyRecord) // in either layout
		for _, c := range []*table.Table[K, record]{clone, mc.kept} {
			if !slices.Equal(c.Keys(), keys) {
				mc.t.Fatalf("%v: the clone has keys %v, want %v", c.Layout(), c.Keys(), keys)
			}
			for i, k := range keys {
				r, ok := c.GetAt(table.Index(i))
				if d := r.differs(ids[i]); d != "" || !ok || mc.m.live(k) && c.Lookup(k) != table.Index(i) {
					mc.t.Fatalf("%v: the clone has %v at %d, %v: %s", c.Layout(), k, c.Lookup(k), ok, d)
				}
			}
			if len(keys) > 0 {
				c.RemoveAt(0) // s keeps it
			}
		}
	}
	mc.done["Clone"]++
	if len(keys) < len(mc.m.keys) {
		mc.done["Clone without the dead"]++
	}
}

// follow keeps beside and found while records are sorted.
func (s *side[K]) follow(t testing.TB, k K, from, to table.Index) {
	if int(from) > s.Len() || int(to) > s.Len() || from == to {
		t.Fatalf("%v: SortFunc tells that %v went from %d to %d of %d", s.Layout(), k, from, to, s.Len())
	}
	s.beside[to], s.found[k] = s.beside[from], to
	if got, ok := s.KeyAt(to); ok != (int(to) < s.Len()) || ok && (got != k || *s.ids.At(to) != s.beside[to]) {
		t.Fatalf("%v: SortFunc tells that %v went from %d to %d, but there is %v", s.Layout(), k, from, to, got)
	}
}

// sort sorts, stably.
func (mc *machine[K]) sort() {
	kinds := uint64(1 + mc.choose(20))
	stop := -1
	if mc.choose(4) == 0 {
		stop = mc.choose(len(mc.m.keys) + 1)
	}
	key := func(id uint64) int { return int(id * 7 % kinds) }
	order := make([]int, len(mc.m.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return key(mc.m.ids[a]) - key(mc.m.ids[b]) })
	panicked := false
	for _, s := range mc.sides {
		s.sorting, s.beside, s.found = true, append(slices.Clone(mc.m.ids), 0), map[K]table.Index{}
		for i, k := range mc.m.keys {
			s.found[k] = table.Index(i)
		}
		left := stop
		v := testkit.Recovered(func() {
			s.SortFunc(func(a, b table.Index) int {
				if left--; left == 0 {
					panic(errTest)
				}
				if r, ok := s.GetAt(a); !ok || r.ID != *s.ids.At(a) {
					mc.t.Fatalf("%v: SortFunc compares %d", s.Layout(), a)
				}
				return key(*s.ids.At(a)) - key(*s.ids.At(b))
			})
		})
		s.sorting = false
		if panicked = v != nil; panicked && (v != errTest || left != 0) {
			mc.t.Fatalf("%v: SortFunc panicked: %v", s.Layout(), v)
		}
	}
	mc.done[fmt.Sprint("SortFunc, panic: ", panicked)]++
	if !panicked {
		keys, ids := slices.Clone(mc.m.keys), slices.Clone(mc.m.ids)
		for i, at := range order {
			mc.m.keys[i], mc.m.ids[i] = keys[at], ids[at]
		}
	}
	for _, s := range mc.sides {
		if !slices.Equal(s.beside[:s.Len()], mc.m.ids) {
			mc.t.Fatalf("%v: beside the sorted records there is %v, want %v", s.Layout(), s.beside, mc.m.ids)
		}
		for i, k := range mc.m.keys {
			require.Equal(mc.t, table.Index(i), s.found[k], "%v is not where OnMove told", k)
		}
	}
	mc.all()
}

// errTest is what functions of the tests panic with.
var errTest = errors.New("test")

// all checks everything. It changes nothing.
func (mc *machine[K]) all() {
	for _, s := range mc.sides {
		if ks := s.Keys(); !slices.Equal(ks, mc.m.keys) || cap(ks) != len(ks) {
			mc.t.Errorf("%v: Keys are %v, of %d; want %v, so that append copies", s.Layout(), ks, cap(ks), mc.m.keys)
			return
		}
		var ids []uint64
		for k, r := range s.All() {
			i := table.Index(len(ids))
			ids = append(ids, r.ID)
			if d := r.differs(mc.m.ids[i]); d != "" || k != mc.m.keys[i] {
				mc.t.Errorf("%v: All yields %v at %d, want %v; %s", s.Layout(), k, i, mc.m.keys[i], d)
			}
			if other, ok := s.GetAt(i); !ok || other.ID != r.ID || s.Lookup(k) != mc.m.Lookup(k) {
				mc.t.Errorf("%v: Lookup(%v) returned %v, GetAt(%v) %v, %v", s.Layout(), k, s.Lookup(k), i, other.ID, ok)
			}
			for j, c := range s.columns {
				if !c(i, &r) {
					mc.t.Errorf("%v: column %d at %d is not that of record %d", s.Layout(), j, i, r.ID)
				}
			}
		}
		for range s.All() {
			break
		}
		for range s.ids.All() {
			break
		}
		ix := []table.Index{table.None}
		var seen []uint64
		for i, id := range s.ids.All() {
			ix, seen = append(ix, i), append(seen, *id)
		}
		for i, ref := range s.ids.Batch(ix, []*uint64{nil}) { // what was there, and None, are nil
			if want := table.Index(i - 2); want < 0 && ref != nil || want >= 0 && (ix[i-1] != want || ref != s.ids.At(want)) {
				mc.t.Errorf("%v: View.All yields indexes %v, and Batch of them %p at %d", s.Layout(), ix[1:], ref, want)
			}
		}
		column, whole := s.ids.Slice()
		if whole != (s.Layout() == table.SoA) || whole && !slices.Equal(column, mc.m.ids) || !slices.Equal(ids, mc.m.ids) || !slices.Equal(seen, mc.m.ids) {
			mc.t.Errorf("%v: Slice returned %v, %v, All yields %v, View.All %v; want %v", s.Layout(), column, whole, ids, seen, mc.m.ids)
		}
		if a := s.Allocated(); a < len(ids) || a&(a-1) != 0 {
			mc.t.Errorf("%v: %d are allocated for %d", s.Layout(), a, len(ids))
		}
	}
}

// kind is a machine, by the keys that it uses. build returns its step, the check of
// everything, and what happened.
type kind struct {
	name  string
	build func(t testing.TB, choose func(int) int) (step, all func(), done map[string]int)
}

// hashed has keys of type K, made of small numbers.
func hashed[K comparable](name string, key func(i int) K) kind {
	return kind{name, func(t testing.TB, choose func(int) int) (step, all func(), done map[string]int) {
		m := model[K]{live: func(K) bool { return true }, slot: func(a, b K) bool { return a == b }}
		last := 1000
		fresh := func() K { last++; return key(last) }
		mc := newMachine(t, m, func() K { return key(choose(70)) }, fresh, choose, func(l table.Layout) *table.Table[K, record] {
			return of[K, record](l)
		})
		return mc.step, mc.all, mc.done
	}}
}

// byHandle has handles of a pool that changes meanwhile: live ones, stale ones, and those
// of another pool. The pool is small, so its slots are soon used again.
func byHandle(t testing.TB, choose func(int) int) (step, all func(), done map[string]int) {
	p := pool.Must(&pool.Options[int]{Origin: 1, Shards: 1, Capacity: 40})
	known := testkit.Fill(t, p, 20, testkit.Number)
	young := func() handle { return known[max(0, len(known)-1-choose(40))] }
	fresh := func() handle {
		h, err := p.Insert(0)
		for ; err != nil; h, err = p.Insert(0) {
			p.Remove(young())
		}
		known = append(known, h)
		return h
	}
	key := func() handle {
		switch choose(16) {
		case 0:
			return 0
		case 1:
			return handle(choose(64)) | handle(choose(8))<<32
		case 2, 3:
			return known[choose(len(known))]
		case 4:
			return 1<<63 | 1<<32 | 1<<32 - 1 // beyond all slots
		}
		return young()
	}
	m := model[handle]{live: p.Contains, slot: func(a, b handle) bool { return a.Index() == b.Index() }}
	mc := newMachine(t, m, key, fresh, choose, func(l table.Layout) *table.Table[handle, record] {
		return forHandles[record](p, l)
	})
	return func() {
		switch choose(24) {
		case 0, 1, 2, 3:
			fresh()
		case 4, 5, 6, 7:
			if p.Remove(young()); len(mc.m.keys) > 0 {
				p.Remove(mc.m.keys[choose(len(mc.m.keys))])
			}
		case 8: // the slot of a record gets another value, which has a record as well
			if len(mc.m.keys) > 0 {
				h := mc.m.keys[choose(len(mc.m.keys))]
				p.Remove(h)
				for range 50 {
					if again := fresh(); again.Index() == h.Index() {
						mc.add = &again
						mc.step()
						break
					}
				}
			}
		default:
			mc.step()
		}
	}, mc.all, mc.done
}

var kinds = []kind{
	hashed("int", func(i int) int { return i - 2 }),
	hashed("string", func(i int) string { return fmt.Sprint(i) }),
	hashed("float", func(i int) float64 {
		if i < 40 {
			return math.NaN()
		}
		return float64(i)
	}),
	hashed("interface", func(i int) any { return []any{i, fmt.Sprint(i), float32(i), [1]int{i}}[i%4] }),
	{"handle", byHandle},
}

// stream runs steps on tables of a kind, and checks everything at the end. Most kinds mean
// handles: what is rare is about stale ones.
func stream(t testing.TB, which int, choose func(int) int, more func() bool) map[string]int {
	step, all, done := kinds[min(which, len(kinds)-1)].build(t, choose)
	for more() {
		step()
	}
	all()
	return done
}

// TestOperationsMatchModel: tables of either layout and a model agree on generated
// operations, whatever the keys are. Collections meanwhile find every pointer.
func TestOperationsMatchModel(t *testing.T) {
	defer testkit.Collect()()
	must := []string{"growth", "replaced", "died", "SortFunc, panic: false", "SortFunc, panic: true", "Clone", "Clone without the dead"}
	for _, o := range operations[int]() {
		must = append(must, o.name+" true", o.name+" false")
	}
	testkit.MatchModel(t, 5*len(kinds), max(3, testkit.Long(8)), 300, stream, testkit.Once(), must...)
}

func FuzzOps(f *testing.F) { testkit.FuzzModel(f, len(kinds), 400, stream) }

// TestReadersAtOnce: any number of goroutines read at once, and all see what was written
// before.
func TestReadersAtOnce(t *testing.T) {
	rnd := testkit.Rand(t)
	for _, k := range kinds {
		step, all, _ := k.build(t, rnd.IntN)
		for range 200 {
			step()
		}
		at(all, all, all, all)
	}
}
