//go:build !simulate

package atom

// These announce plain accesses and other work to a simulation (see atom_simulate.go).
// Otherwise they do nothing.

// Charges says whether these functions do anything.
const Charges = false

// PlainRead announces a read of *v.
func PlainRead[T any](v *T) {}

// PlainWrite announces a write of *v.
func PlainWrite[T any](v *T) {}

// Allocate announces the allocation of that many bytes.
func Allocate(bytes uintptr) {}

// Work announces other work, in nanoseconds.
func Work(nanoseconds float64) {}
