//go:build !interleave && !simulate

// Package atom is the one way to the words that goroutines share.
//
// Every word of the protocol (a slot's word, the heads of freelist and limbo,
// epoch, frontier, pin cells, tokens) has a type of this package. In a normal
// build the types are aliases of those in sync/atomic, so that way costs
// nothing: the compiler sees the same types and emits the same instructions. A
// build that explores schedules (the tag interleave) puts hooked types in their
// place and then sees every access, because there is no other way in.
//
// The 64-bit types come from sync/atomic and not from a wrapper around a plain
// uint64, because they lie inside larger structs: sync/atomic's align
// themselves to 8 bytes on 32-bit platforms, a plain uint64 does not, and a
// compare-and-swap of a misaligned word panics there.
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
