package table

import "fmt"

// Clone returns a new table with the same records, by the same keys, in the same order and layout. It calls
// copy once for each record: src is a copy of the record, and dst is zero. If copy is nil, it stands for
// *dst = *src; then slices, maps and pointers in records lead to what both tables share.
//
// Other goroutines may read t meanwhile. OnMove and OnDead functions do not come along.
//
// The clone of a table by handles asks what t asks: the same pool. Beside a clone of the pool, make a table for
// that one, and call [Table.CloneFrom].
func (t *Table[K, R]) Clone(copy func(dst, src *R)) *Table[K, R] {
	if t.index == nil {
		panic(zeroTable)
	}
	c := must(build[K, R](t.rows.layout, t.index.empty()))
	c.CloneFrom(t, copy)
	return c
}

// CloneFrom replaces all records of t by those of another table, in the same order, as [Table.ReadFrom] of its
// snapshot does. Keys and records may have any type. The layouts may differ. It calls copy as [Table.Clone] does.
// Every Index and reference of t ends, and every View stays valid. It does not call OnMove or OnDead functions.
//
// In a table by handles, CloneFrom leaves out records whose handles t's pool refuses, and later
// records move up. So first clone the pool by [pool.Pool.Clone], and make t for the clone.
//
// CloneFrom changes t, and reads the original, as other goroutines may meanwhile. copy may read both, and
// change neither. If copy panics, the panic continues, and t is empty. CloneFrom panics if original is t.
//
// It uses the memory that t has. So a program that saves each frame in a table that it keeps makes no
// garbage, once that table has room.
func (t *Table[K, R]) CloneFrom(original *Table[K, R], copy func(dst, src *R)) {
	t.change()
	switch {
	case original.index == nil:
		panic(zeroTable)
	case original == t:
		panic("table: CloneFrom of the table itself")
	}
	t.clear()
	whole := false
	defer func() {
		if !whole {
			t.clear()
		}
	}()
	defer t.call("CloneFrom")()
	if n := original.rows.n; n > 0 {
		t.grow(n)
		t.index.reserve(n)
		t.cloneRecords(original, copy)
	}
	whole = true
}

// cloneRecords adds the records of the original to t, which is empty and has room for them.
func (t *Table[K, R]) cloneRecords(original *Table[K, R], copyRecord func(dst, src *R)) {
	keys, source := original.keys, original.rows.places
	byColumns := copyRecord == nil && t.rows.layout == original.rows.layout
	copyColumns := func() {
		for j := range t.rows.columns {
			t.rows.columns[j].copyFrom(&original.rows.columns[j], t.rows.n)
		}
	}
	var r, zero R
	var buffer *[2]R
	if copyRecord != nil {
		buffer = new([2]R) // one for all records
	}
	for i, k := range keys {
		n := t.rows.n
		row := t.index.claim(k, Index(n), t.keys)
		if byColumns && int(row) != i { // from here on, records move up
			copyColumns()
			byColumns = false
		}
		if row == None {
			continue // the pool refuses it
		}
		if int(row) == n {
			t.keys = t.keys[:n+1]
			t.rows.n = n + 1
		}
		t.keys[row] = k
		if byColumns {
			continue
		}
		if copyRecord == nil {
			load(&source, Index(i), &r)
			store(&t.rows.places, row, &r)
			continue
		}
		dst, src := &buffer[0], &buffer[1]
		load(&source, Index(i), src)
		*dst = zero
		if copyRecord(dst, src); original.rows.n != len(keys) || original.rows.places != source {
			panic(fmt.Sprintf(changed, "CloneFrom"))
		}
		store(&t.rows.places, row, dst)
	}
	if byColumns {
		copyColumns()
	}
}
