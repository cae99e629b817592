package shard

import (
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// Affinity: which shard a goroutine uses. None of it decides what is right, since every
// shard serves every slot; it decides how often goroutines meet at one word.
//
// A goroutine comes back to one shard, chosen by a hint. Where two share a shard for
// life, the hints are dealt anew.
//
// Slots have a home: the shard that they came from when they were last wanted. What a
// goroutine removes goes home by the batch, whoever inserts there. The naive way leaves it
// with the remover, and the shard that runs out takes the slots back one by one: then
// neither has a batch to reclaim, and they take from each other for ever; the slots of
// one cache line end up in several shards, so that all their words are fought for.
// On 16 processors that halved the speed of all that inserts and removes.
type affinity[T any] struct {
	// deal multiplies the hints; odd.
	//
	//	writers  contend, when it has been called patience times for a shard
	//	readers  Local
	deal atom.Uint32
	_    [124]byte // all operations read what is before, and few write what follows

	// patience is how many failed compare-and-swaps a shard tolerates. It doubles at each
	// deal, so that dealing dies out where there are more goroutines than shards.
	//
	//	writers  contend, by compare-and-swap
	patience atom.Uint32

	// dealt deals shards to magazines in turn.
	//
	//	writers  NewMagazine
	dealt atom.Uint32
}

// firstPatience is how many failed compare-and-swaps a shard tolerates at first.
const firstPatience = 64

func (f *affinity[T]) init() {
	f.deal.Store(1)
	f.patience.Store(firstPatience)
}

// Local returns the shard that the calling goroutine uses: mostly one that no other
// running goroutine uses. It is put into its callers, which saves each hot verb a call.
// That of a zero Arena panics.
func (a *Arena[T]) Local() *shard[T] {
	if len(a.shards) == 0 {
		panic(Zero)
	}
	return &a.shards[hint.Index(hint.Goroutine()*a.affinity.deal.Load(), len(a.shards))]
}

// next returns the k-th shard after s, in a round that each begins at its own.
func (a *Arena[T]) next(s *shard[T], k int) *shard[T] {
	i := int(s.at) + k
	if i >= len(a.shards) {
		i -= len(a.shards)
	}
	return &a.shards[i]
}

// contend notes that a goroutine met another at shard s: its compare-and-swap
// failed.
func (s *shard[T]) contend() {
	f := &s.arena.affinity
	patience := f.patience.Load()
	if s.misses.Add(1) < patience || patience > 1<<30 {
		return
	}
	s.misses.Store(0)
	if f.patience.CompareAndSwap(patience, 2*patience) {
		f.deal.Store(f.deal.Load()*0x915F77F5 | 1) // Steele and Vigna's multiplier
	}
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
