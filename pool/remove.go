package pool

import "coatcheck/shard"

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
	t := p.pages()
	ok := h.Index() < t.Limit && p.local().Remove(shard.At[T](t, h.Index()), uint64(h))
	if debugging && ok {
		p.records.lives.Ended(uint64(h), removed)
	}
	return ok
}

// Take is Remove that also hands the value over: a shallow copy. Others may
// still be reading the value through guards, and the pool keeps its copy for as long
// as after Remove.
func (p *Pool[T]) Take(h Handle[T]) (v T, ok bool) {
	if t := p.pages(); h.Index() < t.Limit {
		v, ok = p.local().Take(shard.At[T](t, h.Index()), uint64(h))
	}
	if debugging && ok {
		p.records.lives.Ended(uint64(h), removed)
	}
	return v, ok
}
