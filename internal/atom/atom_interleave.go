//go:build interleave

// Package atom has the types of all words that goroutines share. In builds that explore
// schedules they have the sizes of those in sync/atomic, and of their methods those that the
// product calls. They announce each access to package interleave, which may then switch to
// another virtual thread. On other goroutines the access is plain.
package atom

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"coatcheck/internal/check/interleave"
)

// Uint32, Uint64 and Int64 are the types of sync/atomic, hooked.
type (
	Uint32 = integer[uint32, atomic.Uint32, *atomic.Uint32]
	Uint64 = integer[uint64, atomic.Uint64, *atomic.Uint64]
	Int64  = integer[int64, atomic.Int64, *atomic.Int64]
)

// word is a pointer to a type of sync/atomic for integers of type T.
type word[T, A any] interface {
	*A
	Load() T
	Store(v T)
	Add(d T) T
	Swap(v T) T
	CompareAndSwap(old, v T) bool
	And(mask T) T
	Or(mask T) T
}

type integer[T uint32 | uint64 | int64, A any, P word[T, A]] struct{ w A }

// Load returns the value that the virtual thread's own buffer has for w, or else w's.
func (w *integer[T, A, P]) Load() T {
	interleave.Before(interleave.Load, unsafe.Pointer(w), 0, 0)
	if v, own := interleave.Forwarded(unsafe.Pointer(w)); own {
		return returned(T(v))
	}
	return returned(P(&w.w).Load())
}

// Store stores v.
func (w *integer[T, A, P]) Store(v T) {
	interleave.Before(interleave.Store, unsafe.Pointer(w), uint64(v), 0)
	P(&w.w).Store(v)
}

// Add adds d and returns the new value.
func (w *integer[T, A, P]) Add(d T) T {
	interleave.Before(interleave.Add, unsafe.Pointer(w), uint64(d), 0)
	return returned(P(&w.w).Add(d))
}

// Swap stores v and returns the old value.
func (w *integer[T, A, P]) Swap(v T) T {
	interleave.Before(interleave.Swap, unsafe.Pointer(w), uint64(v), 0)
	return returned(P(&w.w).Swap(v))
}

// CompareAndSwap stores v if the value is old, and reports whether it was.
func (w *integer[T, A, P]) CompareAndSwap(old, v T) bool {
	interleave.Before(interleave.CompareAndSwap, unsafe.Pointer(w), uint64(old), uint64(v))
	return swapped(P(&w.w).CompareAndSwap(old, v))
}

// And keeps only the bits of mask and returns the old value.
func (w *integer[T, A, P]) And(mask T) T {
	interleave.Before(interleave.And, unsafe.Pointer(w), uint64(mask), 0)
	return returned(P(&w.w).And(mask))
}

// Or sets the bits of mask and returns the old value.
func (w *integer[T, A, P]) Or(mask T) T {
	interleave.Before(interleave.Or, unsafe.Pointer(w), uint64(mask), 0)
	return returned(P(&w.w).Or(mask))
}

// Pointer is atomic.Pointer, hooked.
type Pointer[T any] struct{ w atomic.Pointer[T] }

// Load returns the pointer.
func (w *Pointer[T]) Load() *T {
	interleave.Before(interleave.Load, unsafe.Pointer(w), 0, 0)
	v := w.w.Load()
	interleave.After(number(v))
	return v
}

// Store stores v.
func (w *Pointer[T]) Store(v *T) {
	interleave.Before(interleave.Store, unsafe.Pointer(w), number(v), 0)
	w.w.Store(v)
}

// CompareAndSwap stores v if the pointer is old, and reports whether it was.
func (w *Pointer[T]) CompareAndSwap(old, v *T) bool {
	interleave.Before(interleave.CompareAndSwap, unsafe.Pointer(w), number(old), number(v))
	return swapped(w.w.CompareAndSwap(old, v))
}

// number returns a pointer's number for the record of a run.
func number[T any](p *T) uint64 { return interleave.Number(unsafe.Pointer(p)) }

// returned notes the result of an access.
func returned[T uint32 | uint64 | int64](v T) T {
	interleave.After(uint64(v))
	return v
}

// swapped notes whether a compare-and-swap succeeded.
func swapped(ok bool) bool {
	if ok {
		interleave.After(1)
	} else {
		interleave.After(0)
	}
	return ok
}

// StoreRelease stores v in w through the virtual thread's store buffer, and returns v.
func StoreRelease(v uint64, w *Uint64) uint64 {
	if !interleave.StoreRelease(unsafe.Pointer(w), v) {
		w.w.Store(v)
	}
	return v
}

// StoreLast is StoreRelease.
func StoreLast(v uint64, w *Uint64) { StoreRelease(v, w) }

// Mutex is sync.Mutex, hooked. Virtual threads and goroutines do not exclude each other;
// they never run at the same time.
type Mutex struct{ m sync.Mutex }

// Lock locks m. A virtual thread waits by switching to another.
func (m *Mutex) Lock() {
	if !interleave.LockMutex(unsafe.Pointer(m)) {
		m.m.Lock()
	}
}

// TryLock locks m if it is unlocked, and reports whether it did.
func (m *Mutex) TryLock() bool {
	if locked, virtual := interleave.TryLockMutex(unsafe.Pointer(m)); virtual {
		return locked
	}
	return m.m.TryLock()
}

// Unlock unlocks m.
func (m *Mutex) Unlock() {
	if !interleave.UnlockMutex(unsafe.Pointer(m)) {
		m.m.Unlock()
	}
}

// The words have the sizes of the plain ones, since structs are padded by these.
var (
	_ [4]byte                         = [unsafe.Sizeof(Uint32{})]byte{}
	_ [8]byte                         = [unsafe.Sizeof(Uint64{})]byte{}
	_ [8]byte                         = [unsafe.Sizeof(Int64{})]byte{}
	_ [unsafe.Sizeof(uintptr(0))]byte = [unsafe.Sizeof(Pointer[int]{})]byte{}
	_ [8]byte                         = [unsafe.Sizeof(Mutex{})]byte{}
)

// CopiesWithoutPin is set by each scenario, so that both forms of a look-up are explored.
var CopiesWithoutPin bool
