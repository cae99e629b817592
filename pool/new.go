package pool

import (
	"reflect"

	"coatcheck/shard"
)

// New returns an empty pool. Nil options are the defaults. Bad options are
// answered with an error that says which one and why.
//
// A pool needs no closing, and starts no goroutine. Its first page is allocated
// by the first insertion: 64 KiB or a little more, less if a Capacity is
// smaller.
func New[T any](opts *Options[T]) (*Pool[T], error) {
	pl, err := opts.check()
	if err != nil {
		return nil, err
	}
	return pl.build(), nil
}

// build makes the pool. Tests change a plan before, for pages of two slots.
func (pl plan[T]) build() *Pool[T] {
	p := pl.frame()
	p.arena.Init(pl.config(p))
	pl.complete(p)
	return p
}

// frame makes a pool whose arena is yet to be made.
func (pl plan[T]) frame() *Pool[T] {
	p := &Pool[T]{dropped: dropReservation[T]}
	if copiesWithoutPin {
		p.domain.InitFull(pl.guards) // nothing else makes brief pins
	} else {
		p.domain.Init(pl.guards)
	}
	p.record()
	return p
}

// config says what the arena is to be.
func (pl plan[T]) config(p *Pool[T]) shard.Config[T] {
	return shard.Config[T]{
		Domain:   clock(&p.domain),
		Slots:    pl.slots,
		Shift:    pl.shift,
		Shards:   pl.Shards,
		Capacity: uint64(pl.Capacity),
		MaxLimbo: int64(pl.MaxLimbo),
		First:    pl.Origin,
		FIFO:     pl.Reuse == FIFO,
		MinFree:  pl.MinFree,
		AutoTrim: pl.AutoTrim,
		Fixed:    pl.Preallocate,
		Reset:    pl.Reset,
		Pointers: hasPointers(reflect.TypeFor[T]()),
	}
}

// complete is the last step, when the arena is made.
func (pl plan[T]) complete(p *Pool[T]) {
	if pl.Preallocate {
		p.loops.fill()
	}
	p.watch() // last: the sentinel uses the pool from another goroutine
}

// Must is New that panics with the error.
func Must[T any](opts *Options[T]) *Pool[T] {
	p, err := New(opts)
	if err != nil {
		panic(err)
	}
	return p
}

// hasPointers reports whether values of type t keep others alive.
func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return false
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	}
	return true
}
