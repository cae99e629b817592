package pool

import "coatcheck/shard"

// Remove ends the life of the value that h names. It answers true for exactly
// one caller per handle, and false for a handle that is not live.
//
// Guards that are pinned keep the value readable; the slot is reused when they
// have gone. It costs two locked instructions, and once in a while it reclaims
// a bounded number of slots, which is when Options.Reset is called.
func (p *Pool[T]) Remove(h Handle[T]) bool {
	t := p.pages()
	ok := h.Index() < t.Limit && p.local().Remove(shard.At[T](t, h.Index()), uint64(h))
	if debugging && ok {
		p.records.lives.Ended(uint64(h), removed)
	}
	return ok
}

// Take is Remove that also hands the value over: a shallow copy. Others may
// still be reading the value through guards.
func (p *Pool[T]) Take(h Handle[T]) (v T, ok bool) {
	if t := p.pages(); h.Index() < t.Limit {
		v, ok = p.local().Take(shard.At[T](t, h.Index()), uint64(h))
	}
	if debugging && ok {
		p.records.lives.Ended(uint64(h), removed)
	}
	return v, ok
}
