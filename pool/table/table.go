package table

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"coatcheck/pool"
	"coatcheck/pool/internal/moves"
)

// Table keeps records of type R, a struct, each by a key. The records are at [Index] 0 to Len-1,
// without gaps, whatever was removed. The package documentation has the three ways to name a
// record, and how long each is valid.
//
// Any number of goroutines may read a table at once. One goroutine may change it while none
// reads. These change it: Add, AddOrSet, AddBatch, Remove, RemoveAt, RemoveDead, DeleteFunc, Clear, Set,
// SetAt, SortFunc, Grow, Trim, ReadFrom, CloneFrom, OnMove and OnDead. A write through a [View] changes only its field, so
// goroutines may write to different columns, or to parts of one, in parallel.
//
// [New], [ForHandles] and [ForLive] return a Table. A zero Table panics when a record is added or looked up.
// A Table must not be copied (vet reports it).
type Table[K comparable, R any] struct {
	_       noCopy
	rows    rows
	keys    []K // keys[i] is the key in row i; their memory is a column like any other
	index   index[K]
	moves   moves.Functions[K, Index]
	deaths  moves.List[func(k K, r R)]
	calling string // the method whose function is running: OnMove, OnDead, DeleteFunc, SortFunc or CloneFrom; or empty
}

// index leads from each key to the row of its record: hashed does so for any K, slots for handles.
//
// It has the keys of all rows, and no others. The pool of a handle may refuse it. Then the key is dead:
// find, claim and dead ask the pool, and the other methods do not.
type index[K comparable] interface {
	// find returns the row of k, or None if k has none or is dead.
	find(k K) Index
	// held returns the row of k, dead or not, which has one.
	held(k K) Index
	// claim adds k and returns its row: next, or the row of the dead key in whose slot k is. It returns
	// None and changes nothing if k cannot be added. keys are the keys of the rows that exist; the same
	// batch has claimed the rows behind them. If claim panics, as a map does, nothing has changed.
	claim(k K, next Index, keys []K) Index
	// unclaim undoes the claim of k, before its row was written.
	unclaim(k K, keys []K)
	// set changes the row of k, which has one, to i.
	set(k K, i Index)
	// drop removes k, which has a row.
	drop(k K)
	// dead reports whether k is dead. No dead key is found again.
	dead(k K) bool
	// reserve makes room for n keys in all.
	reserve(n int)
	// clear removes keys, which are all that the index has, and keeps their memory. It costs O(n) for n
	// keys, however much room the index has.
	clear(keys []K)
	// trim frees memory that the present keys do not need, and returns how many bytes.
	trim() int64
	// empty returns an index of the same kind without keys.
	empty() index[K]
}

// New returns an empty table of records of type R by keys of type K. It returns an error unless R
// is a struct and l a Layout. The first Add, or Grow, allocates.
//
// The columns are the fields of R, exported or not. They need no registration or generated code,
// and may hold pointers. A field that is a struct, embedded or not, is one column. Blank fields
// have no column, so the table does not keep them.
//
// A Go map hashes the keys. Add returns None for a key that is not equal to itself, such as a
// NaN. It panics for a key that a map cannot hash, such as an interface that holds a slice.
func New[K comparable, R any](l Layout) (*Table[K, R], error) {
	return build[K, R](l, &hashed[K]{})
}

// ForHandles returns an empty table whose keys are handles of p, for data beside the values of a
// pool. A look-up goes by the handle's slot, without hashing. It costs two loads and a
// [pool.Pool.Contains]. The index takes 8 bytes a slot, in blocks of 512 slots, where there are
// records.
//
// Once a value is removed from p, Lookup, Get, Set and Remove no longer find its record, and Add
// refuses the handle. The record stays: Len counts it, and Keys, All and columns show it. It goes
// by RemoveDead or RemoveAt, or when Add replaces it for the next value in that slot. So remove
// the record before the value, or call [Table.RemoveDead] now and then.
//
// Other goroutines may use p meanwhile. ForHandles returns an error if p is nil, and where New
// does. A zero Pool panics.
func ForHandles[T, R any](p *pool.Pool[T], l Layout) (*Table[pool.Handle[T], R], error) {
	if p == nil {
		return nil, errors.New("table: ForHandles of a nil pool")
	}
	p.Contains(0) // panics for a zero Pool
	return build[pool.Handle[T], R](l, &slots[T]{pool: p})
}

// ForLive is [ForHandles] for handles that something else issues, such as a dense.Store. live
// reports whether a handle names anything now, as the Store's method Alive does:
//
//	t, err := table.ForLive[Enemy, Shield](enemies.Alive, table.SoA)
//
// Of the handles of one slot, live must accept one at most, and none again that it has refused. The
// table calls live for each look-up. ForLive returns an error if live is nil, and where New does.
func ForLive[T, R any](live func(pool.Handle[T]) bool, l Layout) (*Table[pool.Handle[T], R], error) {
	if live == nil {
		return nil, errors.New("table: ForLive of a nil function")
	}
	return build[pool.Handle[T], R](l, &slots[T]{live: live})
}

// Must is like [New] but panics instead of returning an error.
func Must[K comparable, R any](l Layout) *Table[K, R] { return must(New[K, R](l)) }

// MustForHandles is like [ForHandles] but panics instead of returning an error.
func MustForHandles[T, R any](p *pool.Pool[T], l Layout) *Table[pool.Handle[T], R] {
	return must(ForHandles[T, R](p, l))
}

func must[K comparable, R any](t *Table[K, R], err error) *Table[K, R] {
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

// noCopy makes vet report copies of a Table.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Len returns the number of records.
func (t *Table[K, R]) Len() int { return t.rows.n }

// Allocated returns how many records there is room for: 0 or a power of two.
func (t *Table[K, R]) Allocated() int { return t.rows.allocated }

// Pages returns how many pages of 4 KiB the keys and columns occupy. Each column has whole pages
// of its own. The index, which is a map or 8 bytes a slot for handles, does not count.
func (t *Table[K, R]) Pages() int { return t.rows.pages() }

// Layout returns the layout that the table was made with.
func (t *Table[K, R]) Layout() Layout { return t.rows.layout }

// Grow makes room for n records more than there are: the next n Adds allocate no columns.
// Allocated grows to a power of two; only Trim makes it less. Grow panics if n is negative, or too
// large to be allocated.
//
// Grow also makes room for the keys in the index. A map may still allocate where it tidies up
// after removals, and for each key of more than 128 bytes. An index of handles gets 8 bytes for
// each of the first Len + n slots: those that a pool uses first. A record in a later slot may
// allocate the 4 KiB that 512 slots share.
//
// Grow is O(n), amortized over many calls. References end, as when the table grows.
func (t *Table[K, R]) Grow(n int) {
	t.change()
	if n < 0 {
		panic(fmt.Sprintf("table: Grow by %d records", n))
	}
	if n > 0 {
		if n > math.MaxInt-t.rows.n {
			t.rows.tooMany(n)
		}
		t.grow(t.rows.n + n)
		t.index.reserve(t.rows.n + n)
	}
}

// Trim frees the room that Len does not need, and returns how many bytes it gives back to the Go
// heap. Allocated becomes the power of two to which Len records would have grown it, or 0 if the
// table is empty. The index of the keys shrinks as well; of a map the number of bytes is an
// estimate.
//
// Trim is O(n), and needs room for both copies of a column at once. Every Index and View stays
// valid. References stay safe, but point to memory that the table has left.
func (t *Table[K, R]) Trim() int64 {
	t.change()
	pages := t.Pages()
	t.rows.trim()
	t.attachKeys()
	return int64(pages-t.Pages())*pageBytes + t.index.trim()
}

// grow makes room for n records, those in the table included. If it panics, nothing has changed.
func (t *Table[K, R]) grow(n int) {
	if n > t.rows.allocated {
		t.rows.grow(n)
		t.attachKeys()
	}
}

// attachKeys makes t.keys the elements of the column of keys, which has moved.
func (t *Table[K, R]) attachKeys() { t.keys = elements[K](&t.rows.key, t.rows.allocated)[:t.rows.n] }

// change panics if the table must not be changed now. Each method that changes it calls change first.
func (t *Table[K, R]) change() {
	if t.index == nil {
		panic(zeroTable)
	}
	if t.calling != "" {
		panic(fmt.Sprintf(changed, t.calling))
	}
}
