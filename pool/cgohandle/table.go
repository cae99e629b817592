package cgohandle

import (
	"fmt"

	"coatcheck/pool"
)

// Table has handles for values of type T. The handles are uintptrs. They are not Handles, which
// belong to the one table that all Handles share.
//
// Any number of goroutines may use a Table at once. [NewTable] returns one; the zero Table
// panics, and a Table must not be copied. The garbage collector frees an unreachable Table with
// its values, even if C still has handles.
//
// A Table is a pool with other method names. Convert it by (*pool.Pool[T])(t) to call Stats and
// Synchronize.
type Table[T any] pool.Pool[T]

// NewTable returns an empty table.
func NewTable[T any]() *Table[T] {
	if wide {
		return (*Table[T])(pool.Must[T](nil))
	}
	return (*Table[T])(pool.Must(narrowOptions[T]()))
}

// New returns a handle for v, which is live until Delete. The handle is never zero. New panics if
// the table is full.
func (t *Table[T]) New(v T) uintptr {
	insert := (*pool.Pool[T]).Insert
	if !wide {
		insert = insertNarrow[T]
	}
	h, err := insert((*pool.Pool[T])(t), v)
	if err != nil {
		panic("cgohandle: New in a table that is full: " + err.Error())
	}
	return wordOf(h)
}

// Value returns the value that h names: a copy, unless T is a pointer. It panics if h is
// not live.
func (t *Table[T]) Value(h uintptr) T {
	v, ok := (*pool.Pool[T])(t).Get(handleOf[T](h))
	if !ok {
		t.misuse("Value", h)
	}
	return v
}

// Lookup returns the value that h names, and false if h is not live. On 64-bit platforms, it
// refuses a handle of another table except about one in 2^30.
func (t *Table[T]) Lookup(h uintptr) (T, bool) { return (*pool.Pool[T])(t).Get(handleOf[T](h)) }

// Delete ends the life of h. It panics if h is not live, so of two Deletes one always
// panics.
func (t *Table[T]) Delete(h uintptr) {
	if !(*pool.Pool[T])(t).Remove(handleOf[T](h)) {
		t.misuse("Delete", h)
	}
}

// misuse panics for a handle that is not live.
func (t *Table[T]) misuse(verb string, h uintptr) {
	panic("cgohandle: " + verb + " of an invalid handle: " + (*pool.Pool[T])(t).Explain(handleOf[T](h)))
}

// Len returns the number of live handles. It visits every slot that has memory, which takes about
// a millisecond for a million.
func (t *Table[T]) Len() int {
	// To count would cost a New with its Delete a third more.
	if wide {
		return (*pool.Pool[T])(t).Len()
	}
	n := 0
	for h := range (*pool.Pool[T])(t).All() {
		if h.Index() < 1<<indexBits {
			n++
		}
	}
	return n
}

// String returns the type and the figures of the table's pool, in a text for people.
func (t *Table[T]) String() string {
	return fmt.Sprintf("%T: %v", t, (*pool.Pool[T])(t).Stats())
}

// Trim gives the memory of unused slots back to the Go heap, and returns the number of bytes. A
// table keeps its memory for the next peak, so call Trim when a peak is over. No handle becomes
// valid again. Other goroutines may use the table meanwhile. Trim costs what [pool.Pool.Trim]
// costs.
//
// On 32-bit platforms Trim frees nothing and returns 0, because slots that lose their memory lose
// lives, and have too few there.
func (t *Table[T]) Trim() int64 { return (*pool.Pool[T])(t).Trim() }
