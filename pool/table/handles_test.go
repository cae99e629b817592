package table_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/dense"
	"coatcheck/pool/table"
)

type handle = pool.Handle[int]

// TestReplacedRecordIsTold: an addition over a dead occupant tells that its record is
// nowhere any more, so that what leads to its Index does not lead to a stranger.
func TestReplacedRecordIsTold(t *testing.T) {
	type entity struct{ h handle }
	each(t, func(t *testing.T, l table.Layout) {
		p := pool.Must(&pool.Options[int]{Origin: 1, Capacity: 4, Shards: 1})
		tb := forHandles[entity](p, l)
		hs := testkit.Fill(t, p, 4, testkit.Number)
		places := map[handle]table.Index{} // what a program keeps, for each that was added
		tb.OnMove(func(k handle, from, to table.Index) {
			require.Equal(t, from, places[k])
			require.Equal(t, to, tb.Lookup(k))
			if places[k] = to; to == table.None {
				delete(places, k)
			}
		})
		add := func(h handle) {
			i := tb.Add(h, entity{h})
			places[h] = i
		}
		again := func(dead handle) handle { // in the slot of the dead one
			require.True(t, p.Remove(dead), "the value should be live")
			h := testkit.MustInsert(t, p, 0)
			require.Equal(t, dead.Index(), h.Index())
			return h
		}
		testkit.Each(hs, add)
		next := again(hs[1])
		add(next)
		require.Equal(t, map[handle]table.Index{hs[0]: 0, next: 1, hs[2]: 2, hs[3]: 3}, places)

		batch := []handle{again(hs[3]), again(hs[0])}
		require.True(t, tb.AddBatch(batch, []entity{{batch[0]}, {batch[1]}}), "the batch should be added")
		require.Equal(t, map[handle]table.Index{next: 1, hs[2]: 2}, places)
		for _, h := range batch {
			places[h] = tb.Lookup(h)
		}
		tb.Remove(batch[1])
		require.Equal(t, map[handle]table.Index{batch[0]: 0, next: 1, hs[2]: 2, batch[1]: 0}, places, "the removed record itself is not told")
		require.Equal(t, 3, tb.Len())
	})
}

// TestStoreTellsWhoDied: a table by handles of a dense store finds the records of the living alone,
// and another value in the slot of a dead one replaces its record.
func TestStoreTellsWhoDied(t *testing.T) {
	each(t, func(t *testing.T, l table.Layout) {
		s := dense.Must[int](nil)
		tb, err := table.ForLive[int, pair](s.Alive, l)
		require.NoError(t, err)
		var hs []handle
		for i := range 1000 {
			h, err := s.Create(i)
			require.NoError(t, err)
			hs = append(hs, h)
		}
		tb.Grow(len(hs))
		for i, h := range hs {
			require.EqualValues(t, i, tb.Add(h, pair{i, i}))
		}
		s.Kill(hs[7])
		require.EqualValues(t, 7, tb.Lookup(hs[7]), "it stays until Refresh")
		s.Refresh()
		require.Equal(t, table.None, tb.Lookup(hs[7]))
		require.Equal(t, table.None, tb.Add(hs[7], pair{}))
		next, err := s.Create(0)
		require.NoError(t, err)
		require.Equal(t, hs[7].Index(), next.Index())
		require.EqualValues(t, 7, tb.Add(next, pair{7, 8}))
		s.Kill(hs[9])
		s.Refresh()
		require.Equal(t, 1, tb.RemoveDead())
		require.Equal(t, 999, tb.Len())

		var b bytes.Buffer
		_, err = tb.WriteTo(&b)
		require.NoError(t, err)
		s.Kill(next)
		s.Refresh()
		_, err = tb.ReadFrom(&b)
		require.NoError(t, err)
		require.Equal(t, 998, tb.Len(), "of the dead, no record is read")
	})
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
			for i := range testkit.Long(40_000) {
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
			old := known[i*5%16]
			switch i % 4 {
			case 0:
				tb.Add(h, entity{h})
			case 1:
				before := tb.Len()
				if !tb.AddBatch([]handle{h, old}, []entity{{h}, {old}}) {
					require.Equal(t, before, tb.Len(), "a refused batch leaves records")
				}
			case 2:
				tb.Remove(old)
			}
			if r, ok := tb.Get(old); ok && r.h != old {
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
