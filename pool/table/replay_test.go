package table_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/table"
)

// thing is a value with a pointer, so that the collector has work in its pool.
type thing struct{ Box *int }

// part is a record beside some things.
type part struct {
	Of   pool.Handle[thing]
	Box  *int
	Name string
}

// replayed is a program with tables by the handles of a pool that replays.
type replayed struct {
	*testkit.Replayed[thing]
	tables [2]*table.Table[pool.Handle[thing], part] // by slot, and hashed
	known  []pool.Handle[thing]                      // live or stale
}

// playTables draws what a program with tables does. If it runs again, the layouts are swapped, and
// it now and then goes on in copies, as after a rollback.
func playTables(play *testkit.Play) {
	r := &replayed{Replayed: testkit.NewReplayed[thing](play, 100, 1000, nil, 0)}
	r.make()
	for range 200 {
		r.step(1 + play.IntN(1<<play.IntN(8)))
		r.Between()
	}
	r.save()
	for _, tb := range r.tables {
		r.Note(tb.Keys())
	}
}

// make makes the tables.
func (r *replayed) make() {
	l := layouts
	if r.Again {
		l = []table.Layout{table.AoS, table.SoA}
	}
	r.tables[0], r.tables[1] = forHandles[part](r.Pool, l[0]), of[pool.Handle[thing], part](l[1])
	for _, tb := range r.tables {
		tb.OnMove(func(h pool.Handle[thing], from, to table.Index) { r.Note(h, from, to) })
	}
}

// save goes on in copies of the pool and the tables, if the program runs again.
func (r *replayed) save() {
	r.Unpin()
	r.Note(r.tables[0].RemoveDead())
	if !r.Restore() {
		return
	}
	var b bytes.Buffer
	before := r.tables
	r.make()
	for i, tb := range before {
		_, err := tb.WriteTo(&b)
		require.NoError(r, err)
		_, err = r.tables[i].ReadFrom(&b)
		require.NoError(r, err)
	}
}

// some takes up to n handles out of known, from a drawn place on.
func (r *replayed) some(n int) (hs []pool.Handle[thing]) {
	n = min(n, len(r.known))
	at := r.IntN(len(r.known) - n + 1)
	hs = append(hs, r.known[at:at+n]...)
	r.known = append(r.known[:at], r.known[at+n:]...)
	return hs
}

func (r *replayed) step(n int) {
	tb := r.tables[r.IntN(2)]
	var h pool.Handle[thing]
	if len(r.known) > 0 {
		h = r.known[r.IntN(len(r.known))]
	}
	switch r.IntN(15) {
	case 0, 1, 2:
		for range n {
			h, err := r.Pool.Insert(thing{new(int)})
			if !r.Issued(h, err) {
				break
			}
			r.known = append(r.known, h)
			if r.IntN(2) == 0 {
				r.Note(tb.Add(h, part{Of: h, Box: new(int)}))
			}
		}
	case 3, 4, 5:
		hs := r.some(n)
		r.Note(r.Pool.RemoveBatch(hs))
		if r.IntN(4) == 0 {
			r.known = append(r.known, hs[:len(hs)/4]...) // stale
		}
	case 6, 7:
		r.Note(tb.Add(h, part{Of: h}))
	case 8:
		hs := r.some(n)
		r.known = append(r.known, hs...)
		r.Note(tb.AddBatch(hs, make([]part, len(hs))))
	case 9:
		r.Note(tb.Remove(h), tb.RemoveAt(table.Index(n)))
	case 10:
		r.Note(tb.RemoveDead())
	case 11:
		r.Note(tb.Lookup(h), tb.Set(h, part{Of: h, Name: "set"}), tb.Len())
		_, ok := tb.Get(h)
		r.Note(ok)
	case 12:
		for h, v := range tb.All() {
			r.Note(h, v.Of, v.Name)
			if n--; n == 0 {
				break
			}
		}
	case 13:
		r.PinOrTrim()
	case 14:
		r.save()
	}
}

// One goroutine that fills tables by handle gets the same handles, and the same order of records,
// from each run of a program, under either layout, and in copies as in the originals.
func TestReplayKeepsTheOrderOfRecords(t *testing.T) {
	testkit.RequireReplays(t, testkit.LongAlone(40), 300, playTables)
}
