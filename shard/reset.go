package shard

import "slices"

// With a Reset, reclaiming calls user code. It may use the pool in any way, take long, panic
// or exit. So it runs under no lock, on slots that were taken out of their chunk before. They
// count as the caller's. What it leaves undone goes back to the chunk, with the stamps that it
// had.

// resets is a run of slots of one chunk, for which one goroutine calls Reset.
type resets[T any] struct {
	from, to *shard[T]
	number   uint64 // the chunk's, as least is
	least    uint64
	n        uint32   // how many slots the run has
	chain    chain[T] // those that are left
}

// take takes as many slots out of c, which has passed, as a run may have.
func (r *resets[T]) take(m *move[T], c *chunk[T]) {
	if m.from.fifo {
		c.reverse(m.from.arena)
	}
	for c.chain.n > 0 && r.admit(m, c) {
		r.chain.append(c.chain.takeFirst(m.from.arena))
	}
}

// admit reports whether another slot of c may join the run, and counts it. In a bounded pool a
// run is short, so that an insertion finds one of the others. A shard has a bounded number of
// runs: a Reset that inserts may reclaim, and would otherwise call itself for as many slots as
// wait.
func (r *resets[T]) admit(m *move[T], c *chunk[T]) bool {
	s := m.from
	switch {
	case r.n == 0 && s.runs < runsMost:
		s.runs++
		r.from, r.to, r.number, r.least = s, m.to, c.number, c.least
	case r.n == 0 || r.number != c.number || r.n == min(s.arena.reach, resetRun):
		return false
	}
	r.n++
	c.inResets++
	s.inResets++
	s.waits--
	return true
}

// run calls Reset for the slots of r, and delivers them. If a Reset does not return, its slot
// is zeroed and free, and those after it wait again.
func (r *resets[T]) run() {
	s, a := r.from, r.from.arena
	d := delivery[T]{from: s}
	d.send(r.to, Low(r.chain.first))
	defer func() {
		s.mu.Lock()
		defer s.unlock()
		r.end()
		d.deliver()
		a.wake()
	}()
	held := a.held() // observes (P7)
	for r.chain.n > 0 {
		slot, i, word := r.chain.takeFirst(a)
		mine, fit := a.getBack(slot, i, word, held)
		if !mine {
			continue
		}
		if fit {
			d.add(slot, i, word) // before the Reset, which may not return
		}
		if a.clean(slot, i); !fit {
			clear1(&slot.Value)
		}
	}
}

// end puts back what is left, and ends the run, under the lock.
func (r *resets[T]) end() {
	s := r.from
	k := slices.IndexFunc(s.waiting, func(c chunk[T]) bool { return c.number == r.number })
	c := &s.waiting[k]
	s.runs--
	s.inResets -= r.n
	c.inResets -= r.n
	if n := r.chain.n; n > 0 {
		s.waits += n
		r.chain.concat(&c.chain)
		c.chain, c.least = r.chain, min(c.least, r.least)
	}
	if c.chain.n+c.inResets == 0 {
		s.drop(k)
	}
}
