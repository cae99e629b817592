// Package peer adapts the pool, and what programs use in its place, to one interface.
//
// A [Peer] opens a [Store]. Each goroutine uses it through a [Session] of its own, and
// keeps the names of its values in [Names]: a slice of the peer's own type of name, be it
// handles, keys or pointers, so that no peer pays for a conversion.
//
// The loops of a Session are timed. loops.go has them once, and the compiler makes a copy
// for each contestant.
//
// To add a contestant, copy the most similar file, name the contestant in all.go, and enter in
// probe_test.go which misuse it refuses. Run go test ./peer, then go run . -quick -only 'impl=name/'
// in bench, and then the same without -quick. Keep it only if it is the best of its class in some row.
package peer

import "coatcheck/bench/suite"

// Value is a stored value: an identity, by which every look-up is checked, and the rest.
type Value[R any] struct {
	ID   uint64
	Rest R
}

// The rests of values of 16, 64 and 256 bytes, without pointers and with.
type (
	Rest16  = [1]uint64
	Rest64  = [7]uint64
	Rest256 = [31]uint64

	Refs16 struct{ To [1]*uint64 }
	Refs64 struct {
		To    [3]*uint64
		Plain [4]uint64
	}
	Refs256 struct {
		To    [8]*uint64
		Plain [23]uint64
	}
)

// Config describes the use of a store. A peer that can be sized in advance is.
type Config[R any] struct {
	Rest     R    // of every value
	Live     int  // the most values that will be live at once
	Sessions int  // how many goroutines will use it
	Grow     bool // start empty, although Live is known
}

// About describes a peer.
type About struct {
	Name   string     // impl= in names of benchmarks
	Role   suite.Role // TestRolesFollowMisuse finds out whether it is right
	Alone  bool       // for one goroutine only
	Keys   bool       // names are words: they can be in shared memory, and a Session has Mix
	Reads  bool       // only its look-ups differ from those of another peer
	Writes bool       // only its insertions and removals do
}

// Peer is one contestant.
type Peer[R any] struct {
	About
	Open func(Config[R]) Store
}

// Store is an open set of values. All is nil if the peer cannot loop.
type Store struct {
	Session func() Session
	All     func() (n int, sum uint64) // loops over the values
}

// Len returns the number of live values, or -1 if the peer does not know.
func (s Store) Len() int {
	if s.All == nil {
		return -1
	}
	n, _ := s.All()
	return n
}

// Names holds the names of a session's values, in the peer's own type.
type Names interface{ Len() int }

// Session is one goroutine's access to a Store. Its methods take the places of names in
// ns. Its loops add each identity that they read to sum, for the workload to check.
type Session interface {
	Names(n int) Names // n zero names

	Put(ns Names, i int, id uint64)            // stores a value and its name in place i
	Look(ns Names, i int) (id uint64, ok bool) // looks up the value of place i
	Drop(ns Names, i int) bool                 // removes it and leaves its name

	Pairs(n int, id uint64) (failed int)                      // stores and removes, n times
	Fill(ns Names, id uint64)                                 // stores a value for each place, id and up
	Empty(ns Names) (sum uint64, failed int)                  // looks each up and removes it
	Replace(ns Names, picks []uint32, id uint64) (failed int) // removes the value of a place, stores another, for each pick
	Read(ns Names, picks []uint32) (sum uint64)               // looks up the value of each pick

	// Mix does an operation for each element of ops: it looks up the value in the place
	// op>>1 of shared, or replaces it if bit 0 is set. All sessions read and write shared
	// at once: a name whose value another session has removed is stale and must be refused.
	Mix(shared Names, ops []uint32, id uint64) (failed int)

	Close()
}
