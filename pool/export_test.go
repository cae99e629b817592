package pool

import (
	"io"
	"unsafe"
)

// NewTiny is New with pages of 1<<shift slots, so that small tests cross every
// boundary.
func NewTiny[T any](opts *Options[T], shift uint32) (*Pool[T], error) {
	pl, err := opts.check()
	if err != nil {
		return nil, err
	}
	pl.shift = shift
	return pl.build(), nil
}

// ReadTiny is ReadFrom with pages of 1<<shift slots.
func ReadTiny[T any](r io.Reader, opts *Options[T], shift uint32) (*Pool[T], error) {
	pl, err := opts.checkCopy()
	if err != nil {
		return nil, err
	}
	pl.shift = shift
	return pl.restore(r)
}

// Unused returns how many slots have memory and were never handed to a shard.
func Unused[T any](p *Pool[T]) int { return int(p.space.Table.Unused()) }

// Waiting returns how many removed slots wait, without a look at the others.
func Waiting[T any](p *Pool[T]) int { return p.pending() }

// Kept returns how many slots the Worker's arrays point to, in and beyond its reach.
func Kept[T any](w *Worker[T]) (n int) {
	for _, list := range [][]cached[T]{w.ready[:cap(w.ready)], w.bag[:cap(w.bag)]} {
		for _, c := range list {
			if c.slot != nil {
				n++
			}
		}
	}
	return n
}

// RecordBytes is what remembering adds to a pool and to what is opened.
const RecordBytes = unsafe.Sizeof(records{}) + unsafe.Sizeof(mark{})

// EachCalls is how many calls of f Each makes under one pin.
const EachCalls = eachCalls
