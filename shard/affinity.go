package shard

import (
	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// Affinity: which shard a goroutine uses. None of it decides what is right, since every
// shard serves every slot; it decides how often goroutines meet at one word.
//
// A goroutine comes back to one shard, chosen by a hint. Where two share a shard for
// life, the hints are dealt anew. Where one goroutine inserts and another removes,
// the remover helps: it reclaims for the shard that starves.
type affinity[T any] struct {
	// deal multiplies the hints; odd.
	//
	//	writers  contend, when it has been called patience times for a shard
	//	readers  Local
	deal atom.Uint32

	// patience is how many failed compare-and-swaps a shard tolerates. It doubles at each
	// deal, so that dealing dies out where there are more goroutines than shards.
	//
	//	writers  contend, by compare-and-swap
	patience atom.Uint32

	// starved is a shard whose goroutine found its freelist empty and took a slot
	// from another's, or nil. The next remover that has slots to spare reclaims
	// for it, so that slots which one goroutine removes reach the one that
	// inserts by the batch and not one by one.
	//
	//	writers  starve, to a shard; helped, by compare-and-swap to nil
	//	readers  helped
	starved atom.Pointer[shard[T]]

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

// starve asks removers elsewhere to reclaim for s.
func (s *shard[T]) starve() {
	if f := &s.arena.affinity; f.starved.Load() != s {
		f.starved.Store(s)
	}
}

// helped returns the shard that gets what s reclaims: s itself, unless it has
// slots enough and another starves.
func (s *shard[T]) helped() *shard[T] {
	f := &s.arena.affinity
	if s.free.Load() != emptyList {
		if to := f.starved.Load(); to != nil && f.starved.CompareAndSwap(to, nil) {
			return to
		}
	}
	return s
}
