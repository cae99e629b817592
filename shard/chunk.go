package shard

import "slices"

// chunk is what one seal took from limbo. It stays in its place until all its slots have been
// reclaimed.
type chunk[T any] struct {
	chain    chain[T] // the slots that wait
	inResets uint32   // how many were taken out for Resets that are under way
	reversed bool     // the slot that was removed first comes first, and not last
	number   uint64   // of the shard's seals
	stamp    uint64   // no slot's stamp is above it
	least    uint64   // no slot's stamp is below it; without exact it is stamp
}

// seal takes all of limbo. It returns it with a stamp that is at least that of each slot.
//
// The chain is taken before the stamp. A stamp from before could be older than the unlinking
// of slots that came meanwhile, and end their grace period under a guard.
func (s *shard[T]) seal() (c chunk[T]) {
	if Low(s.limbo.Load()) == None {
		return c
	}
	head := s.limbo.Swap(emptyList) // observes (P6)
	if s.arena.exact {
		c.stamp = s.arena.Domain.Latest()
	} else {
		c.stamp = s.arena.Domain.Retire()
		c.least = c.stamp
	}
	c.chain = chain[T]{first: uint64(Low(head)), n: Generation(head)}
	s.seals++
	c.number = s.seals
	return c
}

// await puts c behind the chunks that wait. Where slots have stamps of their own, two chunks
// can be one, with the number of the first. So the number of chunks is bounded.
func (s *shard[T]) await(c chunk[T]) {
	s.waits += c.chain.n
	k := len(s.waiting) - 1
	if !s.arena.exact || k+1 < chunksMost {
		s.waiting = append(s.waiting, c)
		return
	}
	last := &s.waiting[k]
	for w := c.chain; w.n > 0; { // or each refusal would visit all of it (sift)
		_, i, _ := w.takeFirst(s.arena)
		last.least = min(last.least, s.arena.stampOf(i, c.stamp))
	}
	last.reverse(s.arena)
	c.reverse(s.arena)
	last.chain.concat(&c.chain)
	last.stamp = c.stamp
}

// drop takes chunk k out of the list.
func (s *shard[T]) drop(k int) {
	if k == 0 && len(s.waiting) > chunksMost {
		s.waiting[0] = chunk[T]{}
		s.waiting = s.waiting[1:] // too many to move them at each step
	} else {
		s.waiting = slices.Delete(s.waiting, k, k+1)
	}
}

// reverse puts the slot that was removed first in front.
func (c *chunk[T]) reverse(a *Arena[T]) {
	if c.reversed {
		return
	}
	var line chain[T]
	for c.chain.n > 0 {
		line.prepend(c.chain.takeFirst(a))
	}
	c.chain, c.reversed = line, true
}

// useful returns how many of c's slots have another life. If some have, it counts those that have
// none too, rather than visit all.
func (c *chunk[T]) useful(a *Arena[T]) (n int64) {
	if int64(c.chain.n) > a.worn() {
		return int64(c.chain.n)
	}
	for w := c.chain; w.n > 0; {
		if _, _, word := w.takeFirst(a); Generation(word) != Spent {
			n++
		}
	}
	return n
}

// done returns the number of the last seal of which everything has been reclaimed, as of all
// before it.
func (s *shard[T]) done() uint64 {
	if len(s.waiting) == 0 {
		return s.seals
	}
	return s.waiting[0].number - 1
}
