package cgohandle

// Handle names a Go value outside Go. It is a number without a pointer in it, and may be
// copied, compared, converted to uintptr_t and back, and kept for as long as one likes.
// The zero Handle is never live.
//
// All Handles of a program are in one table. They may be used by any number of
// goroutines and threads.
type Handle uintptr

// handles is the table of all Handles. It takes 4 KiB a processor in a program that has
// none, so that Value need not look whether it is there.
var handles = NewTable[any]()

// New returns a handle for v, which is live until Delete. It panics if the table is
// full: on 64-bit platforms at 2^32 − 1024 handles, on others see the package.
func New(v any) Handle { return Handle(handles.New(v)) }

// Value returns the value that h names. It panics if h is not live.
func (h Handle) Value() any { return handles.Value(uintptr(h)) }

// Lookup returns the value that h names, and false if h is not live: deleted, zero, or
// never a handle.
func (h Handle) Lookup() (any, bool) { return handles.Lookup(uintptr(h)) }

// Delete ends the life of h. From then on h is refused, for ever. It panics if h is not
// live, so that of two Deletes one panics, always.
//
// Somebody else may be in a call with the value at this moment, having looked it up
// before: that is theirs to keep apart, as with the original.
func (h Handle) Delete() { handles.Delete(uintptr(h)) }
