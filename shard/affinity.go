package shard

import (
	"unsafe"

	"coatcheck/internal/hint"
)

// Affinity: which shard a goroutine uses. None of it decides what is right, since every
// shard serves every slot; it decides how often goroutines meet at one word.
//
// A goroutine comes back to one shard, chosen by a hint. Where hints lead two to one shard,
// those that they lead there first move, each elsewhere, and all others stay: that ends,
// as cuckoo hashing does. The naive way deals all hints anew, and with 64 goroutines on 256
// shards some eight pairs meet in each deal.
//
// Slots have a home: the shard that they came from when they were last wanted. What a
// goroutine removes goes home by the batch, whoever inserts there; of a batch for another
// shard, what is not at home there stays. The naive way leaves it
// with the remover, and the shard that runs out takes the slots back one by one: then
// neither has a batch to reclaim, and they take from each other for ever; the slots of
// one cache line end up in several shards, so that all their words are fought for.
// On 16 processors that halved the speed of all that inserts and removes.

// Local returns the shard that the calling goroutine uses: mostly one that no other
// running goroutine uses. It is put into its callers, which saves each hot verb a call.
// That of a zero Arena panics.
func (a *Arena[T]) Local() *shard[T] {
	if len(a.shards) == 0 {
		panic(Zero)
	}
	return a.led(hint.Goroutine(), uint64(len(a.shards)))
}

// led returns the shard, of n, to which a hint leads. It is hint.Index, twice, spelt out:
// Local could not be put into its callers with the calls.
func (a *Arena[T]) led(h uint32, n uint64) *shard[T] {
	s := &a.shards[uint64(h)*n>>32]
	if salt := s.salt.Load(); salt != 0 {
		s = &a.shards[uint64(h*salt)*n>>32]
	}
	return s
}

// contend notes that a goroutine met another at shard s: its compare-and-swap failed. That
// says nothing about hints where it came to s for slots of others.
//
// The frame by which the goroutine came to s may lie in the block of stack above this one.
func (s *shard[T]) contend() {
	a, h := s.arena, hint.Goroutine()
	n := len(a.shards)
	if a.led(h, uint64(n)) != s {
		if h += hint.Spread; a.led(h, uint64(n)) != s {
			return
		}
	}
	first := &a.shards[hint.Index(h, n)]
	// At each power of two: who moves again waits twice as long, and comes to rest also
	// where there are more goroutines than shards.
	if m := first.misses.Add(1); m >= patience && m&(m-1) == 0 {
		first.salt.Store((first.salt.Load() | 1) * 0x915F77F5) // Steele and Vigna's multiplier
	}
}

// next returns the k-th shard after s, in a round that each begins at its own.
func (a *Arena[T]) next(s *shard[T], k int) *shard[T] {
	i := int(s.at) + k
	if i >= len(a.shards) {
		i -= len(a.shards)
	}
	return &a.shards[i]
}

// home returns the shard that slot i goes home to when it was removed in s: s itself if
// the slot has none.
func (s *shard[T]) home(i uint32) *shard[T] {
	m, j := s.arena.Table.Pages().margin(i)
	if at := m.homes[j/homeSlots].Load(); at > 0 {
		return &s.arena.shards[at-1]
	}
	return s
}

// settle makes s the home of the slots from lo to hi-1, of which the caller owns the first,
// and of their neighbours.
func (s *shard[T]) settle(lo, hi uint32) {
	t := s.arena.Table.Pages()
	for i := lo; i < hi; {
		m, j := t.margin(i)
		if h := &m.homes[j/homeSlots]; h.Load() != s.at+1 {
			h.Store(s.at + 1)
		}
		i += min(homeSlots-j%homeSlots, t.Mask+1-j)
	}
}

// mayGoAhead reports whether s, which has no slots, may take new memory although others
// have some. Two batches more are mostly enough for a shard to need no other for long; a
// burst wants as many as it is long. It is little, and once for all, so that memory does
// not grow where slots wander without end. Where all memory there may be was handed out,
// nobody looks for more: that would take the lock of the table each time.
func (s *shard[T]) mayGoAhead() bool {
	return uintptr(s.ahead.Load()) < aheadBytes/unsafe.Sizeof(Slot[T]{}) && s.arena.Table.Left() > 0
}
