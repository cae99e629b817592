package pool

import (
	"unsafe"

	"coatcheck/shard"
)

// Here pointers get and lose their T (unsafe register, U9).

// value returns a pointer to the value of a slot of this pool, as shard.ValueOf does.
func (c *core) value(slot *shard.Hook) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(slot), -int(c.arena.Word))
}

// words returns handles as words, in the same array.
func words[T any](hs []Handle[T]) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.SliceData(hs)), len(hs))
}

// reservationOf returns a cell as the Reservation of a pool of T. That has the same memory: a
// cell, after an array of no elements.
func reservationOf[T any](c *cell) *Reservation[T] { return (*Reservation[T])(unsafe.Pointer(c)) }

// refOf is the same for a hold.
func refOf[T any](h *hold) *Ref[T] { return (*Ref[T])(unsafe.Pointer(h)) }
