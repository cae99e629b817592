package shard

import "coatcheck/internal/hint"

// Affinity is which shard a goroutine uses. Correctness does not depend on it, since every
// shard serves every slot. It decides how often goroutines contend for a word.
//
// A goroutine returns to one shard, chosen by a hint. Where the hints of two lead to one
// shard, both may move, each to another shard; all other goroutines stay. That ends, as in
// cuckoo hashing. The naive way deals all hints anew: with 64 goroutines on 256 shards, some
// eight pairs meet in each deal.
//
// A slot has a home: the shard that took it last for an insertion. Removed slots go home by
// the batch, from wherever they were removed. Of a batch for another shard, slots with other
// homes stay. The naive way leaves slots with the remover. The shard that runs out then takes
// them back one by one, and neither shard has a batch to reclaim. The slots of a cache line
// end up in several shards. On 16 processors that halved the speed of all insertions and
// removals.

// Local returns the shard to which a hint leads: mostly one that no other running goroutine uses.
// It panics for a zero Arena.
//
// An operation takes its hint once, for its slow half too. Pool.Insert and Pool.Remove are
// inlined, and take the hint from their caller's frame; other operations take it from their own.
// The wrong version takes one in each function. If the end of a block of stack lies between the
// frames, insertions then always look into one shard, and fetch slots for another.
func (a *Arena) Local(h uint32) *shard {
	i := uint64(h) * uint64(len(a.shards)) >> 32 // hint.Index; with the call this were too long
	if i >= uint64(len(a.shards)) {
		panic(Zero)
	}
	s := &a.shards[i]
	if salt := s.salt.Load(); salt != 0 {
		s = &a.shards[uint64(h*salt)*uint64(len(a.shards))>>32]
	}
	return s
}

// contend notes that a goroutine met another at shard s: its compare-and-swap failed. If it
// came to s for another shard's slots, that says nothing about hints.
//
// The goroutine may have come to s from a frame in the block of stack above this one.
func (s *shard) contend() {
	a, h := s.arena, hint.Goroutine()
	n := len(a.shards)
	if a.Local(h) != s {
		if h += hint.Spread; a.Local(h) != s {
			return
		}
	}
	first := &a.shards[hint.Index(h, n)]
	// At each power of two: a goroutine that moves again waits twice as long. So it also comes
	// to rest where there are more goroutines than shards.
	if m := first.misses.Add(1); m >= patience && m&(m-1) == 0 {
		first.salt.Store((first.salt.Load() | 1) * 0x915F77F5) // Steele and Vigna's multiplier
	}
}

// home returns the shard that slot i, removed in s, goes home to: s itself if the slot has no
// home.
func (s *shard) home(i uint32) *shard {
	m, j := s.arena.Table.Pages().meta(i)
	if at := m.homes[j/homeSlots].Load(); at > 0 {
		return &s.arena.shards[at-1]
	}
	return s
}

// setHome makes s the home of the slots from lo to hi-1, of which the caller owns the first,
// and of their neighbours.
func (s *shard) setHome(lo, hi uint32) {
	t := s.arena.Table.Pages()
	for i := lo; i < hi; {
		m, j := t.meta(i)
		if h := &m.homes[j/homeSlots]; h.Load() != s.at+1 {
			h.Store(s.at + 1)
		}
		i += min(homeSlots-j%homeSlots, m.n-j)
	}
}

// mayGoAhead reports whether s, which has no slots, may take new memory although others have
// slots. Two batches mostly suffice for a shard to need no other for long; a burst wants as
// many as it is long. The bound is small and for the shard's whole life, so that memory does
// not grow where slots keep moving between shards. If all memory was handed out, it reports
// false: to ask would take the table's lock each time.
func (s *shard) mayGoAhead() bool {
	return uintptr(s.ahead.Load()) < aheadBytes/s.arena.Size && s.arena.Table.Left() > 0
}
