package table

import "iter"

// has answers whether there is a record at i.
func (t *Table[K, R]) has(i Index) bool { return uint(i) < uint(t.rows.n) }

// Lookup returns the Index of the record by the key k, and None if there is none. It
// costs a look-up in a map; in a table from ForHandles two loads, and what
// [pool.Pool.Contains] costs. It panics for a key that a map would panic for.
func (t *Table[K, R]) Lookup(k K) Index {
	if t.index == nil {
		panic(zeroTable)
	}
	return t.index.find(k)
}

// LookupBatch appends to dst what Lookup returns for each of ks, and returns it: an
// Index, or None. With [View.Batch] it makes references of keys.
func (t *Table[K, R]) LookupBatch(ks []K, dst []Index) []Index {
	for _, k := range ks {
		dst = append(dst, t.Lookup(k))
	}
	return dst
}

// KeyAt returns the key of the record at i, and ErrRange if there is none.
func (t *Table[K, R]) KeyAt(i Index) (k K, err error) {
	if !t.has(i) {
		return k, ErrRange
	}
	return t.keys[i], nil
}

// Copy returns a copy of the record by the key k, and ErrNotFound if there is
// none. The copy is the caller's: nothing that happens to the table changes it. What the
// record points to is not copied.
func (t *Table[K, R]) Copy(k K) (r R, err error) {
	i := t.Lookup(k)
	if i == None {
		return r, ErrNotFound
	}
	load(&t.rows, i, &r)
	return r, nil
}

// CopyAt returns a copy of the record at i, and ErrRange if there is none.
func (t *Table[K, R]) CopyAt(i Index) (r R, err error) {
	if !t.has(i) {
		return r, ErrRange
	}
	load(&t.rows, i, &r)
	return r, nil
}

// Set overwrites the record by the key k with r, and answers false if there is
// none. Every Index and reference stays good.
func (t *Table[K, R]) Set(k K, r R) bool {
	i := t.Lookup(k)
	if i.IsSet() {
		store(&t.rows, i, &r)
	}
	return i.IsSet()
}

// SetAt overwrites the record at i with r, and answers false if there is none.
func (t *Table[K, R]) SetAt(i Index, r R) bool {
	if !t.has(i) {
		return false
	}
	store(&t.rows, i, &r)
	return true
}

// Keys returns the keys of all records: Keys()[i] names the record at i. It copies
// nothing: the slice is the table's own, to be read until the table changes.
func (t *Table[K, R]) Keys() []K { return t.keys[:len(t.keys):len(t.keys)] }

// All ranges over the records in the order of their Index, each a copy, which
// under SoA is put together from all columns: where a loop needs a field or two, take
// columns. The body may Set records. It must not add or remove any; it would
// meet some twice, or not at all.
func (t *Table[K, R]) All() iter.Seq2[K, R] {
	return func(yield func(K, R) bool) {
		for i := 0; i < len(t.keys); i++ {
			var r R
			load(&t.rows, Index(i), &r)
			if !yield(t.keys[i], r) {
				return
			}
		}
	}
}
