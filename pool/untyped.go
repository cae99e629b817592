package pool

import (
	"reflect"
	"unsafe"

	"coatcheck/pool/internal/codec"
	"coatcheck/shard/slots"
)

// Here pointers get and lose their T (unsafe register, U9).

// What has a T and what has none are of the same size.
var (
	_ [unsafe.Sizeof(Reservation[byte]{})]struct{} = [unsafe.Sizeof(cell{})]struct{}{}
	_ [unsafe.Sizeof(Ref[byte]{})]struct{}         = [unsafe.Sizeof(hold{})]struct{}{}
)

// value returns a pointer to the value of a slot of this pool, as shard.ValueOf does.
func (c *core) value(slot *slots.Hook) unsafe.Pointer {
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

// converted returns that a snapshot has values of Old, of which convert makes values of New.
func converted[Old, New any](convert func(*Old) (New, error)) saved {
	return saved{reflect.TypeFor[Old](), unsafe.Sizeof(slots.Slot[Old]{}), func(values codec.Codec) codec.Codec {
		return converter[Old, New]{values, convert}
	}, true}
}

// converter reads values of Old, and makes them values of New.
type converter[Old, New any] struct {
	codec.Codec
	convert func(*Old) (New, error)
}

func (c converter[Old, New]) Decode(src []byte, v unsafe.Pointer) ([]byte, error) {
	old := new(Old)
	remaining, err := c.Codec.Decode(src, unsafe.Pointer(old))
	if err != nil {
		return nil, err
	}
	value, err := c.convert(old)
	if err != nil {
		return nil, conversionError{err}
	}
	*(*New)(v) = value
	return remaining, nil
}

// conversionError is an error of the user's function.
type conversionError struct{ error }

func (e conversionError) Unwrap() error { return e.error }
