package pool

import (
	"unsafe"

	"coatcheck/shard"
)

// Here pointers get and lose their T (unsafe register, U9).

// What has a T and what has none are of the same size.
var (
	_ [unsafe.Sizeof(Reservation[byte]{})]struct{} = [unsafe.Sizeof(cell{})]struct{}{}
	_ [unsafe.Sizeof(Ref[byte]{})]struct{}         = [unsafe.Sizeof(hold{})]struct{}{}
)

// value returns a pointer to the value of a slot of this pool, as shard.ValueOf does.
func (c *core) value(slot *shard.Hook) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(slot), -int(c.arena.Word))
}

// beside returns the slot that lies n slots behind another one, in the same page.
func (c *core) beside(slot *shard.Hook, n uint32) *shard.Hook {
	return (*shard.Hook)(unsafe.Add(unsafe.Pointer(slot), uintptr(n)*c.arena.Size))
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
