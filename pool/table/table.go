package table

import (
	"errors"
	"fmt"
	"reflect"

	"coatcheck/pool"
)

// Table keeps records of type R, a struct, each by a key, without gaps: the records are
// at [Index] 0 to Len-1, whatever was removed. See the package documentation for the
// three ways to name a record and how long each stays valid.
//
// Any number of goroutines may read a table at once. One goroutine may change it while
// none reads. Add, AddBatch, Remove, RemoveAt, RemoveDead, Clear, Set, SetAt, Reserve,
// Trim, ReadFrom and OnMove change it. Writing through a [View] changes only the field that is
// written: goroutines may work on different columns, or parts of one, in parallel.
//
// A zero Table panics when a record is added or looked up; make one with New or
// ForHandles. A Table must not be copied (vet reports it).
type Table[K comparable, R any] struct {
	_       noCopy
	rows    rows
	keys    []K // keys[i] names record i; its memory is a column like any other
	index   index[K]
	moves   []func(k K, from, to Index)
	telling bool // a function passed to OnMove is running
}

// index finds rows by their keys: hashed for any K, slots for handles.
//
// It has an entry for the key of every row, with that row, and no other entry. Only find,
// claim and dead consider that a pool may refuse a handle.
type index[K comparable] interface {
	// find returns the row of k, or None.
	find(k K) Index
	// held is find that finds dead keys too.
	held(k K) Index
	// claim makes an entry for k with row next, or with the row of a dead occupant, and
	// returns that row. It returns None and changes nothing if k cannot be added. keys
	// are the keys of the rows that exist; entries for other rows were claimed earlier in
	// the same batch. It may panic as a map does; nothing has changed then.
	claim(k K, next Index, keys []K) Index
	// unclaim undoes the claim of k, before its row was written.
	unclaim(k K, keys []K)
	// set changes the row of k, which has an entry, to i.
	set(k K, i Index)
	// drop removes the entry of k, which has one.
	drop(k K)
	// dead reports whether k, if it has an entry, will never be found again.
	dead(k K) bool
	// reserve makes room for n keys in all.
	reserve(n int)
	// clear removes all entries, and keeps their memory.
	clear()
	// trim frees memory that the present keys do not need, and returns how many bytes.
	trim() int64
	// empty returns an index of the same kind without entries.
	empty() index[K]
}

// New returns an empty table of records of type R by keys of type K. It returns an error
// unless R is a struct and l a Layout.
//
// Nothing needs to be registered or generated: the columns are the fields of R, exported
// or not. An embedded struct is one column, like any field that is a struct; blank fields
// have none and are not kept. Fields may hold pointers. The first Add, or Reserve,
// allocates.
//
// Keys are hashed, by a Go map. Add returns None for a key that is not equal to itself,
// such as a NaN. It panics for a key that a map cannot hash, such as an interface that
// holds a slice.
func New[K comparable, R any](l Layout) (*Table[K, R], error) {
	return build[K, R](l, &hashed[K]{})
}

// ForHandles returns an empty table whose keys are handles of p, for data that belongs to
// a value of a pool and is not in it. It looks a record up by the slot of its handle,
// without hashing, which costs two loads and a [pool.Pool.Contains]. The index takes 8
// bytes a slot, allocated for 512 slots at a time where there are records, or by Reserve.
//
// A handle that p refuses finds nothing, even while its record is still there, and Add
// returns None for it. So when a value has been removed from p, Lookup, Copy, Set and
// Remove do not find its record. It stays, counted by Len and visited by Keys, All and
// columns. RemoveDead and RemoveAt remove it, and Add replaces it by the record of the
// next value in that slot. So remove the record before the value, or call
// [Table.RemoveDead] now and then.
//
// Other goroutines may use p meanwhile. ForHandles returns an error for a nil pool, and
// where New does; a zero Pool panics.
func ForHandles[T, R any](p *pool.Pool[T], l Layout) (*Table[pool.Handle[T], R], error) {
	if p == nil {
		return nil, errors.New("table: ForHandles of a nil pool")
	}
	p.Contains(0) // panics for a zero Pool
	return build[pool.Handle[T], R](l, &slots[T]{pool: p})
}

// Must returns t, and panics if err is not nil. It wraps a call of New or ForHandles.
func Must[K comparable, R any](t *Table[K, R], err error) *Table[K, R] {
	if err != nil {
		panic(err)
	}
	return t
}

func build[K comparable, R any](l Layout, ix index[K]) (*Table[K, R], error) {
	typ := reflect.TypeFor[R]()
	switch {
	case typ.Kind() == reflect.Pointer && typ.Elem().Kind() == reflect.Struct:
		return nil, fmt.Errorf("table: records of type %v; want the struct itself, %v", typ, typ.Elem())
	case typ.Kind() != reflect.Struct:
		return nil, fmt.Errorf("table: records of type %v, of kind %v; want a struct, whose fields become the columns", typ, typ.Kind())
	case l != SoA && l != AoS:
		return nil, fmt.Errorf("table: %v; want SoA or AoS", l)
	}
	t := &Table[K, R]{index: ix}
	t.rows.init(reflect.TypeFor[K](), typ, l)
	return t, nil
}

// noCopy makes vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Len returns the number of records.
func (t *Table[K, R]) Len() int { return t.rows.n }

// Allocated returns how many records there is room for: 0 or a power of two.
func (t *Table[K, R]) Allocated() int { return t.rows.allocated }

// Pages returns how many pages of 4 KiB the keys and columns occupy, each column on whole
// pages of its own. It does not count the index: a map or, for handles, 8 bytes a slot.
func (t *Table[K, R]) Pages() int { return t.rows.pages() }

// Layout returns the layout that the table was made with.
func (t *Table[K, R]) Layout() Layout { return t.rows.layout }

// Reserve makes room for n records in all: no Add allocates before Len reaches n. Allocated
// becomes the power of two that this needs; only Trim makes it less. It panics if n is
// negative, or too large to be allocated.
//
// The room is also for the keys in the index. A map of them may still allocate where it
// tidies up after removals, and for each key of more than 128 bytes. In a table from
// ForHandles there is room for the slots that the pool has when Reserve is called, and for n
// at least: 8 bytes a slot. So Reserve after the pool has its slots.
//
// It is O(n), and reads every slot of the pool. References end, as in growth.
func (t *Table[K, R]) Reserve(n int) {
	t.change()
	if n < 0 {
		panic(fmt.Sprintf("table: Reserve of %d records", n))
	}
	t.grow(n)
	if n > 0 {
		t.index.reserve(n)
	}
}

// Trim frees the room that Len does not need, and returns how many bytes it gives back to
// the Go heap. Allocated becomes the power of two that the table would have if it had grown
// to its Len, or 0 if it is empty. The index of the keys shrinks as well; how many bytes of
// a map these are is an estimate.
//
// It is O(n), and needs room for both copies of a column at once. Every Index and View stays
// valid, as in growth; references keep the memory that the table has left.
func (t *Table[K, R]) Trim() int64 {
	t.change()
	before := t.Pages()
	t.rows.trim()
	t.hold()
	return int64(before-t.Pages())*pageBytes + t.index.trim()
}

// grow makes room for n records in all. If it panics, nothing has changed.
func (t *Table[K, R]) grow(n int) {
	if n > t.rows.allocated {
		t.rows.grow(n)
		t.hold()
	}
}

// hold takes the keys from their column, which has moved.
func (t *Table[K, R]) hold() { t.keys = elements[K](&t.rows.key, t.rows.allocated)[:t.rows.n] }

// change panics if the table must not be changed now; every change calls it first.
func (t *Table[K, R]) change() {
	if t.index == nil {
		panic(zeroTable)
	}
	if t.telling {
		panic(inOnMove)
	}
}
