package cgohandle

import "coatcheck/pool"

// Table has handles for values of type T. They are uintptrs and not Handles, which belong
// to the table that all Handles share.
//
// It is safe for concurrent use by any number of goroutines. Make one with NewTable; the
// zero Table panics, and a Table must not be copied. The garbage collector frees an
// unreachable Table with its values, even if C still has handles.
//
// A Table is a pool with other method names; see [Table.Pool].
type Table[T any] struct {
	_    noCopy
	pool *pool.Pool[T]
	live tally
}

const zeroTable = "cgohandle: use of a zero Table; make one with NewTable"

// noCopy makes vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// NewTable returns an empty table.
func NewTable[T any]() *Table[T] {
	if wide {
		return tableOf(pool.Must[T](nil))
	}
	return tableOf(pool.Must(narrowOptions[T]()))
}

// tableOf returns the table of an empty pool.
func tableOf[T any](p *pool.Pool[T]) *Table[T] { return &Table[T]{pool: p, live: makeTally()} }

// Pool returns the pool that the values are in, for its Stats and Synchronize, and to show it.
// Insert and remove through the table alone, which counts. It panics for a zero Table.
func (t *Table[T]) Pool() *pool.Pool[T] {
	if t.pool == nil {
		panic(zeroTable)
	}
	return t.pool
}

// New returns a handle for v, which is live until Delete. It is never zero. New panics
// if the table is full.
func (t *Table[T]) New(v T) uintptr {
	insert := (*pool.Pool[T]).Insert
	if !wide {
		insert = insertNarrow[T]
	}
	h, err := insert(t.Pool(), v)
	if err != nil {
		panic("cgohandle: New in a table that is full: " + err.Error())
	}
	t.live.add(1)
	return wordOf(h)
}

// Value returns the value that h names: a copy, unless T is a pointer. It panics if h is
// not live.
func (t *Table[T]) Value(h uintptr) T {
	v, ok := t.Pool().Get(handleOf[T](h))
	if !ok {
		t.misuse("Value", h)
	}
	return v
}

// Lookup returns the value that h names, and false if h is not live. A handle of
// another table is refused except about one in 2^30, on 64-bit platforms.
func (t *Table[T]) Lookup(h uintptr) (T, bool) { return t.Pool().Get(handleOf[T](h)) }

// Delete ends the life of h. It panics if h is not live, so of two Deletes one always
// panics.
func (t *Table[T]) Delete(h uintptr) {
	if !t.Pool().Remove(handleOf[T](h)) {
		t.misuse("Delete", h)
	}
	t.live.add(-1)
}

// misuse panics for a handle that is not live.
func (t *Table[T]) misuse(verb string, h uintptr) {
	panic("cgohandle: " + verb + " of an invalid handle: " + t.pool.Explain(handleOf[T](h)))
}

// Len returns the number of live handles. It is exact when nobody makes or deletes one
// meanwhile; else each of these counts or does not. It reads a word for each processor.
func (t *Table[T]) Len() int {
	t.Pool()
	return t.live.sum()
}

// Trim gives the memory of unused slots back to the Go heap, and returns how many bytes. No
// handle becomes valid again. Other goroutines may use the table meanwhile. Call it when a peak
// is over, since a table keeps its memory for the next one. It costs what [pool.Pool.Trim]
// does.
//
// On 32 bits Trim frees nothing and returns 0. Slots that lose their memory age together, and
// have too few lives there.
func (t *Table[T]) Trim() int64 { return t.Pool().Trim() }
