package table_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

type handle = pool.Handle[int]

// TestStaleHandleFindsNothing: a handle that is zero, forged or another pool's finds
// nothing, whatever the table has in its slot, and cannot be added.
func TestStaleHandleFindsNothing(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		p := pool.Must(&pool.Options[int]{Origin: 1, Shards: 1})
		q := pool.Must(&pool.Options[int]{Origin: 101, Shards: 1})
		tb := forHandles[record](p, l)
		h, foreign := testkit.MustInsert(t, p, 1), testkit.MustInsert(t, q, 1)
		require.Equal(t, h.Index(), foreign.Index())
		require.EqualValues(t, 0, tb.Add(h, newRecord(1)))
		none := func(bad handle) {
			t.Helper()
			require.Equalf(t, table.None, tb.Lookup(bad), "Lookup(%v)", bad)
			require.Equalf(t, table.None, tb.Remove(bad), "Remove(%v)", bad)
			require.Equalf(t, table.None, tb.Add(bad, newRecord(2)), "Add(%v)", bad)
			require.Falsef(t, tb.AddBatch([]handle{bad}, make([]record, 1)), "AddBatch(%v)", bad)
		}
		last := handle(1<<63 | 1<<32 | 1<<32 - 1)
		for _, bad := range []handle{0, foreign, h + 1<<32, h + 2<<32, h + 1, h &^ (1<<32 - 1), handle(h.Index()), last} {
			if bad != h {
				none(bad)
			}
		}
		require.EqualValues(t, 0, tb.Lookup(h))
		require.True(t, p.Remove(h))
		none(h)
		require.Equal(t, []handle{h}, tb.Keys(), "the record is still there")
	})
}

// TestRemoveDead removes the records of the dead and no others, in every pattern, and
// moves no more records than it removes.
func TestRemoveDead(t *testing.T) {
	type entity struct{ id int }
	each(t, func(t *testing.T, l table.Layout) {
		const n = 7
		for pattern := range 1 << n {
			p := pool.Must(&pool.Options[int]{Origin: 1, Shards: 1})
			tb := forHandles[entity](p, l)
			moves := 0
			tb.OnMove(func(h handle, from, to table.Index) {
				moves++
				require.Truef(t, p.Contains(h), "%v moves and is dead", h)
			})
			for i := range n {
				tb.Add(testkit.MustInsert(t, p, i), entity{i})
			}
			dead := 0
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
		}
	})
}

// TestRefusedBatchKeepsTheDead: a refused batch gives a slot back to its dead occupant,
// which Add replaces.
func TestRefusedBatchKeepsTheDead(t *testing.T) {
	p := pool.Must(&pool.Options[int]{Origin: 1, Shards: 1, Capacity: 1})
	tb := forHandles[pair](p, table.SoA)
	h := testkit.MustInsert(t, p, 1)
	tb.Add(h, pair{})
	require.True(t, p.Remove(h))
	young := testkit.MustInsert(t, p, 2)
	require.False(t, tb.AddBatch([]handle{young, young}, make([]pair, 2)))
	require.Equal(t, table.None, tb.Lookup(young), "the record is another incarnation's")
	require.EqualValues(t, 0, tb.Add(young, pair{}), "the row of the dead occupant")
	require.EqualValues(t, 0, tb.Lookup(young))
	require.Equal(t, 1, tb.Len())
	require.True(t, p.Remove(young))
	_, ok := tb.Take(young)
	require.True(t, ok, "Take finds the dead")
}

// TestPoolChangesMeanwhile: other goroutines may use the pool of a table. A handle that
// dies meanwhile is found or not, and its record is never another's.
func TestPoolChangesMeanwhile(t *testing.T) {
	type entity struct{ h handle }
	each(t, func(t *testing.T, l table.Layout) {
		p := pool.Must[int](nil)
		tb := forHandles[entity](p, l)
		handles := make(chan handle, 64)
		go func() { // values come and go
			defer close(handles)
			var mine [32]handle
			for i := range long(40_000) {
				p.Remove(mine[i%32])
				if h, err := p.Insert(i); err == nil {
					mine[i%32] = h
					handles <- h
				}
			}
		}()
		var known [16]handle
		i := 0
		for h := range handles {
			i++
			known[i%16] = h
			switch i % 4 {
			case 0:
				tb.Add(h, entity{h})
			case 1:
				batch, before := []handle{h, known[(i+1)%16]}, tb.Len()
				if !tb.AddBatch(batch, []entity{{batch[0]}, {batch[1]}}) {
					require.Equal(t, before, tb.Len(), "a refused batch leaves records")
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
		for h, r := range tb.All() {
			require.Equal(t, h, r.h)
			require.Equal(t, p.Contains(h), tb.Lookup(h).IsSet())
		}
	})
}
