package pool

import (
	"io"
	"reflect"
	"unsafe"

	"coatcheck/shard"
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
	pl, err := opts.check()
	if err != nil {
		return nil, err
	}
	pl.shift = shift
	return pl.restore(r)
}

// Unused returns how many slots have memory and were never handed to a shard.
func Unused[T any](p *Pool[T]) int { return int(p.arena.Table.Unused()) }

// Waiting returns how many removed slots wait, without a look at the others.
func Waiting[T any](p *Pool[T]) int { return p.arena.Waiting() }

// Kept returns how many slots the Worker's arrays point to, in and beyond its reach.
func Kept[T any](w *Worker[T]) (n int) {
	for _, name := range []string{"ready", "bag"} {
		list := reflect.ValueOf(&w.slots).Elem().FieldByName(name)
		list = list.Slice(0, list.Cap())
		for i := range list.Len() {
			if !list.Index(i).FieldByName("slot").IsNil() {
				n++
			}
		}
	}
	return n
}

// slot returns slot i.
func (p *Pool[T]) slot(i uint32) *shard.Slot[T] { return shard.At[T](p.arena.Table.Pages(), i) }

// RecordBytes is what remembering adds to a pool and to what is opened.
const RecordBytes = unsafe.Sizeof(records{}) + unsafe.Sizeof(mark{})

// EachCalls is how many calls of f Each makes under one pin.
const EachCalls = eachCalls
