package table

import "iter"

// What finds a record by its key or its row, and reads it or overwrites it.

// hasRow reports whether there is a record at i.
func (t *Table[K, R]) hasRow(i Index) bool { return uint(i) < uint(t.rows.n) }

// Lookup returns the Index of the record by the key k, or None if there is none. It costs a
// look-up in a map or, in a table by handles, two loads and a [pool.Pool.Contains]. It
// panics for a key for which a map would panic.
func (t *Table[K, R]) Lookup(k K) Index {
	if t.index == nil {
		panic(zeroTable)
	}
	return t.index.find(k)
}

// KeyAt returns the key of the record at i, and false if there is none.
func (t *Table[K, R]) KeyAt(i Index) (k K, ok bool) {
	if !t.hasRow(i) {
		return k, false
	}
	return t.keys[i], true
}

// Get returns a shallow copy of the record by the key k, and false if there is none. Later changes
// of the table do not change the copy.
func (t *Table[K, R]) Get(k K) (r R, ok bool) {
	ok = t.get(k, &r)
	return r, ok
}

// get copies the record to *r. Get is inlined and passes the address of its result, so the record is copied
// only once.
func (t *Table[K, R]) get(k K, r *R) bool {
	i := t.Lookup(k)
	if i == None {
		return false
	}
	load(&t.rows.places, i, r)
	return true
}

// GetAt returns a copy of the record at i, and false if there is none.
func (t *Table[K, R]) GetAt(i Index) (r R, ok bool) {
	if ok = t.hasRow(i); ok {
		load(&t.rows.places, i, &r)
	}
	return r, ok
}

// Set overwrites the record by the key k with r, and returns false if there is none.
// Every Index and reference stays valid.
func (t *Table[K, R]) Set(k K, r R) bool {
	i := t.Lookup(k)
	if i.IsSet() {
		store(&t.rows.places, i, &r)
	}
	return i.IsSet()
}

// SetAt overwrites the record at i with r, and returns false if there is none.
func (t *Table[K, R]) SetAt(i Index, r R) bool {
	if !t.hasRow(i) {
		return false
	}
	store(&t.rows.places, i, &r)
	return true
}

// Keys returns the keys of all records: Keys()[i] names the record at i. It copies nothing: the
// slice is the table's own memory, read-only, and valid until the table changes.
func (t *Table[K, R]) Keys() []K { return t.keys[:len(t.keys):len(t.keys)] }

// All returns an iterator over copies of the records, in the order of their Index. The body may
// Set records. It must not add or remove any, or the loop may visit some twice or not at all.
// Under SoA, All assembles each copy from all columns; if you need a field or two, use columns.
func (t *Table[K, R]) All() iter.Seq2[K, R] {
	return func(yield func(K, R) bool) {
		if t.rows.layout == AoS {
			for i := 0; i < len(t.keys); i++ {
				if !yield(t.keys[i], *record[R](&t.rows, Index(i))) {
					return
				}
			}
			return
		}
		var r R // all of it is overwritten in each step, except for blank fields
		for i := 0; i < len(t.keys); i++ {
			load(&t.rows.places, Index(i), &r)
			if !yield(t.keys[i], r) {
				return
			}
		}
	}
}
