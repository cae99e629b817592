//go:build !simulate

package atom

// Plain accesses to values, and work on none, cost what they cost. Only a simulation has
// to be told (see atom_simulate.go); here each of these is nothing.

// Charges says whether what is said here counts.
const Charges = false

// PlainRead says that *v is read.
func PlainRead[T any](v *T) {}

// PlainWrite says that it is written.
func PlainWrite[T any](v *T) {}

// Allocate says that so many bytes are allocated.
func Allocate(bytes uintptr) {}

// Work says that something takes so many nanoseconds.
func Work(nanoseconds float64) {}
