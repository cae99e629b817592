package pool

import (
	"iter"

	"coatcheck/shard"
)

// Remove ends the life of the value that h names. It returns true for exactly
// one caller per handle, and false for a handle that is not live.
//
// The value stays readable to guards that are pinned now, and to Refs; the slot is
// reused, and what the value refers to is let go, when they have gone: by a later
// call, or by the garbage collector within two of its cycles. [Pool.Synchronize] lets
// go at once. What a [Worker] removes stays with it until the Worker is used further,
// flushed or closed; a pool with Options.Reset lets go by later calls only.
//
// It costs two locked instructions, and once in a while it reclaims a bounded
// number of slots, which is when Options.Reset is called.
func (p *Pool[T]) Remove(h Handle[T]) bool {
	ok := p.arena.Remove(nil, uint64(h))
	if debugging && ok {
		p.records.lives.Ended(uint64(h), removed)
	}
	return ok
}

// Take is Remove that also hands the value over: a shallow copy. Others may
// still be reading the value through guards, and the pool keeps its copy for as long
// as after Remove.
func (p *Pool[T]) Take(h Handle[T]) (v T, ok bool) {
	v, ok = p.arena.Take(nil, uint64(h))
	if debugging && ok {
		p.records.lives.Ended(uint64(h), removed)
	}
	return v, ok
}

// RemoveBatch removes every value that hs names, and returns how many it
// removed. It is a sequence of removals, each of which costs one locked
// instruction; the slots wait for their grace period together.
func (p *Pool[T]) RemoveBatch(hs []Handle[T]) int {
	p.pages()
	r := p.arena.Removals()
	defer r.End()
	for _, h := range hs {
		if r.Remove(uint64(h)) && debugging {
			p.records.lives.Ended(uint64(h), removed)
		}
	}
	return r.N
}

// Drain removes the live values and yields what it removed, moved out. It is a
// sequence of Takes: each value is yielded by one Drain, and a loop that is left
// early leaves the rest in the pool. It holds no pin.
func (p *Pool[T]) Drain() iter.Seq2[Handle[T], T] {
	return func(yield func(Handle[T], T) bool) {
		t := p.pages()
		for first := uint32(0); first < t.Limit; {
			block := shard.Block[T](t, first, blockSlots)
			for h := range over(block, first) {
				if v, ok := p.Take(h); ok && !yield(h, v) {
					return
				}
			}
			first += uint32(len(block))
		}
	}
}

// DeleteFunc removes the values for which del returns true, and returns how many
// it removed. It is pinned while it runs. A panic in del comes up; what was
// removed before stays removed. It looks at every slot that has memory: for values that
// go with their owner, the example "Owner" is a sixtieth of that for one of 1,000 owners
// of a million values.
//
// What keeps a removed value from being let go is told at [Pool.Remove]; the pin of
// the DeleteFunc is one such guard.
func (p *Pool[T]) DeleteFunc(del func(Handle[T], *T) bool) (n int) {
	g := p.Pin()
	defer g.Unpin()
	t := g.pages()
	for first := uint32(0); first < t.Limit; {
		block := shard.Block[T](t, first, blockSlots)
		for h, v := range over(block, first) {
			// Each slot is retired at once. One that waited for company would be out of
			// everybody's sight while del runs, which may do anything.
			if del(h, v) && p.Remove(h) {
				n++
			}
		}
		first += uint32(len(block))
	}
	return n
}

// Clear removes all values and returns how many it removed. It is a sequence of
// removals: what is inserted meanwhile may survive it. No handle comes back to
// life. For what keeps the values from being let go, see [Pool.Remove].
func (p *Pool[T]) Clear() int {
	t := p.pages()
	r := p.arena.Removals()
	defer r.End()
	for first := uint32(0); first < t.Limit; {
		block := shard.Block[T](t, first, blockSlots)
		for h := range over(block, first) {
			if r.Remove(uint64(h)) && debugging {
				p.records.lives.Ended(uint64(h), removed)
			}
		}
		first += uint32(len(block))
	}
	return r.N
}
