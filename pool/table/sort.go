package table

import (
	"slices"

	"coatcheck/pool/internal/moves"
)

// SortFunc sorts the records by cmp, as [slices.SortStableFunc] does. cmp gets the Index of two
// records, which it reads by GetAt or through a View. No record has moved yet; cmp must change
// nothing. If it panics, the order stays as it was.
//
// When all have moved, SortFunc tells the OnMove functions of each record that has changed its place,
// one cycle of the permutation after the other. The first record of a cycle goes aside to Index Len,
// where there is no record, the others follow into the gaps, and it comes from there at the end. So an
// array beside the table can be moved along, one element for each call.
//
// SortFunc calls cmp O(n log n) times, or about n times if the records are in order. Meanwhile it
// takes a word for each record. Every Index names another record then, but references stay as they
// are: each refers to a place.
func (t *Table[K, R]) SortFunc(cmp func(a, b Index) int) {
	t.change()
	order := make([]Index, t.rows.n) // order[i] is the row of the record that goes to i
	for i := range order {
		order[i] = Index(i)
	}
	func() {
		defer t.call("SortFunc")()
		slices.SortFunc(order, func(a, b Index) int {
			if c := cmp(a, b); c != 0 {
				return c
			}
			return int(a - b)
		})
	}()
	type move struct {
		k        K
		src, dst Index
	}
	var told []move
	var saved, r R
	var k K
	moves.Cycles(order, func(src, dst int) {
		row := Index(src)
		switch {
		case dst == t.rows.n:
			k = t.keys[src]
			load(&t.rows.places, row, &saved)
		case src == t.rows.n:
			t.keys[dst] = k
			store(&t.rows.places, Index(dst), &saved)
		default:
			t.keys[dst] = t.keys[src]
			load(&t.rows.places, row, &r)
			store(&t.rows.places, Index(dst), &r)
		}
		if dst < t.rows.n {
			t.index.set(t.keys[dst], Index(dst))
		}
		if t.moves.Any() {
			told = append(told, move{k, row, Index(dst)})
			if dst < t.rows.n {
				told[len(told)-1].k = t.keys[dst]
			}
		}
	})
	for _, m := range told {
		t.tell(m.k, m.src, m.dst)
	}
}
