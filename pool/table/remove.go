package table

// Remove removes the record by the key k. It returns the Index that the record had, or None if
// there is none. The last record moves into the gap and takes that Index, and OnMove functions
// are told. Remove does not find a handle that the pool refuses; for these there is RemoveDead.
//
// Remove is O(1). It frees no memory except what the record pointed to. The Index and the
// references of the last record then name nothing, and those of the removed record name the one
// that moved.
func (t *Table[K, R]) Remove(k K) Index {
	t.change()
	i := t.index.find(k)
	if i.IsSet() {
		t.removeAt(i)
	}
	return i
}

// RemoveAt removes the record at i, even if the pool refuses its handle. It returns i, or None if
// there is no record at i.
func (t *Table[K, R]) RemoveAt(i Index) Index {
	t.change()
	if !t.hasRow(i) {
		return None
	}
	t.removeAt(i)
	return i
}

func (t *Table[K, R]) removeAt(i Index) {
	var zero K
	last := Index(t.rows.n - 1)
	t.index.drop(t.keys[i])
	k := t.keys[last]
	if i != last {
		t.index.set(k, i)
		t.keys[i] = k
	}
	t.keys[last] = zero
	leave[R](&t.rows, i, last)
	t.keys = t.keys[:last]
	t.rows.n = int(last)
	if i != last && t.moves.Any() {
		t.tell(k, last, i)
	}
}

// RemoveDead removes all records whose handles the pool refuses by now, and returns how many.
// Only a table that ForHandles made can have such records. OnDead functions get a copy of each.
//
// It makes one pass over the keys, and moves at most one record for each that it removes.
func (t *Table[K, R]) RemoveDead() int {
	t.change()
	if !t.deaths.Any() {
		return t.removeIf(func(k K, _ Index) bool { return t.index.dead(k) })
	}
	n := 0
	for i := Index(t.rows.n - 1); i >= 0; i-- { // as removeIf does
		if t.index.dead(t.keys[i]) {
			d := t.deadAt(i)
			t.removeAt(i)
			t.tellDead(d)
			n++
		}
	}
	return n
}

// OnDead registers f, for programs that must end what a record has, such as a buffer or a sound, when the value
// that its handle named is gone. It returns a function that takes f back. The table calls f with a copy of the
// record of a dead handle k that [Table.Add], AddOrSet or AddBatch has replaced, or [Table.RemoveDead] removed.
// It does not call f for what the caller removes itself: by RemoveAt, DeleteFunc, Clear, ReadFrom or CloneFrom.
//
// Functions run in the order of registration, after the OnMove functions. As these, f may read the table and
// Set records; any other change panics. If f panics, later functions are not called for this record, RemoveDead
// leaves other dead records, and AddBatch reports no other.
func (t *Table[K, R]) OnDead(f func(k K, r R)) (stop func()) {
	t.change()
	if f == nil {
		panic("table: OnDead of a nil function")
	}
	return t.changing(t.deaths.Add(f))
}

// tellDead calls the OnDead functions with d.
func (t *Table[K, R]) tellDead(d deadRecord[K, R]) {
	if t.deaths.Any() {
		defer t.call("OnDead")()
		t.deaths.Each(func(f func(K, R)) { f(d.k, d.record) })
	}
}

// DeleteFunc removes the records for which del returns true, and returns how many. It visits the
// records from the last to the first, each once, by its key and its Index. So del can read the record
// by GetAt or through a View. It may Set records, and any other change panics.
//
// At most one record moves for each that is removed, as [Table.Remove] says, and OnMove functions are
// told each time. If del panics, those that it has chosen are gone.
func (t *Table[K, R]) DeleteFunc(del func(k K, i Index) bool) int {
	t.change()
	defer t.call("DeleteFunc")()
	return t.removeIf(del)
}

func (t *Table[K, R]) removeIf(del func(k K, i Index) bool) (n int) {
	// From the end, so that a record that moves into a gap has been visited.
	for i := t.rows.n - 1; i >= 0; i-- {
		if del(t.keys[i], Index(i)) {
			t.removeAt(Index(i))
			n++
		}
	}
	return n
}

// Clear removes all records, and returns how many. It keeps their memory for new records, but
// nothing that they pointed to. Every Index and reference ends. It does not call OnMove functions.
//
// Clear costs O(Len), whatever room the table has: it zeroes the rows of the records, column by
// column, and removes their keys from the index. No record moves, so it costs less than to remove
// them one by one.
func (t *Table[K, R]) Clear() int {
	t.change()
	n := t.rows.n
	t.clear()
	return n
}

// clear removes all records, in a table that may be changed.
func (t *Table[K, R]) clear() {
	t.index.clear(t.keys)
	for c := range t.rows.allColumns {
		c.wipe(t.rows.n)
	}
	t.keys = t.keys[:0]
	t.rows.n = 0
}

// OnMove registers f, for programs that keep an Index, and returns a function that takes f back.
// When a removal has moved the last record, of key k, from Index from into the gap at to, the table
// calls f. In a table by handles it also calls f when Add has replaced the record of a dead handle
// k: then to is None, so f must look at to before it uses it as an index, and the new record is at
// from. [Table.SortFunc] calls f when all records have moved. Functions run in the order of
// registration.
//
// f may read the table and Set records; any other change panics. If f panics, later functions are
// not called for this move, RemoveDead leaves other dead records, and AddBatch reports no other
// replacement.
func (t *Table[K, R]) OnMove(f func(k K, from, to Index)) (stop func()) {
	t.change()
	if f == nil {
		panic("table: OnMove of a nil function")
	}
	return t.changing(t.moves.Add(f))
}

// changing returns f as a function that panics where the table must not be changed.
func (t *Table[K, R]) changing(f func()) func() {
	return func() {
		t.change()
		f()
	}
}

// tell calls the OnMove functions.
func (t *Table[K, R]) tell(k K, src, dst Index) {
	defer t.call("OnMove")()
	t.moves.Tell(k, src, dst)
}

// call notes that a function passed to method is running. The function that it returns ends that.
func (t *Table[K, R]) call(method string) (end func()) {
	outer := t.calling
	t.calling = method
	return func() { t.calling = outer }
}
