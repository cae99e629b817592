//go:build simulate

// Package atom has the types of all words that goroutines share. In simulations they have
// the sizes and methods of those in sync/atomic, and announce each access to package
// simulate. That charges the running virtual processor and may switch to another. Outside of
// a run the access is plain.
package atom

import (
	"sync/atomic"
	"unsafe"

	"coatcheck/internal/simulate"
)

type (
	Uint32         struct{ w atomic.Uint32 }
	Uint64         struct{ w atomic.Uint64 }
	Int64          struct{ w atomic.Int64 }
	Pointer[T any] struct{ w atomic.Pointer[T] }
	Mutex          = simulate.Mutex
)

func loads[T any](w *T)  { simulate.Access(simulate.Load, unsafe.Pointer(w)) }
func locked[T any](w *T) { simulate.Access(simulate.Locked, unsafe.Pointer(w)) }

func (w *Uint32) Load() uint32                      { loads(w); return w.w.Load() }
func (w *Uint32) Store(v uint32)                    { locked(w); w.w.Store(v) }
func (w *Uint32) Add(d uint32) uint32               { locked(w); return w.w.Add(d) }
func (w *Uint32) Swap(v uint32) uint32              { locked(w); return w.w.Swap(v) }
func (w *Uint32) CompareAndSwap(old, v uint32) bool { locked(w); return w.w.CompareAndSwap(old, v) }
func (w *Uint32) And(mask uint32) uint32            { locked(w); return w.w.And(mask) }
func (w *Uint32) Or(mask uint32) uint32             { locked(w); return w.w.Or(mask) }

func (w *Uint64) Load() uint64                      { loads(w); return w.w.Load() }
func (w *Uint64) Store(v uint64)                    { locked(w); w.w.Store(v) }
func (w *Uint64) Add(d uint64) uint64               { locked(w); return w.w.Add(d) }
func (w *Uint64) Swap(v uint64) uint64              { locked(w); return w.w.Swap(v) }
func (w *Uint64) CompareAndSwap(old, v uint64) bool { locked(w); return w.w.CompareAndSwap(old, v) }
func (w *Uint64) And(mask uint64) uint64            { locked(w); return w.w.And(mask) }
func (w *Uint64) Or(mask uint64) uint64             { locked(w); return w.w.Or(mask) }

func (w *Int64) Load() int64                      { loads(w); return w.w.Load() }
func (w *Int64) Store(v int64)                    { locked(w); w.w.Store(v) }
func (w *Int64) Add(d int64) int64                { locked(w); return w.w.Add(d) }
func (w *Int64) Swap(v int64) int64               { locked(w); return w.w.Swap(v) }
func (w *Int64) CompareAndSwap(old, v int64) bool { locked(w); return w.w.CompareAndSwap(old, v) }

func (w *Pointer[T]) Load() *T                      { loads(w); return w.w.Load() }
func (w *Pointer[T]) Store(v *T)                    { locked(w); w.w.Store(v) }
func (w *Pointer[T]) Swap(v *T) *T                  { locked(w); return w.w.Swap(v) }
func (w *Pointer[T]) CompareAndSwap(old, v *T) bool { locked(w); return w.w.CompareAndSwap(old, v) }

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

// The types have the sizes of the plain ones, since structs are padded by these.
var (
	_ [4]byte                         = [unsafe.Sizeof(Uint32{})]byte{}
	_ [8]byte                         = [unsafe.Sizeof(Uint64{})]byte{}
	_ [8]byte                         = [unsafe.Sizeof(Int64{})]byte{}
	_ [unsafe.Sizeof(uintptr(0))]byte = [unsafe.Sizeof(Pointer[int]{})]byte{}
	_ [8]byte                         = [unsafe.Sizeof(Mutex{})]byte{}
)
