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
	sp := &p.space
	if sp.FIFO {
		sp.Reserve.Store(int64(pl.MinFree))
		sp.Table.Provide(uint64(pl.MinFree) + uint64(pl.Shards))
	}
	pl.preallocate(p)
	for i := range p.shards {
		p.shards[i].Init(sp, i, share(pl.MinFree, i, pl.Shards))
	}
	p.watch() // last: the sentinel uses the pool from another goroutine
	return p
}

// frame makes a pool that has neither slots nor shards yet.
func (pl plan[T]) frame() *Pool[T] {
	p := &Pool[T]{
		shards:   make([]shard.Shard[T], pl.Shards),
		capacity: uint64(pl.Capacity),
		maxLimbo: int64(pl.MaxLimbo),
		fixed:    pl.Preallocate,
	}
	sp := &p.space
	p.domain.Init(pl.guards)
	sp.Domain, sp.First, sp.Reset = clock(&p.domain), pl.Origin, pl.Reset
	sp.FIFO = pl.Reuse == FIFO
	sp.Exact = pl.Capacity > 0 || pl.MaxLimbo > 0
	sp.Reach = pl.reach()
	sp.Zero = hasPointers(reflect.TypeFor[T]())
	sp.Init(pl.slots, pl.shift)
	p.dropped = dropReservation[T]
	p.record()
	if pl.AutoTrim {
		sp.Reclaimed = p.autoTrim
	}
	return p
}

// reach returns how many slots an operation may have in its hands. In a bounded pool
// thirty-two operations leave half of it to others.
func (pl plan[T]) reach() uint32 {
	if pl.Capacity == 0 {
		return shard.Batch
	}
	return uint32(min(max(pl.Capacity/64, 1), shard.Batch))
}

// preallocate allocates all that there will be, if that is what the plan says.
func (pl plan[T]) preallocate(p *Pool[T]) {
	if pl.Preallocate {
		p.space.Table.Provide(pl.slots)
		p.pages().MakeCounts()
		p.loops.fill()
	}
}

// share returns the i-th of parts nearly equal parts of n.
func share(n, i, parts int) int { return n*(i+1)/parts - n*i/parts }

// Must is New that panics with the error.
func Must[T any](opts *Options[T]) *Pool[T] {
	p, err := New(opts)
	if err != nil {
		panic(err)
	}
	return p
}

// hasPointers answers whether values of type t keep others alive.
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
