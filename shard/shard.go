package shard

import (
	"coatcheck/internal/atom"
)

// shard holds some of an arena's vacant slots.
//
// The words that inserting goroutines write (free, fresh) lie apart from those
// that removing ones write (limbo), so that a producer and a consumer on one
// shard meet only when slots change hands.
type shard[T any] struct {
	// free is the freelist: the generation and index of its top slot (LIFO) or
	// of the queue's first (FIFO), or None.
	//
	//	writers  Pop, popRun and takeList, by compare-and-swap; push and splice, for any
	//	         shard; put, under the lock of a queue that has no slot
	//	readers  the same
	//	moves    see stack.go and queue.go
	//	orders   pushing publishes that the slot was cleaned (P3)
	free atom.Uint64

	// fresh is a range of slots that were never used: next | end.
	//
	//	writers  freshRun, by compare-and-swap; refill, under filling, when it is empty
	//	readers  the same
	//	moves    next grows to end; then another range, disjoint from all before
	fresh atom.Uint64

	// ahead is how many slots the shard took from new memory while others had some.
	//
	//	writers  search
	//	readers  mayGoAhead
	ahead atom.Uint32

	fifo  bool   // Config.FIFO, at hand
	at    uint32 // the shard's number
	arena *Arena[T]
	list  freelist[T]
	_     [128 - 7*8]byte

	// limbo is the stack of removed slots: how many, and the index of the last.
	//
	//	writers  Remove, retire and pushLimbo push by compare-and-swap; seal takes all
	//	         with a swap
	//	readers  unlink, for the link that it writes; waiting
	//	moves    nothing is popped, so there is no ABA: a push that succeeds
	//	         found the top that it linked to, whatever happened between
	//	orders   the push publishes the unlinking to seal (P7)
	limbo atom.Uint64

	// latest is the greatest tag of what lies in limbo, where Arena.exact asks for
	// tags of removals.
	//
	//	writers  stamp, raising it before the push
	//	readers  seal, after it has taken limbo
	latest atom.Uint64

	// left is how many slots of the sealed batches are not reclaimed yet.
	//
	//	writers  seal (+); move and resetSome (−), when the slots are elsewhere
	//	readers  pending, waiting, due, blocked
	left atom.Uint32

	// filling is held by the one goroutine that gives the shard a new range. Nobody waits
	// for it.
	filling atom.Mutex

	// seals numbers the batches.
	//
	//	writers  seal; append; pushBack
	//	readers  goal, bare
	seals atom.Uint32

	sealed [sealedMost]batch[T]
	resets resets
	_      [64]byte

	// misses counts failed compare-and-swaps, at their own shard, of the goroutines whose
	// hints lead to this one; salt sends these elsewhere, if it is not 0. Each operation of
	// theirs reads it, so it lies apart from what changes.
	//
	//	writers  contend
	//	readers  Local; contend
	misses atom.Uint32
	salt   atom.Uint32
	_      [120]byte
}

// emptyList is a list without slots: free when LIFO, limbo always.
const emptyList = uint64(None)

// attach makes s an empty shard of a, with number at.
func (s *shard[T]) attach(a *Arena[T], at int) {
	s.arena, s.fifo, s.at = a, a.FIFO, uint32(at)
	s.free.Store(emptyList)
	s.limbo.Store(emptyList)
	for k := range s.sealed {
		s.sealed[k].word.Store(emptyList)
	}
	if s.list = (stack[T]{of: s}); s.fifo {
		s.list = &queue[T]{of: s, tail: None}
	}
}

// pending returns how many slots were removed and not reclaimed yet.
func (s *shard[T]) pending() int {
	return int(Generation(s.limbo.Load())) + int(s.left.Load()) + s.underReset()
}

// waiting is pending without the slots for which somebody calls Reset, and without
// those that wait for too many of these calls: no insertion may wait for user code.
func (s *shard[T]) waiting() int {
	if s.resetting() {
		return 0
	}
	return int(Generation(s.limbo.Load())) + int(s.left.Load())
}

// blocked reports whether slots wait in batches whose grace period was not over when
// the shard was reclaimed last.
func (s *shard[T]) blocked() bool { return s.left.Load() > 0 }

// bare reports whether the shard has no slot for an insertion.
func (s *shard[T]) bare() bool {
	return s.unclaimed() == 0 && s.list.bare()
}
