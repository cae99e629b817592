package table_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
	"coatcheck/pool/table"
)

type handle = pool.Handle[int]

// requireNotFound requires that no method that takes a key finds anything at h.
func requireNotFound(t *testing.T, tb *table.Table[handle, record], h handle) {
	t.Helper()
	require.Equalf(t, table.None, tb.Lookup(h), "Lookup(%v)", h)
	require.Equalf(t, table.None, tb.Remove(h), "Remove(%v)", h)
	require.Falsef(t, tb.Set(h, record{}), "Set(%v)", h)
	_, err := tb.Copy(h)
	require.ErrorIsf(t, err, table.ErrNotFound, "Copy(%v)", h)
}

// TestStaleHandleFindsNothing: a handle that is stale, zero, forged or another pool's
// finds nothing, whatever the table has in its slot, and cannot be added.
func TestStaleHandleFindsNothing(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		p := pool.Must(&pool.Options[int]{Origin: 1, Shards: 1})
		q := pool.Must(&pool.Options[int]{Origin: 101, Shards: 1})
		tb := forHandles[record](t, p, l)
		h, foreign := insert(t, p, 1), insert(t, q, 1)
		require.Equal(t, h.Index(), foreign.Index())
		require.EqualValues(t, 0, tb.Add(h, newRecord(1)))

		last := handle(1<<63 | 1<<32 | 1<<32 - 1)
		for _, bad := range []handle{0, foreign, h + 1<<32, h + 2<<32, h + 1, h &^ (1<<32 - 1), handle(h.Index()), last} {
			if bad == h {
				continue
			}
			requireNotFound(t, tb, bad)
			require.Equalf(t, table.None, tb.Add(bad, newRecord(2)), "Add(%v)", bad)
			require.Falsef(t, tb.AddBatch([]handle{bad}, make([]record, 1)), "AddBatch(%v)", bad)
		}
		require.EqualValues(t, 0, tb.Lookup(h))

		require.True(t, p.Remove(h))
		requireNotFound(t, tb, h)
		require.Equal(t, table.None, tb.Add(h, newRecord(2)))
		require.Equal(t, 1, tb.Len(), "the record is still there")
		k, err := tb.KeyAt(0)
		require.NoError(t, err)
		require.Equal(t, h, k)
	})
}

// TestAddReplacesDeadOccupant: Add and AddBatch over a dead occupant replace it in its
// row, and nothing moves.
func TestAddReplacesDeadOccupant(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		p := pool.Must(&pool.Options[int]{Origin: 1, Shards: 1, Capacity: 6})
		tb := forHandles[record](t, p, l)
		tb.OnMove(func(k handle, from, to table.Index) { t.Errorf("%v moves from %d to %d", k, from, to) })
		var hs []handle
		for i := range 5 {
			hs = append(hs, insert(t, p, i))
			tb.Add(hs[i], newRecord(uint64(i)))
		}
		fresh := insert(t, p, 0) // so that a freed slot is the only one
		again := func(i int) handle {
			require.True(t, p.Remove(hs[i]))
			h := insert(t, p, 0)
			require.Equal(t, hs[i].Index(), h.Index(), "%v", h)
			return h
		}
		h := again(2)
		require.Equal(t, table.None, tb.Lookup(h), "the dead one's record is not the new one's")
		require.EqualValues(t, 2, tb.Add(h, newRecord(12)))
		require.Equal(t, 5, tb.Len())
		requireNotFound(t, tb, hs[2])

		// A refused batch replaces nothing, even if its last key is refused.
		a, b := again(1), again(3)
		batch := []handle{fresh, a, b, h}
		require.False(t, tb.AddBatch(batch, make([]record, 4)))
		require.Equal(t, []handle{hs[0], hs[1], h, hs[3], hs[4]}, tb.Keys())
		for _, k := range batch[:3] {
			require.Equal(t, table.None, tb.Lookup(k))
		}
		require.True(t, tb.AddBatch(batch[:3], []record{newRecord(20), newRecord(21), newRecord(23)}))
		require.Equal(t, []handle{hs[0], a, h, b, hs[4], fresh}, tb.Keys())
		for i, id := range []uint64{0, 21, 12, 23, 4, 20} {
			require.EqualValues(t, i, tb.Lookup(tb.Keys()[i]))
			r, err := tb.CopyAt(table.Index(i))
			require.NoError(t, err)
			require.Empty(t, r.differs(id))
		}
	})
}

// TestRemoveDead removes the records of the dead and no others, in every pattern, and
// moves no more records than it removes.
func TestRemoveDead(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		const n = 9
		for pattern := range 1 << n {
			p := pool.Must(&pool.Options[int]{Origin: 1, Shards: 1})
			tb := forHandles[struct{ id int }](t, p, l)
			moves := 0
			tb.OnMove(func(h handle, from, to table.Index) {
				moves++
				require.Truef(t, p.Contains(h), "%v moves and is dead", h)
				require.Equal(t, to, tb.Lookup(h))
			})
			dead := 0
			for i := range n {
				tb.Add(insert(t, p, i), struct{ id int }{i})
			}
			for i, h := range tb.Keys() {
				if pattern>>i&1 == 1 {
					p.Remove(h)
					dead++
				}
			}
			require.Equalf(t, dead, tb.RemoveDead(), "pattern %b", pattern)
			require.Equalf(t, n-dead, tb.Len(), "pattern %b", pattern)
			require.LessOrEqual(t, moves, dead)
			for h, r := range tb.All() {
				v, ok := p.Get(h)
				require.Truef(t, ok && v == r.id, "pattern %b: record %d at %v", pattern, r.id, h)
			}
			require.Zero(t, tb.RemoveDead())
		}
	})
}

// TestPoolChangesMeanwhile: other goroutines may use the pool of a table. A handle that
// dies meanwhile is found or not, and its record is never another's.
func TestPoolChangesMeanwhile(t *testing.T) {
	type entity struct{ h handle }
	each(t, func(t *testing.T, l table.Layout) {
		p := pool.Must[int](nil)
		tb := forHandles[entity](t, p, l)
		handles := make(chan handle, 64)
		done := make(chan struct{})
		go func() { // values come and go
			defer close(handles)
			var mine [32]handle
			for i := range long(40_000) {
				p.Remove(mine[i%32])
				h, err := p.Insert(i)
				if err != nil {
					continue
				}
				mine[i%32] = h
				handles <- h
			}
		}()
		go func() {
			defer close(done)
			var known [16]handle
			var batch []handle
			i := 0
			for h := range handles {
				i++
				known[i%16] = h
				switch i % 4 {
				case 0:
					tb.Add(h, entity{h})
				case 1:
					if batch = append(batch, h); len(batch) == 8 {
						rs := make([]entity, 8)
						for j := range rs {
							rs[j].h = batch[j]
						}
						before := tb.Len()
						if !tb.AddBatch(batch, rs) && tb.Len() != before {
							t.Errorf("a refused batch leaves %d of %d records", tb.Len(), before)
						}
						batch = batch[:0]
					}
				case 2:
					tb.Remove(known[i*7%16])
				}
				old := known[i*5%16]
				if r, err := tb.Copy(old); err == nil && r.h != old {
					t.Errorf("%v finds the record of %v", old, r.h)
				}
				if i%1000 == 0 {
					tb.RemoveDead()
				}
			}
		}()
		<-done
		for h, r := range tb.All() {
			require.Equal(t, h, r.h)
			require.Equal(t, p.Contains(h), tb.Lookup(h).IsSet())
		}
		p.Clear()
		tb.RemoveDead()
		require.Zero(t, tb.Len())
	})
}

func TestForHandlesRefuses(t *testing.T) {
	_, err := table.ForHandles[int, record](nil, table.SoA)
	require.ErrorContains(t, err, "table: ForHandles of a nil pool")
	p := pool.Must[int](nil)
	_, err = table.ForHandles[int, *record](p, table.SoA)
	require.ErrorContains(t, err, "want the struct itself")
	_, err = table.ForHandles[int, record](p, 9)
	require.ErrorContains(t, err, "Layout(9)")
	require.Equal(t, "pool: use of a zero Pool; make one with New or Must", recovered(func() {
		_, _ = table.ForHandles[int, record](new(pool.Pool[int]), table.SoA)
	}))
}

// TestTakeOfADeadHandle: Take finds the record of a removed value, and no record of
// another incarnation.
func TestTakeOfADeadHandle(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		p := pool.Must(&pool.Options[int]{Origin: 1, Shards: 1, Capacity: 2})
		tb := forHandles[record](t, p, l)
		h, other := insert(t, p, 1), insert(t, p, 3)
		tb.Add(h, newRecord(1))
		_, ok := tb.Take(0)
		require.False(t, ok, "the zero handle")
		require.True(t, p.Remove(h))
		young := insert(t, p, 2)
		require.Equal(t, h.Index(), young.Index())
		require.Equal(t, table.None, tb.Lookup(young))
		_, ok = tb.Take(young)
		require.False(t, ok, "it has no record")
		r, ok := tb.Take(h)
		require.True(t, ok)
		require.Empty(t, r.differs(1))
		require.Zero(t, tb.Len())
		tb.Add(other, newRecord(3))
		_, ok = tb.Take(0)
		require.False(t, ok, "slot 0 has no record")
		tb.Add(young, newRecord(2))
		_, ok = tb.Take(h)
		require.False(t, ok, "its slot is another's")
		require.Equal(t, 2, tb.Len())
	})
}

// TestRefusedBatchKeepsTheDead: a refused batch gives a slot back to its dead occupant.
func TestRefusedBatchKeepsTheDead(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		p := pool.Must(&pool.Options[int]{Origin: 1, Shards: 1, Capacity: 1})
		tb := forHandles[record](t, p, l)
		h := insert(t, p, 1)
		tb.Add(h, newRecord(1))
		require.True(t, p.Remove(h))
		young := insert(t, p, 2)
		require.False(t, tb.AddBatch([]handle{young, young}, make([]record, 2)))
		require.EqualValues(t, 0, tb.Add(young, newRecord(2)), "the row of the dead occupant")
		require.Equal(t, 1, tb.Len())
	})
}

// TestDrainDeadWhoseBodyChanges: the body may do anything to the table. Nothing alive is
// yielded, and nothing twice.
func TestDrainDeadWhoseBodyChanges(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		for name, body := range map[string]func(tb *table.Table[handle, record], fresh func() handle){
			"adds":    func(tb *table.Table[handle, record], fresh func() handle) { tb.Add(fresh(), newRecord(1)) },
			"removes": func(tb *table.Table[handle, record], _ func() handle) { tb.RemoveAt(0) },
			"clears":  func(tb *table.Table[handle, record], _ func() handle) { tb.Clear() },
			"drains": func(tb *table.Table[handle, record], _ func() handle) {
				for range tb.DrainDead() {
					break
				}
			},
		} {
			p := pool.Must(&pool.Options[int]{Origin: 1, Shards: 1})
			tb := forHandles[record](t, p, l)
			fresh := func() handle { return insert(t, p, 1) }
			for range 20 {
				tb.Add(fresh(), newRecord(1))
			}
			for i, h := range tb.Keys() {
				if i%3 != 0 {
					p.Remove(h)
				}
			}
			seen := map[handle]bool{}
			for h, r := range tb.DrainDead() {
				require.False(t, seen[h] || p.Contains(h), name)
				require.Empty(t, r.differs(1))
				seen[h] = true
				body(tb, fresh)
			}
			require.NotEmpty(t, seen, name)
			require.Zero(t, tb.RemoveDead(), name)
		}
	})
}
