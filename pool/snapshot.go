package pool

import (
	"errors"

	"coatcheck/pool/internal/codec"
)

// A snapshot has a header, records and an end:
//
//	header       what T is and how its values are encoded; where generations begin
//	values       the stages of a run of slots, with the values of live ones
//	vacant       the stages of a run of slots that need no memory in the copy
//	 …           all slots that were handed out, in order
//	skips        how many lives a run of slots skips at its next removal
//	 …           runs in which any slot does, in order: the pool was restored itself
//	order        the order of reuse, of a pool that replays
//	generations  the stages of a run of slots, read a second time
//	 …           runs that have changed, and slots handed out meanwhile, in order
//	end          how many slots and values there are
//
// Zeros may come between them: a copy takes no more memory than its snapshot pays for (package snapshot,
// memory.go).
//
// Other goroutines use the pool while it is written, so a snapshot does not show one moment. A value's
// MarshalBinary runs under a pin, and must not wait for the pool.
// But no handle may name another value in the copy than it named in the original.
//
// With one look at each slot it could. Slot 5 is written as vacant. Then a goroutine inserts
// into it twice, and stores the second handle in a value that is written later. In the copy,
// that handle becomes live when slot 5 reaches its generation.
//
// Hence the second look, when all values have been written. For each handle in any of
// them, the word of its slot then has the handle's generation, or the one before, or a later
// one. The generations of runs that have changed are written again. So a slot of the copy has
// the value that was live at both looks, or is vacant beyond the second one.
// Generations only grow (I2), so a run has changed if and only if the sum of its generations
// has: the writer keeps 16 bytes a run, or a page that has no memory.
//
// Package snapshot has the form of a record and of the header. The other payloads are
//
//	values       stages as runs (how many, which) · the values of the odd ones
//	vacant       stages as runs, of as many slots as there are
//	padding      zeros; the first slot and the slots are 0
//	skips        runs (how many slots, how many lives)
//	order        a part of the order (shard/replay_order.go); the first slot is the number of the part
//	generations  stages as runs
//	end          values in all (8); the slots are all slots
//
// where counts and stages are varints. A stage is how far a slot has come since its first generation
// (shard/slots/origins.go). So slots with equally many lives make a run, wherever they began.

var (
	// ErrCorrupt means that the input is not a complete, unchanged snapshot. If the input
	// ends too early, the error wraps io.ErrUnexpectedEOF too.
	ErrCorrupt = errors.New("pool: the snapshot is corrupt")

	// ErrVersion means that this version of the package does not know the snapshot's format.
	ErrVersion = errors.New("pool: the snapshot's version is unknown")

	// ErrType means that values of the pool's type cannot be encoded without loss, or that the
	// snapshot has values of another type.
	ErrType = codec.ErrType
)
