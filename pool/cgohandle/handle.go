package cgohandle

// Handle names a Go value outside Go. It is a number that contains no pointer. It may be copied,
// compared, converted to uintptr_t and back, and kept for any time. The zero Handle is never
// live.
//
// All Handles of a program are in one table. Any number of goroutines and threads may use them.
type Handle uintptr

// handles is the table of all Handles. It takes 2 KB even in a program without Handles, so that Value need not check whether it exists.
var handles = NewTable[any]()

// New returns a handle for v, which is live until Delete. It panics if the table is full: on
// 64-bit platforms at 2^32 − 1024 handles, on others as the package documentation says.
func New(v any) Handle { return Handle(handles.New(v)) }

// NewHandle is New under its name in runtime/cgo. So a program that uses that package need only
// change the import:
//
//	import cgo "coatcheck/pool/cgohandle" // was "runtime/cgo"
func NewHandle(v any) Handle { return New(v) }

// Trim gives the memory of unused slots back to the Go heap, and returns the number of bytes. It
// acts on the table of all Handles, as [Table.Trim] does on another.
func Trim() int64 { return handles.Trim() }

// Value returns the value that h names. It panics if h is not live.
func (h Handle) Value() any { return handles.Value(uintptr(h)) }

// Lookup returns the value that h names. It returns false if h is not live: deleted, zero, or
// never a handle.
func (h Handle) Lookup() (any, bool) { return handles.Lookup(uintptr(h)) }

// Delete ends the life of h. From then on h is refused. Delete panics if h is not live, so of two
// Deletes one always panics.
//
// Another goroutine may have looked up the value before and still use it. The program must
// prevent or allow that, as with runtime/cgo.
func (h Handle) Delete() { handles.Delete(uintptr(h)) }
