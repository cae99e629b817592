//go:build cgo

package sqlite3

import (
	"sync"
	"unsafe"

	"coatcheck/pool"
)

// named is the value behind a handle. The type of its first field, a connection and what
// was registered with it, is the package's.
type named struct {
	handleVal
	by *owner
}

// owner has the handles of a connection, so that its end need not search for them.
type owner struct {
	mu   sync.Mutex
	live map[pool.Handle[named]]struct{}
}

var owners sync.Map // *SQLiteConn → *owner

// handleVals is the table of all connections. The C library needs a void*, and the
// package has it as an unsafe.Pointer, which the collector takes for an address. The
// first generation, the upper half of a handle, has its highest bit set. So on a 64-bit
// platform no handle can be an address of the process, and the collector ignores it.
var handleVals = table{pool.Must(&pool.Options[named]{Origin: 1 << 31})}

type table struct{ *pool.Pool[named] }

// Range is for the package's tests.
func (t table) Range(f func(handle, value any) bool) {
	for h, n := range t.All() {
		if !f(pointerOf(h), n.handleVal) {
			return
		}
	}
}

// pointerOf returns a handle as the package passes it to C. A conversion by
// unsafe.Pointer(uintptr(h)) would be the same word, but vet reports it.
func pointerOf(h pool.Handle[named]) unsafe.Pointer {
	if ^uintptr(0)>>32 == 0 {
		panic("a handle does not fit into 32 bits")
	}
	word := uintptr(h)
	return *(*unsafe.Pointer)(unsafe.Pointer(&word))
}

func handleOf(p unsafe.Pointer) pool.Handle[named] { return pool.Handle[named](uintptr(p)) }

// newHandle adds a value, first to the table and then to its connection's handles.
func newHandle(db *SQLiteConn, v any) unsafe.Pointer {
	o, ok := owners.Load(db)
	if !ok {
		o, _ = owners.LoadOrStore(db, &owner{live: make(map[pool.Handle[named]]struct{})})
	}
	by := o.(*owner)
	h, err := handleVals.Insert(named{handleVal{db, v}, by})
	if err != nil {
		panic(err)
	}
	by.mu.Lock()
	by.live[h] = struct{}{}
	by.mu.Unlock()
	return pointerOf(h)
}

func lookupHandleVal(handle unsafe.Pointer) handleVal {
	n, _ := handleVals.Get(handleOf(handle))
	return n.handleVal
}

func lookupHandle(handle unsafe.Pointer) any {
	n, _ := handleVals.Get(handleOf(handle))
	return n.val
}

func deleteHandle(handle unsafe.Pointer) {
	if n, ok := handleVals.Take(handleOf(handle)); ok {
		n.by.mu.Lock()
		delete(n.by.live, handleOf(handle))
		n.by.mu.Unlock()
	}
}

// deleteHandles removes the handles of a connection that ends, without a scan of the
// table.
func deleteHandles(db *SQLiteConn) {
	if o, ok := owners.LoadAndDelete(db); ok {
		by := o.(*owner)
		by.mu.Lock()
		defer by.mu.Unlock()
		for h := range by.live {
			handleVals.Remove(h)
		}
	}
}
