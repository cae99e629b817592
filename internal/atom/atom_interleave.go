//go:build interleave

// Package atom has the types of all words that goroutines share. In builds that explore
// schedules they have the sizes and methods of those in sync/atomic, and announce each access
// to package interleave. That may then switch to another virtual thread. On other goroutines
// the access is plain.
package atom

import (
	"sync"
	"unsafe"

	"coatcheck/internal/check/interleave"
)

// What hooked.go announces.
const (
	load           = interleave.Load
	store          = interleave.Store
	add            = interleave.Add
	swap           = interleave.Swap
	compareAndSwap = interleave.CompareAndSwap
	and            = interleave.And
	or             = interleave.Or
)

func before(op interleave.Op, w unsafe.Pointer, a, b uint64) { interleave.Before(op, w, a, b) }
func after(result uint64)                                    { interleave.After(result) }
func forwarded(w unsafe.Pointer) (uint64, bool)              { return interleave.Forwarded(w) }
func numberOf(p unsafe.Pointer) uint64                       { return interleave.Number(p) }

// StoreRelease stores v in w through the virtual thread's store buffer.
func StoreRelease(w *Uint64, v uint64) {
	if !interleave.StoreRelease(unsafe.Pointer(w), v) {
		w.w.Store(v)
	}
}

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
