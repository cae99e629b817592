package cgohandle

// Handle names a Go value outside Go. It is a number without a pointer in it. It may be
// copied, compared, converted to uintptr_t and back, and kept for any time. The zero
// Handle is never live.
//
// All Handles of a program are in one table. They may be used by any number of goroutines
// and threads.
type Handle uintptr

// handles is the table of all Handles. It takes 4 KiB a processor even in a program
// without Handles, so that Value need not check whether it exists.
var handles = NewTable[any]()

// New returns a handle for v, which is live until Delete. It panics if the table is full:
// on 64-bit platforms at 2^32 − 1024 handles; for others see the package documentation.
func New(v any) Handle { return Handle(handles.New(v)) }

// NewHandle is New by the name that it has in runtime/cgo. So a program that uses that package
// need only import this one in its place:
//
//	import cgo "coatcheck/pool/cgohandle" // was "runtime/cgo"
func NewHandle(v any) Handle { return New(v) }

// Trim gives the memory of unused slots of the table of all Handles back to the Go heap, as
// [Table.Trim] does, and returns how many bytes.
func Trim() int64 { return handles.Trim() }

// Value returns the value that h names. It panics if h is not live.
func (h Handle) Value() any { return handles.Value(uintptr(h)) }

// Lookup returns the value that h names, and false if h is not live: deleted, zero, or
// never a handle.
func (h Handle) Lookup() (any, bool) { return handles.Lookup(uintptr(h)) }

// Delete ends the life of h. From then on h is refused. It panics if h is not
// live, so of two Deletes one always panics.
//
// Another goroutine may be using the value at this moment, having looked it up before.
// The program must prevent or allow that, as with runtime/cgo.
func (h Handle) Delete() { handles.Delete(uintptr(h)) }
