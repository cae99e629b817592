//go:build simulate

// Package atom has the types of all words that goroutines share. In simulations they have
// the sizes and methods of those in sync/atomic, and announce each access to package
// simulate. That charges the running virtual processor and may switch to another. Outside of
// a run the access is plain.
package atom

import (
	"unsafe"

	"coatcheck/internal/simulate"
)

// Mutex is a mutex whose waiting goroutines take simulated time.
type Mutex = simulate.Mutex

// What hooked.go announces. All but loads are locked instructions.
const (
	load           = simulate.Load
	store          = simulate.Locked
	add            = simulate.Locked
	swap           = simulate.Locked
	compareAndSwap = simulate.Locked
	and            = simulate.Locked
	or             = simulate.Locked
)

func before(kind simulate.Kind, w unsafe.Pointer, _, _ uint64) { simulate.Access(kind, w) }
func after(uint64)                                             {}         // results cost nothing
func forwarded(unsafe.Pointer) (v uint64, own bool)            { return } // a store is seen at once
func numberOf(unsafe.Pointer) uint64                           { return 0 }

// StoreRelease stores v in w without waiting for the line.
func StoreRelease(w *Uint64, v uint64) {
	simulate.Access(simulate.Store, unsafe.Pointer(w))
	w.w.Store(v)
}

// Charges says whether the functions below charge the processor.
const Charges = true

// PlainRead announces a read of *v.
func PlainRead[T any](v *T) { simulate.Plain(simulate.Load, unsafe.Pointer(v), unsafe.Sizeof(*v)) }

// PlainWrite announces a write of *v.
func PlainWrite[T any](v *T) { simulate.Plain(simulate.Store, unsafe.Pointer(v), unsafe.Sizeof(*v)) }

// Allocate announces the allocation of that many bytes.
func Allocate(bytes uintptr) { simulate.Allocate(bytes) }

// Work announces other work, in nanoseconds.
func Work(nanoseconds float64) { simulate.Work(nanoseconds) }
