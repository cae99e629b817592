package table_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool/table"
)

// model is a table that is obviously right: two slices, searched from the beginning. The
// results of the real tables are compared with its results.
type model[K comparable] struct {
	keys  []K
	ids   []uint64
	live  func(K) bool      // for handles, the pool's answer
	slot  func(a, b K) bool // at most one of a and b can have a record
	moves []string          // the moves that OnMove must be told
}

func (m *model[K]) find(k K) table.Index {
	if !m.live(k) {
		return table.None
	}
	return table.Index(slices.Index(m.keys, k))
}

func (m *model[K]) add(k K, id uint64) table.Index {
	if k != k || !m.live(k) || m.find(k).IsSet() {
		return table.None
	}
	if i := slices.IndexFunc(m.keys, func(o K) bool { return m.slot(o, k) }); i >= 0 {
		m.keys[i], m.ids[i] = k, id
		return table.Index(i)
	}
	m.keys, m.ids = append(m.keys, k), append(m.ids, id)
	return table.Index(len(m.keys) - 1)
}

func (m *model[K]) addBatch(ks []K, ids []uint64) bool {
	for i, k := range ks {
		if k != k || !m.live(k) || m.find(k).IsSet() || slices.Contains(ks[:i], k) {
			return false
		}
	}
	for i, k := range ks {
		m.add(k, ids[i])
	}
	return true
}

func (m *model[K]) removeAt(i table.Index) table.Index {
	if i < 0 || int(i) >= len(m.keys) {
		return table.None
	}
	last := len(m.keys) - 1
	if int(i) < last {
		m.moves = append(m.moves, moved(m.keys[last], table.Index(last), i))
	}
	m.keys[i], m.ids[i] = m.keys[last], m.ids[last]
	m.keys, m.ids = m.keys[:last], m.ids[:last]
	return i
}

func (m *model[K]) remove(k K) table.Index { return m.removeAt(m.find(k)) }

// refuses returns the error of Insert for a key.
func (m *model[K]) refuses(k K) error {
	switch {
	case k != k:
		return table.ErrNaN
	case !m.live(k):
		return table.ErrStale
	case m.find(k).IsSet():
		return table.ErrDuplicate
	}
	return nil
}

// drainDead removes at most that many of the dead, and returns them with their ids.
func (m *model[K]) drainDead(most int) (dead []string) {
	for i := len(m.keys) - 1; i >= 0 && len(dead) < most; i-- {
		if !m.live(m.keys[i]) {
			dead = append(dead, fmt.Sprint(m.keys[i], m.ids[i]))
			m.removeAt(table.Index(i))
		}
	}
	return dead
}

func (m *model[K]) removeDead() int { return len(m.drainDead(len(m.keys))) }

func moved[K any](k K, from, to table.Index) string { return fmt.Sprintf("%v: %d to %d", k, from, to) }

// side is one of the real tables, and what its OnMove has told.
type side[K comparable] struct {
	*table.Table[K, record]
	views   recordViews
	moves   []string
	indexes map[K]table.Index // kept up to date by the results of Add and by OnMove alone
}

// machine runs operations on a model and on a table of either layout. A fuzzer or a
// generator feeds its choices through choose.
type machine[K comparable] struct {
	t      testing.TB
	m      model[K]
	sides  []*side[K]
	key    func() K // any key, often one that is there
	fresh  func() K // one that is not there
	choose func(n int) int
	world  func() // changes the pool
	lastID uint64
	done   map[string]int
	last   string
}

func newMachine[K comparable](t testing.TB, m model[K], key, fresh func() K, choose func(int) int, build func(table.Layout) *table.Table[K, record]) *machine[K] {
	mc := &machine[K]{t: t, m: m, key: key, fresh: fresh, choose: choose, world: func() {}, done: map[string]int{}}
	for _, l := range layouts {
		s := &side[K]{Table: build(l), indexes: map[K]table.Index{}}
		s.views = viewsOf(s.Table)
		s.OnMove(func(k K, from, to table.Index) { s.indexes[k] = to })
		s.OnMove(func(k K, from, to table.Index) {
			s.moves = append(s.moves, moved(k, from, to))
			if got, err := s.KeyAt(to); err != nil || got != k || s.Len() != int(from) || s.indexes[k] != to {
				mc.fatalf("%v: OnMove(%v, %d, %d), but there is %v, %v", s.Layout(), k, from, to, got, err)
			}
		})
		mc.sides = append(mc.sides, s)
	}
	return mc
}

func (mc *machine[K]) fatalf(format string, args ...any) {
	mc.t.Helper()
	mc.t.Fatalf("%s\n(after %s; the model has %v)", fmt.Sprintf(format, args...), mc.last, mc.m.keys)
}

// judge requires that both tables return want.
func judge[K comparable, A comparable](mc *machine[K], what string, want A, f func(s *side[K]) A) {
	mc.t.Helper()
	mc.last = what
	for _, s := range mc.sides {
		if got := f(s); got != want {
			mc.fatalf("%v: %s returned %v, want %v", s.Layout(), what, got, want)
		}
	}
	mc.done[fmt.Sprintf("%s %v", what[:len(what)-len(args(what))], ok(want))]++
}

// args returns what is in parentheses at the end of what.
func args(what string) string {
	for i := range what {
		if what[i] == '(' {
			return what[i:]
		}
	}
	return ""
}

// ok reports whether the result is one of success.
func ok(answer any) bool {
	switch a := answer.(type) {
	case table.Index:
		return a.IsSet()
	case bool:
		return a
	case int:
		return a > 0
	}
	return answer == nil
}

func (mc *machine[K]) newID() uint64 { mc.lastID++; return mc.lastID }

// at chooses an index, often one that is there.
func (mc *machine[K]) at() table.Index {
	n := len(mc.m.keys)
	if mc.choose(6) == 0 || n == 0 {
		return []table.Index{table.None, -2, table.Index(n), table.Index(n + 100)}[mc.choose(4)]
	}
	return table.Index(mc.choose(n))
}

func (mc *machine[K]) add(k K) {
	id := mc.newID()
	want := mc.m.add(k, id)
	judge(mc, fmt.Sprintf("Add(%v)", k), want, func(s *side[K]) table.Index {
		before := s.Allocated()
		i := s.Add(k, newRecord(id))
		if i.IsSet() {
			s.indexes[k] = i
		}
		if s.Allocated() != before && s.Len() <= before {
			mc.fatalf("%v: Add reallocates with %d of %d records", s.Layout(), s.Len(), before)
		}
		return i
	})
}

func (mc *machine[K]) insert(k K) {
	id := mc.newID()
	err, want := mc.m.refuses(k), mc.m.add(k, id)
	judge(mc, fmt.Sprintf("Insert(%v)", k), err, func(s *side[K]) error {
		i, err := s.Insert(k, newRecord(id))
		if i != want {
			mc.fatalf("%v: Insert(%v) returned %v, want %v", s.Layout(), k, i, want)
		}
		if i.IsSet() {
			s.indexes[k] = i
		}
		return err
	})
	if err != nil {
		mc.done[err.Error()]++
	}
}

func (mc *machine[K]) take(k K) {
	i, id := table.Index(slices.Index(mc.m.keys, k)), uint64(0)
	if i.IsSet() {
		if id = mc.m.ids[i]; !mc.m.live(k) {
			mc.done["Take dead"]++
		}
		mc.m.removeAt(i)
	}
	judge(mc, fmt.Sprintf("Take(%v)", k), i.IsSet(), func(s *side[K]) bool {
		r, ok := s.Take(k)
		if ok && i.IsSet() {
			if d := r.differs(id); d != "" {
				mc.fatalf("%v: Take(%v): %s", s.Layout(), k, d)
			}
		}
		return ok
	})
}

func (mc *machine[K]) drainDead(most int) {
	want := mc.m.drainDead(most)
	judge(mc, fmt.Sprintf("DrainDead(%d)", most), fmt.Sprint(want), func(s *side[K]) string {
		dead := []string(nil)
		if most > 0 {
			for k, r := range s.DrainDead() {
				if dead = append(dead, fmt.Sprint(k, r.ID)); len(dead) == most {
					break
				}
			}
		}
		return fmt.Sprint(dead)
	})
}

func (mc *machine[K]) lookupBatch(n int) {
	ks, want := make([]K, n), []table.Index{7}
	for i := range ks {
		ks[i] = mc.key()
		want = append(want, mc.m.find(ks[i]))
	}
	judge(mc, fmt.Sprintf("LookupBatch(%v)", ks), fmt.Sprint(want), func(s *side[K]) string {
		return fmt.Sprint(s.LookupBatch(ks, []table.Index{7}))
	})
}

func (mc *machine[K]) addBatch(n int, key func() K) {
	ks, ids := make([]K, n), make([]uint64, n)
	for i := range ks {
		ks[i], ids[i] = key(), mc.newID()
	}
	want := mc.m.addBatch(ks, ids)
	judge(mc, fmt.Sprintf("AddBatch(%v)", ks), want, func(s *side[K]) bool {
		rs := make([]record, n)
		for i, id := range ids {
			rs[i] = newRecord(id)
		}
		before := s.Allocated()
		done := s.AddBatch(ks, rs)
		if done {
			for _, k := range ks {
				s.indexes[k] = s.Lookup(k)
			}
			if s.Allocated() > before {
				mc.done["growth"]++
			}
		} else if s.Allocated() != before {
			mc.fatalf("%v: AddBatch refuses and reallocates", s.Layout())
		}
		return done
	})
}

// step runs one operation.
func (mc *machine[K]) step() {
	m := &mc.m
	switch mc.choose(38) {
	case 0, 1, 2, 3:
		mc.add(mc.key())
	case 4, 5:
		mc.insert(mc.key())
	case 32:
		mc.take(mc.key())
	case 33:
		mc.drainDead(mc.choose(4))
	case 35:
		judge(mc, "Trim()", true, func(s *side[K]) bool {
			want := of[K, record](mc.t, s.Layout())
			want.Reserve(s.Len())
			s.Trim()
			return s.Allocated() == want.Allocated() && s.Pages() == want.Pages()
		})
	case 34:
		mc.lookupBatch(mc.choose(4))
	case 6, 7:
		mc.addBatch(mc.choose(4), mc.key)
	case 8:
		if mc.choose(4) == 0 {
			mc.addBatch(50+mc.choose(50), mc.fresh)
		}
	case 9, 10:
		k := mc.key()
		want := m.remove(k)
		judge(mc, fmt.Sprintf("Remove(%v)", k), want, func(s *side[K]) table.Index { return s.Remove(k) })
	case 11:
		i := mc.at()
		judge(mc, fmt.Sprintf("RemoveAt(%d)", i), m.removeAt(i), func(s *side[K]) table.Index { return s.RemoveAt(i) })
	case 12:
		judge(mc, "RemoveDead()", m.removeDead(), func(s *side[K]) int { return s.RemoveDead() })
	case 13:
		if mc.choose(16) == 0 {
			mc.last = "Clear()"
			m.keys, m.ids = nil, nil
			for _, s := range mc.sides {
				s.Clear()
			}
		}
	case 14, 15, 16:
		k := mc.key()
		judge(mc, fmt.Sprintf("Lookup(%v)", k), m.find(k), func(s *side[K]) table.Index { return s.Lookup(k) })
	case 17:
		k, id := mc.key(), mc.newID()
		i := m.find(k)
		if i.IsSet() {
			m.ids[i] = id
		}
		judge(mc, fmt.Sprintf("Set(%v)", k), i.IsSet(), func(s *side[K]) bool { return s.Set(k, newRecord(id)) })
	case 18:
		i, id := mc.at(), mc.newID()
		there := i >= 0 && int(i) < len(m.ids)
		if there {
			m.ids[i] = id
		}
		judge(mc, fmt.Sprintf("SetAt(%v)", i), there, func(s *side[K]) bool { return s.SetAt(i, newRecord(id)) })
	case 19, 20:
		k := mc.key()
		i := m.find(k)
		want := error(nil)
		if i == table.None {
			want = table.ErrNotFound
		}
		judge(mc, fmt.Sprintf("Copy(%v)", k), want, func(s *side[K]) error {
			r, err := s.Copy(k)
			mc.copied(s, i, r, err)
			return err
		})
	case 21, 22:
		i := mc.at()
		want := error(nil)
		if i < 0 || int(i) >= len(m.ids) {
			want = table.ErrRange
		}
		judge(mc, fmt.Sprintf("CopyAt(%v)", i), want, func(s *side[K]) error {
			r, err := s.CopyAt(i)
			mc.copied(s, i, r, err)
			return err
		})
		judge(mc, fmt.Sprintf("KeyAt(%v)", i), want, func(s *side[K]) error {
			k, err := s.KeyAt(i)
			if err == nil && k != m.keys[i] {
				mc.fatalf("%v: KeyAt(%d) returned %v, want %v", s.Layout(), i, k, m.keys[i])
			}
			return err
		})
	case 23:
		if n := len(m.keys) + mc.choose(40); mc.choose(8) == 0 {
			mc.last = fmt.Sprintf("Reserve(%d)", n)
			for _, s := range mc.sides {
				if s.Reserve(n); s.Allocated() < n {
					mc.fatalf("%v: %d allocated", s.Layout(), s.Allocated())
				}
			}
		}
	case 24:
		mc.batch()
	case 25:
		mc.all()
	default:
		mc.world()
	}
	for _, s := range mc.sides {
		if s.Len() != len(m.keys) || s.views.id.Len() != s.Len() || len(s.Keys()) != s.Len() || !slices.Equal(s.moves, m.moves) {
			mc.fatalf("%v: Len %d, %d keys, moves %v, want %v", s.Layout(), s.Len(), len(s.Keys()), s.moves, m.moves)
		}
		s.moves = s.moves[:0]
	}
	m.moves = m.moves[:0]
}

// copied checks a copy of the record at i.
func (mc *machine[K]) copied(s *side[K], i table.Index, r record, err error) {
	mc.t.Helper()
	if err != nil {
		return
	}
	if d := r.differs(mc.m.ids[i]); d != "" {
		mc.fatalf("%v: the copy of record %d, id %d: %s", s.Layout(), i, mc.m.ids[i], d)
	}
}

// batch checks View.Batch, and writes through its references.
func (mc *machine[K]) batch() {
	ix := []table.Index{table.None}
	for range min(5, len(mc.m.keys)) {
		ix = append(ix, table.Index(mc.choose(len(mc.m.keys))))
	}
	mc.last = fmt.Sprintf("Batch(%v)", ix)
	for _, s := range mc.sides {
		refs := s.views.id.Batch(ix, []*uint64{nil})
		if len(refs) != len(ix)+1 || refs[1] != nil {
			mc.fatalf("%v: %v", s.Layout(), refs)
		}
		for j, i := range ix[1:] {
			if ref := refs[j+2]; *ref != mc.m.ids[i] || ref != s.views.id.At(i) {
				mc.fatalf("%v: element %d gives %d, want %d", s.Layout(), j, *ref, mc.m.ids[i])
			}
			*refs[j+2] = mc.m.ids[i] // a write, to where it is
			*s.views.inner.At(i) = fmt.Sprint(mc.m.ids[i] + 1)
		}
	}
}

// all checks everything.
func (mc *machine[K]) all() {
	m := &mc.m
	mc.last += ", then all"
	for _, s := range mc.sides {
		if !slices.Equal(s.Keys(), m.keys) {
			mc.fatalf("%v: Keys are %v", s.Layout(), s.Keys())
		}
		n := 0
		for k, r := range s.All() {
			if k != m.keys[n] {
				mc.fatalf("%v: All yields %v, want %v", s.Layout(), k, m.keys[n])
			}
			mc.copied(s, table.Index(n), r, nil)
			if d := s.views.differs(table.Index(n), m.ids[n]); d != "" {
				mc.fatalf("%v: column %s of record %d, id %d", s.Layout(), d, n, m.ids[n])
			}
			if i := s.indexes[k]; int(i) != n {
				mc.fatalf("%v: %v is known at %d, is at %d", s.Layout(), k, i, n)
			}
			n++
		}
		if n != len(m.keys) {
			mc.fatalf("%v: All yields %d of %d", s.Layout(), n, len(m.keys))
		}
		ids, whole := s.views.id.Slice()
		if whole != (s.Layout() == table.SoA) || whole && !slices.Equal(ids, m.ids) {
			mc.fatalf("%v: Slice returned %v, %v", s.Layout(), ids, whole)
		}
		n = 0
		for i, id := range s.views.id.All() {
			if int(i) != n || *id != m.ids[n] {
				mc.fatalf("%v: View.All yields %d at %d, want %d at %d", s.Layout(), *id, i, m.ids[n], n)
			}
			n++
		}
		if a := s.Allocated(); n != len(m.keys) || a < n || a&(a-1) != 0 {
			mc.fatalf("%v: View.All yields %d, %d are allocated", s.Layout(), n, a)
		}
	}
}

// TestOperationsMatchModel: tables of either layout and a model agree on generated
// operations.
func TestOperationsMatchModel(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			rnd := newRand(t)
			done := map[string]int{}
			all := []string{"growth"}
			for _, verb := range []string{"Add", "Insert", "Take", "AddBatch", "Remove", "RemoveAt", "Lookup", "Set", "SetAt", "Copy", "CopyAt", "KeyAt"} {
				all = append(all, verb+" true", verb+" false")
			}
			if kind.name == "handle" {
				all = append(all, "RemoveDead true", "Take dead", table.ErrStale.Error())
			}
			if kind.name == "float" {
				all = append(all, table.ErrNaN.Error())
			}
			misses := func(what string) bool { return done[what] == 0 }
			// A rare outcome may take some streams more.
			for n := 0; n < 2 || !testing.Short() && (n < 4 || n < 40 && slices.ContainsFunc(all, misses)); n++ {
				steps := 300
				for what, n := range kind.run(t, rnd.IntN, func() bool { steps--; return steps >= 0 }) {
					done[what] += n
				}
			}
			if !testing.Short() {
				require.Empty(t, slices.DeleteFunc(all, func(what string) bool { return !misses(what) }), "never happened: %v", done)
			}
		})
	}
}
