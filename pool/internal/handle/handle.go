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

// A restored structure begins a new line of handles, as a restored pool does.
const (
	LeastJump = shard.LeastSkip
	JumpShare = shard.SkipShare
)

// Origins tells with which generation each slot begins.
type Origins = slots.Origins

// OriginsOf returns the Origins that a code stands for.
func OriginsOf(code uint32) Origins { return slots.OriginsOf(code) }

// IsOrigin reports whether a code stands for Origins.
func IsOrigin(code uint32) bool { return slots.IsOrigin(code) }

// DrawOrigin makes a code from a random number.
func DrawOrigin(number uint32) uint32 { return slots.DrawOrigin(number) }

// Make returns the handle of a slot with this index, of its life with this generation.
func Make[T any](index, generation uint32) pool.Handle[T] {
	return pool.Handle[T](slots.Pack(generation, index))
}

// Inline calls what a handle's methods and Make call. If a package names it, the packages that instantiate its
// generic code can inline these bodies (see package atom).
func Inline(h uint64) bool {
	return slots.Pack(slots.Generation(h), slots.Low(h)) == h
}
