// Package handle makes handles for a structure that issues its own, to slots that belong
// to no pool. They look like a pool's, whose format only package shard knows.
package handle

import (
	"coatcheck/pool"
	"coatcheck/shard"
)

// Last is the last live generation.
const Last = shard.LastGeneration

// Make returns the handle of a slot that is live with generation.
func Make[T any](index, generation uint32) pool.Handle[T] {
	return pool.Handle[T](shard.Pack(generation, index))
}

// Next returns the handle of the slot's next life after h, whose generation must be below
// Last.
func Next[T any](h pool.Handle[T]) pool.Handle[T] {
	return pool.Handle[T](shard.Reborn(uint64(h)))
}

// Inline calls what a handle's methods and the functions above call. A package that names
// it makes these bodies available for inlining to packages that instantiate its generic
// code (see package atom).
func Inline(h uint64) bool {
	return shard.Pack(shard.Generation(h), shard.Low(h)) == shard.Reborn(h)
}
