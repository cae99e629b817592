// Package peer puts what people would use in place of a pool behind one small
// interface, each at its best.
//
// A [Peer] makes a [Store]. Each goroutine works on it through a [Session] of its
// own, and keeps the names of its values in [Names]: a slice of whatever the peer
// names values by, handles or keys or pointers, so that none pays for the form of
// another's.
//
// The loops of a Session are what is timed. They are written once, in loops.go, as
// functions that the compiler inlines with the function literals that each session
// passes: no call through an interface or a pointer lies between a loop and the peer. A
// peer has three methods, put, look and drop, of which gen.go makes its loops.
package peer

import (
	"sync/atomic"

	"coatcheck/bench/suite"
)

// Value is what is stored: an identity, by which every look-up is checked, and the
// rest of its size.
type Value[R any] struct {
	ID   uint64
	Rest R
}

// The rests of values of 16, 64 and 256 bytes, without pointers and with.
type (
	Rest16  = [1]uint64
	Rest64  = [7]uint64
	Rest256 = [31]uint64

	Refs16 struct{ To *uint64 }
	Refs64 struct {
		To    [3]*uint64
		Plain [4]uint64
	}
	Refs256 struct {
		To    [8]*uint64
		Plain [23]uint64
	}
)

// Config is what a store is made for. A peer that can be sized in advance is.
type Config[R any] struct {
	Rest     R    // of every value
	Live     int  // the most values that will be live at once
	Sessions int  // how many goroutines will use it
	Grow     bool // start empty, although Live is known
}

// About says what a peer is and what it does with misuse. What it says of stale
// names and double removals is found out by running them (Probe), not claimed.
type About struct {
	Name  string     // impl= in names of benchmarks
	What  string     // what it is, in a few words, with its version where it has one
	Role  suite.Role // in a comparison
	Alone bool       // for one goroutine only
	Keys  bool       // names are words: they can be published in shared memory, and Session is a Mixer
}

// Peer is one contestant.
type Peer[R any] struct {
	About
	Open func(Config[R]) (Store, error)
}

// Store is one peer's set of values, open.
type Store interface {
	Session() Session
	Len() int                 // of values that are live; -1 when the peer can't tell
	All() (n int, sum uint64) // loops over the values; -1 when the peer can't
	Trim()                    // gives memory back, where the peer can be told to
	Close()
}

// Names holds the names of a session's values, in the peer's own type.
type Names interface{ Len() int }

// Session is one goroutine's way to a Store. Its verbs take a place in ns, and its
// loops return what they saw, for the workload to check: every identity that was
// read adds to sum.
type Session interface {
	Names(n int) Names // room for n names, all of nothing

	Put(ns Names, i int, id uint64)            // stores a value, names it in place i
	Look(ns Names, i int) (id uint64, ok bool) // looks the value of place i up
	Drop(ns Names, i int) bool                 // removes it, the name stays where it is

	Pairs(n int, id uint64) (failed int)                      // stores and removes, n times
	Fill(ns Names, id uint64)                                 // stores a value for each place, id and up
	Empty(ns Names) (sum uint64, failed int)                  // looks each up and removes it
	Replace(ns Names, picks []uint32, id uint64) (failed int) // removes the value of a place, stores another, for each pick
	Read(ns Names, picks []uint32) (sum uint64)               // looks the value of each pick up

	Close()
}

// Mixer is a Session whose names are words. Shared is read and written by all
// sessions: a name that another session has removed meanwhile is stale, and must be
// answered as such.
type Mixer interface {
	Publish(ns Names, shared []atomic.Uint64)
	// Mix does an operation for each element of ops: a look-up of the place ops>>1
	// of shared, or with bit 0 set, the replacement of what lies there.
	Mix(shared []atomic.Uint64, ops []uint32, id uint64) (sum uint64, stale, failed int)
}

// Pinned is a Session that also looks up under one guard for many values.
type Pinned interface {
	ReadPinned(ns Names, picks []uint32) (sum uint64)
}

// Batched is a Session that also looks up many at once.
type Batched interface {
	ReadBatch(ns Names, picks []uint32) (sum uint64)
}

// Owned is a Session that also looks up through names that know their store.
type Owned interface {
	ReadOwned(ns Names, picks []uint32) (sum uint64)
}
