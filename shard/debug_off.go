//go:build !coatcheck_debug || interleave

package shard

const poisons = false // see debug_on.go

func (a *Arena[T]) fill(*Slot[T]) {}
