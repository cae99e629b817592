//go:build !interleave

// Package atom has the types of all words that goroutines share.
//
// Every word of the protocol (a slot's word, the heads of freelist and limbo, epochs, pin
// cells, locks) has a type of this package. In a normal build the types are
// aliases of those in sync/atomic, so they cost nothing: the compiler emits the same
// instructions. A build that explores schedules (the tag interleave) has hooked types
// instead, and so sees every access.
//
// The 64-bit types are those of sync/atomic, which align themselves to 8 bytes within
// structs on 32-bit platforms. A plain uint64 does not, and a compare-and-swap of a
// misaligned word panics.
package atom

import (
	"sync"
	"sync/atomic"
)

type (
	Uint32         = atomic.Uint32
	Uint64         = atomic.Uint64
	Int64          = atomic.Int64
	Pointer[T any] = atomic.Pointer[T]
	Mutex          = sync.Mutex
)
