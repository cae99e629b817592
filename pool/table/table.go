package table

import (
	"errors"
	"fmt"
	"reflect"

	"coatcheck/pool"
)

// Table keeps records of type R, a struct, each by a key, without gaps: record i
// of Len is at [Index] i, whatever was removed. See the package documentation for
// the three ways to name a record and how long each stays good.
//
// Any number of goroutines may read a table at once. One goroutine may change it
// while nobody reads. Add, Insert, AddBatch, Remove, RemoveAt, RemoveDead, DrainDead,
// Take, Set, SetAt, Clear, Reserve, Trim and OnMove change it, and so does writing through a [View],
// though that only touches the field that is written: columns, and
// parts of a column, may be worked on in parallel.
//
// A zero Table panics when a record is added to it or looked up; make one with
// New or ForHandles. A Table must not be copied (vet sees it).
type Table[K comparable, R any] struct {
	_       noCopy
	rows    rows
	keys    []K // keys[i] names record i; its memory is a column like any other
	index   index[K]
	moves   []func(k K, from, to Index)
	telling bool // a function that OnMove was given is running
}

// index finds rows by their keys: hashed for any K, slots for handles.
//
// It is exact: there is an entry for the key of every row, which tells that row,
// and no other. Only find, claim and dead know of handles that a pool refuses.
type index[K comparable] interface {
	// find returns the row of k, or None.
	find(k K) Index
	// held is find that finds dead keys too.
	held(k K) Index
	// claim makes an entry for k, which is to go to row next, or to the row of a
	// dead occupant, and returns which. It returns None and changes nothing if k
	// cannot be added. keys are those of the rows that there are; entries for other
	// rows were claimed before, in the same batch. It may panic as a map does;
	// nothing has changed then.
	claim(k K, next Index, keys []K) Index
	// unclaim undoes the claim of k, before its row was written.
	unclaim(k K, keys []K)
	// row is find for a k that is known to be there, dead or not.
	row(k K) Index
	// set tells that the row of k, which is there, is i now.
	set(k K, i Index)
	// drop forgets k, which is there.
	drop(k K)
	// dead reports whether k will never be found again, if it is there.
	dead(k K) bool
	// reserve makes room for n keys in all.
	reserve(n int)
	// trim gives up memory that the keys there are do not need.
	trim()
	// clear forgets all keys. The keys of the rows are as before.
	clear(keys []K)
}

// New returns an empty table of records of type R by keys of type K. R must be a
// struct, and l a Layout: anything else is answered with an error.
//
// Nothing has to be registered or generated: the columns are the fields of R,
// exported or not. An embedded struct is one column, like any field that is a
// struct; blank fields have none and are not kept. Fields may hold pointers. The
// first Add, or Reserve, allocates.
//
// Keys are hashed, by a Go map. Those that a map cannot keep are refused: Add
// returns None for a key that is not equal to itself, such as a NaN, and panics
// for an interface with something in it that cannot be compared.
func New[K comparable, R any](l Layout) (*Table[K, R], error) {
	return build[K, R](l, &hashed[K]{})
}

// ForHandles returns an empty table whose keys are handles of p: what belongs to
// a value of a pool and is not in it. It looks a record up by the slot of its
// handle, without hashing, which costs two loads and what [pool.Pool.Contains]
// costs, and takes 8 bytes of memory a slot, allocated for 512 slots at a time, where one
// of those has had a record.
//
// A handle that p refuses finds nothing, even while its record is still there,
// and cannot be added: Add returns None. So when a value has been removed from p,
// Lookup, Copy, Set and Remove by its handle find nothing. Its record stays until
// a record is added for the next value in that slot, which takes its row over,
// until RemoveDead, DrainDead or RemoveAt, or until [Table.Take], which alone
// takes it by its handle; Len, Keys, All and columns count it up to then.
// To lose none, take the record with the value, or call [Table.RemoveDead]
// now and then.
//
// Other goroutines may use p meanwhile. It answers with an error what New answers
// with one, and a nil pool; a zero Pool panics.
func ForHandles[T, R any](p *pool.Pool[T], l Layout) (*Table[pool.Handle[T], R], error) {
	if p == nil {
		return nil, errors.New("table: ForHandles of a nil pool")
	}
	p.Contains(0) // a zero Pool says what it has to say
	return build[pool.Handle[T], R](l, &slots[T]{pool: p})
}

// Must returns t, and panics if err is not nil. It goes around New or ForHandles,
// where R is known to be a struct.
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

// noCopy lets vet see copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Len returns the number of records.
func (t *Table[K, R]) Len() int { return t.rows.n }

// Allocated returns how many records there is room for: 0 or a power of two.
func (t *Table[K, R]) Allocated() int { return t.rows.allocated }

// Pages returns how many pages of 4 KiB the keys and columns occupy, each column
// on whole pages of its own. What finds the keys, a map or, for handles, 8 bytes
// a slot, comes on top.
func (t *Table[K, R]) Pages() int { return t.rows.pages() }

// Layout returns the layout that the table was made with.
func (t *Table[K, R]) Layout() Layout { return t.rows.layout }

// Reserve makes room for n records in all, those that there are included: no Add
// reallocates before Len reaches n. Allocated becomes the power of two that this
// needs; only Trim makes it less. It panics if n is negative or more than memory
// can be addressed for.
func (t *Table[K, R]) Reserve(n int) {
	t.change()
	if n < 0 {
		panic(fmt.Sprintf("table: Reserve of %d records", n))
	}
	t.grow(n)
	t.index.reserve(n)
}

// Trim gives up the room that Len does not need, and returns by how many pages that
// makes Pages less. What finds the keys shrinks as well. Allocated becomes the power
// of two that would be there if the table had grown to its Len, or 0 if it is empty.
//
// It is O(n). Every Index and View stays good, as through growth, and references do not.
func (t *Table[K, R]) Trim() (pages int) {
	t.change()
	pages = t.Pages()
	t.rows.trim()
	t.hold()
	t.index.trim()
	return pages - t.Pages()
}

// grow makes room for n records in all. If it panics, nothing has changed.
func (t *Table[K, R]) grow(n int) {
	if n > t.rows.allocated {
		t.rows.grow(n)
		t.hold()
	}
}

// hold takes the keys from their column, which has moved.
func (t *Table[K, R]) hold() {
	t.keys = elements[K](&t.rows.key, t.rows.allocated)[:t.rows.n]
}

// change is called by what changes the table.
func (t *Table[K, R]) change() {
	if t.index == nil {
		panic(zeroTable)
	}
	if t.telling {
		panic(inOnMove)
	}
}
