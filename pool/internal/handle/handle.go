// Package handle makes handles for a structure that issues its own, to slots that belong
// to no pool. They look like a pool's, whose format only package shard knows.
package handle

import (
	"coatcheck/pool"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// Last is the last live generation.
const Last = slots.LastGeneration

// A restored structure begins a new line of handles as a restored pool does.
const (
	LeastJump = shard.LeastSkip
	JumpShare = shard.SkipShare
)

// Origins says with which generation each slot begins, as a pool's do; OriginsOf makes them of a code, IsOrigin
// reports whether there are some, and DrawOrigin makes a code of a random number.
type Origins = slots.Origins

func OriginsOf(code uint32) Origins { return slots.OriginsOf(code) }

func IsOrigin(code uint32) bool { return slots.IsOrigin(code) }

func DrawOrigin(number uint32) uint32 { return slots.DrawOrigin(number) }

// Make returns the handle of a slot that is live with generation.
func Make[T any](index, generation uint32) pool.Handle[T] {
	return pool.Handle[T](slots.Pack(generation, index))
}

// Inline calls what a handle's methods and Make call. A package that names
// it makes these bodies available for inlining to packages that instantiate its generic
// code (see package atom).
func Inline(h uint64) bool {
	return slots.Pack(slots.Generation(h), slots.Low(h)) == h
}
