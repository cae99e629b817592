package table

import "fmt"

// Add adds the record r by the key k and returns its Index, which is the last. If k is already
// there, Add returns None and changes nothing. It also does so for a key that could not be found
// again: a NaN or, in a table by handles, a handle that the pool refuses.
//
// In a table by handles, a removed value's record may still occupy the slot of k. Then r
// replaces it in its row, nothing moves, and Len stays as it is. OnMove functions learn that the
// old record went to None, and OnDead functions get a copy of it.
//
// Add is O(1) amortized. An Add to a full table doubles the room and copies all columns, which
// ends all references.
func (t *Table[K, R]) Add(k K, r R) Index {
	t.change()
	n := t.rows.n
	i := t.index.claim(k, Index(n), t.keys)
	if i == None {
		return None
	}
	if int(i) < n {
		old := t.deadAt(i)
		t.keys[i] = k
		store(&t.rows.places, i, &r)
		t.replaced(old)
		return i
	}
	if n == t.rows.allocated {
		t.growFor(k)
	}
	t.keys = t.keys[:n+1]
	t.rows.n = n + 1
	t.keys[i] = k
	store(&t.rows.places, i, &r)
	return i
}

// deadRecord is a record that leaves because its key k, a handle, is dead. It was in row i. It has the
// record itself only if there are OnDead functions.
type deadRecord[K, R any] struct {
	k      K
	i      Index
	record R
}

// deadAt returns the record in row i, which is about to leave.
func (t *Table[K, R]) deadAt(i Index) (d deadRecord[K, R]) {
	d.k, d.i = t.keys[i], i
	if t.deaths.Any() {
		load(&t.rows.places, i, &d.record)
	}
	return d
}

// replaced tells the OnMove and OnDead functions that another record is in the row of d.
func (t *Table[K, R]) replaced(d deadRecord[K, R]) {
	if t.moves.Any() {
		t.tell(d.k, d.i, None)
	}
	t.tellDead(d)
}

// AddOrSet adds the record r by the key k or, if k is there already, overwrites its record. It
// returns the Index, or None for a key that Add would refuse for another reason.
func (t *Table[K, R]) AddOrSet(k K, r R) Index {
	t.change()
	if i := t.index.find(k); i.IsSet() {
		store(&t.rows.places, i, &r)
		return i
	}
	return t.Add(k, r)
}

// growFor makes room for one more record. If it panics, it undoes the claim of the record's key.
func (t *Table[K, R]) growFor(k K) {
	grown := false
	defer func() {
		if !grown {
			t.index.unclaim(k, t.keys)
		}
	}()
	t.grow(t.rows.n + 1)
	grown = true
}

// AddBatch adds the records rs by the keys ks, in that order, or nothing. If Add would refuse one
// of the keys, or if two are equal, AddBatch returns false and changes nothing. It panics unless
// there are as many keys as records.
//
// It reallocates the columns at most once. When it has added the whole batch, it tells the OnMove and
// OnDead functions which records it replaced.
func (t *Table[K, R]) AddBatch(ks []K, rs []R) bool {
	t.change()
	if len(ks) != len(rs) {
		panic(fmt.Sprintf("table: AddBatch of %d keys and %d records", len(ks), len(rs)))
	}
	first := t.rows.n
	n, ok := t.claimAll(ks)
	if !ok {
		return false
	}
	t.keys = t.keys[:n]
	t.rows.n = n
	var replaced []deadRecord[K, R]
	for j, k := range ks {
		i := Index(first + j)
		if n-first < len(ks) { // some replace records of dead keys
			i = t.index.held(k)
		}
		if int(i) < first && (t.moves.Any() || t.deaths.Any()) {
			replaced = append(replaced, t.deadAt(i))
		}
		t.keys[i] = k
		store(&t.rows.places, i, &rs[j])
	}
	for _, d := range replaced {
		t.replaced(d)
	}
	return true
}

// claimAll claims all of ks and makes room for those that need new rows. It returns the new number of
// rows. If it returns false or panics, no key is claimed.
func (t *Table[K, R]) claimAll(ks []K) (n int, ok bool) {
	n = t.rows.n
	claimed := 0
	defer func() {
		if !ok {
			for _, k := range ks[:claimed] {
				t.index.unclaim(k, t.keys)
			}
		}
	}()
	for _, k := range ks {
		i := t.index.claim(k, Index(n), t.keys)
		if i == None {
			return 0, false
		}
		claimed++
		if int(i) == n {
			n++
		}
	}
	t.grow(n)
	return n, true
}
