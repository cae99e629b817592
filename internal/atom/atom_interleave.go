//go:build interleave

// Package atom has the types of all words that goroutines share. In builds that explore
// schedules they have the sizes and methods of those in sync/atomic, and announce each access
// to package interleave. That may then switch to another virtual thread. On other goroutines
// the access is plain.
package atom

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"coatcheck/internal/check/interleave"
)

// Uint32 is atomic.Uint32, hooked.
type Uint32 struct{ w atomic.Uint32 }

func (w *Uint32) Load() uint32 {
	interleave.Before(interleave.Load, unsafe.Pointer(w), 0, 0)
	v := w.w.Load()
	interleave.After(uint64(v))
	return v
}

func (w *Uint32) Store(v uint32) {
	interleave.Before(interleave.Store, unsafe.Pointer(w), uint64(v), 0)
	w.w.Store(v)
}

func (w *Uint32) Add(d uint32) uint32 {
	interleave.Before(interleave.Add, unsafe.Pointer(w), uint64(d), 0)
	v := w.w.Add(d)
	interleave.After(uint64(v))
	return v
}

func (w *Uint32) Swap(v uint32) uint32 {
	interleave.Before(interleave.Swap, unsafe.Pointer(w), uint64(v), 0)
	old := w.w.Swap(v)
	interleave.After(uint64(old))
	return old
}

func (w *Uint32) CompareAndSwap(old, v uint32) bool {
	interleave.Before(interleave.CompareAndSwap, unsafe.Pointer(w), uint64(old), uint64(v))
	return after(w.w.CompareAndSwap(old, v))
}

func (w *Uint32) And(mask uint32) uint32 {
	interleave.Before(interleave.And, unsafe.Pointer(w), uint64(mask), 0)
	old := w.w.And(mask)
	interleave.After(uint64(old))
	return old
}

func (w *Uint32) Or(mask uint32) uint32 {
	interleave.Before(interleave.Or, unsafe.Pointer(w), uint64(mask), 0)
	old := w.w.Or(mask)
	interleave.After(uint64(old))
	return old
}

// Uint64 is atomic.Uint64, hooked.
type Uint64 struct{ w atomic.Uint64 }

func (w *Uint64) Load() uint64 {
	interleave.Before(interleave.Load, unsafe.Pointer(w), 0, 0)
	v, own := interleave.Forwarded(unsafe.Pointer(w))
	if !own {
		v = w.w.Load()
	}
	interleave.After(v)
	return v
}

func (w *Uint64) Store(v uint64) {
	interleave.Before(interleave.Store, unsafe.Pointer(w), v, 0)
	w.w.Store(v)
}

// StoreRelease stores v in w through the virtual thread's store buffer.
func StoreRelease(w *Uint64, v uint64) {
	if !interleave.StoreRelease(unsafe.Pointer(w), v) {
		w.w.Store(v)
	}
}

func (w *Uint64) Add(d uint64) uint64 {
	interleave.Before(interleave.Add, unsafe.Pointer(w), d, 0)
	v := w.w.Add(d)
	interleave.After(v)
	return v
}

func (w *Uint64) Swap(v uint64) uint64 {
	interleave.Before(interleave.Swap, unsafe.Pointer(w), v, 0)
	old := w.w.Swap(v)
	interleave.After(old)
	return old
}

func (w *Uint64) CompareAndSwap(old, v uint64) bool {
	interleave.Before(interleave.CompareAndSwap, unsafe.Pointer(w), old, v)
	return after(w.w.CompareAndSwap(old, v))
}

func (w *Uint64) And(mask uint64) uint64 {
	interleave.Before(interleave.And, unsafe.Pointer(w), mask, 0)
	old := w.w.And(mask)
	interleave.After(old)
	return old
}

func (w *Uint64) Or(mask uint64) uint64 {
	interleave.Before(interleave.Or, unsafe.Pointer(w), mask, 0)
	old := w.w.Or(mask)
	interleave.After(old)
	return old
}

// Int64 is atomic.Int64, hooked.
type Int64 struct{ w atomic.Int64 }

func (w *Int64) Load() int64 {
	interleave.Before(interleave.Load, unsafe.Pointer(w), 0, 0)
	v := w.w.Load()
	interleave.After(uint64(v))
	return v
}

func (w *Int64) Store(v int64) {
	interleave.Before(interleave.Store, unsafe.Pointer(w), uint64(v), 0)
	w.w.Store(v)
}

func (w *Int64) Add(d int64) int64 {
	interleave.Before(interleave.Add, unsafe.Pointer(w), uint64(d), 0)
	v := w.w.Add(d)
	interleave.After(uint64(v))
	return v
}

func (w *Int64) Swap(v int64) int64 {
	interleave.Before(interleave.Swap, unsafe.Pointer(w), uint64(v), 0)
	old := w.w.Swap(v)
	interleave.After(uint64(old))
	return old
}

func (w *Int64) CompareAndSwap(old, v int64) bool {
	interleave.Before(interleave.CompareAndSwap, unsafe.Pointer(w), uint64(old), uint64(v))
	return after(w.w.CompareAndSwap(old, v))
}

// Pointer is atomic.Pointer, hooked.
type Pointer[T any] struct{ w atomic.Pointer[T] }

func (w *Pointer[T]) Load() *T {
	interleave.Before(interleave.Load, unsafe.Pointer(w), 0, 0)
	v := w.w.Load()
	interleave.After(number(v))
	return v
}

func (w *Pointer[T]) Store(v *T) {
	interleave.Before(interleave.Store, unsafe.Pointer(w), number(v), 0)
	w.w.Store(v)
}

func (w *Pointer[T]) Swap(v *T) *T {
	interleave.Before(interleave.Swap, unsafe.Pointer(w), number(v), 0)
	old := w.w.Swap(v)
	interleave.After(number(old))
	return old
}

func (w *Pointer[T]) CompareAndSwap(old, v *T) bool {
	interleave.Before(interleave.CompareAndSwap, unsafe.Pointer(w), number(old), number(v))
	return after(w.w.CompareAndSwap(old, v))
}

// Mutex is sync.Mutex, hooked. Virtual threads and goroutines do not exclude each other;
// they never run at the same time.
type Mutex struct{ m sync.Mutex }

func (m *Mutex) Lock() {
	if !interleave.LockMutex(unsafe.Pointer(m)) {
		m.m.Lock()
	}
}

func (m *Mutex) TryLock() bool {
	if locked, virtual := interleave.TryLockMutex(unsafe.Pointer(m)); virtual {
		return locked
	}
	return m.m.TryLock()
}

func (m *Mutex) Unlock() {
	if !interleave.UnlockMutex(unsafe.Pointer(m)) {
		m.m.Unlock()
	}
}

// number returns a pointer's number for the record of a run.
func number[T any](p *T) uint64 { return interleave.Number(unsafe.Pointer(p)) }

func after(ok bool) bool {
	if ok {
		interleave.After(1)
	} else {
		interleave.After(0)
	}
	return ok
}

// The hooked types have the sizes of the plain ones, since structs are padded by these.
var (
	_ [4]byte                           = [unsafe.Sizeof(Uint32{})]byte{}
	_ [8]byte                           = [unsafe.Sizeof(Uint64{})]byte{}
	_ [8]byte                           = [unsafe.Sizeof(Int64{})]byte{}
	_ [unsafe.Sizeof(uintptr(0))]byte   = [unsafe.Sizeof(Pointer[int]{})]byte{}
	_ [unsafe.Sizeof(sync.Mutex{})]byte = [unsafe.Sizeof(Mutex{})]byte{}
)
