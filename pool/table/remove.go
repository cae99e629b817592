package table

// Remove removes the record by the key k. It returns the Index that the record had, or
// None if there is no such record. It does not find a dead handle: see RemoveDead. The
// last record moves into the gap, so unless it was the last one itself, another record
// has that Index now, and OnMove is told.
//
// It is O(1) and frees no memory except what the record pointed to. The Index and
// references of the last record name nothing any more; those of the removed one name the
// record that moved in.
func (t *Table[K, R]) Remove(k K) Index {
	t.change()
	i := t.index.find(k)
	if i.IsSet() {
		t.removeAt(i)
	}
	return i
}

// RemoveAt removes the record at i, dead or not. It returns i, or None if there is no
// record at i.
func (t *Table[K, R]) RemoveAt(i Index) Index {
	t.change()
	if !t.has(i) {
		return None
	}
	t.removeAt(i)
	return i
}

func (t *Table[K, R]) removeAt(i Index) {
	var none K
	last := Index(t.rows.n - 1)
	t.index.drop(t.keys[i])
	k := t.keys[last]
	if i != last {
		t.index.set(k, i)
		t.keys[i] = k
	}
	t.keys[last] = none
	leave[R](&t.rows, i, last)
	t.keys = t.keys[:last]
	t.rows.n = int(last)
	if i != last && len(t.moves) > 0 {
		t.tell(k, last, i)
	}
}

// RemoveDead removes, from a table that ForHandles made, all records whose handles the
// pool refuses by now, and returns how many. In other tables no record is ever dead.
//
// It is one pass over the keys, and moves at most one record for each that it removes.
func (t *Table[K, R]) RemoveDead() int {
	t.change()
	before := t.rows.n
	// From the end, so that a record that moves into a gap has been visited.
	for i := before - 1; i >= 0; i-- {
		if t.index.dead(t.keys[i]) {
			t.removeAt(Index(i))
		}
	}
	return before - t.rows.n
}

// Clear removes all records. It keeps their memory for new ones, and nothing that they
// pointed to. Every Index and reference ends; OnMove functions are not called.
//
// It costs the zeroing of the rows and of the index, a quarter or less of what it costs to
// remove the records one by one.
func (t *Table[K, R]) Clear() {
	t.change()
	t.index.clear()
	for c := range t.rows.all {
		c.wipe(t.rows.n)
	}
	t.keys = t.keys[:0]
	t.rows.n = 0
}

// OnMove registers f, which is called when the record of the key k was at from, and is at
// to now. A program that keeps an Index updates it there. Functions are called in the order
// in which they were registered, and cannot be removed. There are two cases:
//
//   - A removal has moved the last record, of the key k, into the gap.
//   - In a table from ForHandles, an addition has replaced the record of the dead handle k.
//     Then to is None, and the record at from is the new one.
//
// The removal or addition is complete when f is called, and f may read the table and Set
// records. Adding, removing, Reserve, Trim, ReadFrom and OnMove panic there. If f panics, the functions
// after it are not called for this move. RemoveDead leaves the rest of the dead for
// another call, and AddBatch tells of no further record that it has replaced. The table
// stays consistent.
//
// f is not called for the record that a removal removes, nor when the table grows: every
// Index stays valid there.
func (t *Table[K, R]) OnMove(f func(k K, from, to Index)) {
	t.change()
	if f == nil {
		panic("table: OnMove of a nil function")
	}
	t.moves = append(t.moves, f)
}

func (t *Table[K, R]) tell(k K, from, to Index) {
	t.telling = true
	defer func() { t.telling = false }()
	for _, f := range t.moves {
		f(k, from, to)
	}
}
