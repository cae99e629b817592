// Package handle makes handles for a structure that issues its own, to slots that are
// no pool's. They look like a pool's, and package shard alone knows how that is.
package handle

import (
	"coatcheck/pool"
	"coatcheck/shard"
)

// Last is the last generation that lives.
const Last = shard.LastGeneration

// Make returns the handle that a slot has while it lives with generation.
func Make[T any](index, generation uint32) pool.Handle[T] {
	return pool.Handle[T](shard.Pack(generation, index))
}

// Next returns the handle of the slot's next life after that of h, whose generation
// must be below Last.
func Next[T any](h pool.Handle[T]) pool.Handle[T] {
	return pool.Handle[T](shard.Reborn(uint64(h)))
}

// Inline has inlined in it what a handle's methods and the functions above call, so
// that a package which names it hands those bodies on to those who instantiate its
// generic code (see package atom).
func Inline(h uint64) bool {
	return shard.Pack(shard.Generation(h), shard.Low(h)) == shard.Reborn(h)
}
