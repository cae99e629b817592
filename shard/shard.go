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
	//	writers  Pop, popRun and take, by compare-and-swap; push and splice, for any
	//	         shard; enqueue, under mu, for a queue that has no slot
	//	readers  the same
	//	moves    see stack.go and queue.go
	//	orders   pushing publishes that the slot was cleaned (P3)
	free atom.Uint64

	// fresh is a range of slots that were never used: next | end.
	//
	//	writers  freshRun, by compare-and-swap; refill, under mu, when it is empty
	//	readers  the same
	//	moves    next grows to end; then another range, disjoint from all before
	fresh atom.Uint64

	// misses counts failed compare-and-swaps.
	//
	//	writers  contend
	misses atom.Uint32

	fifo  bool   // Config.FIFO, at hand
	at    uint32 // the shard's number
	arena *Arena[T]
	_     [128 - 5*8]byte

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
	//	writers  seal (+); drain and takeForReset (−), when the slots are elsewhere
	//	readers  waiting, blocked
	left atom.Uint32

	// resting is how many slots are kept back: rest.n, for goroutines without the lock.
	//
	//	writers  enqueue and keepLess, under mu
	//	readers  keepsTooMuch, freeSlots
	resting atom.Uint32

	// mu guards sealed, rest and tail. A goroutine that must not wait tries for it, and an
	// insertion that would be refused waits for it: no user code runs under it,
	// and no lock is taken.
	mu atom.Mutex

	// seals numbers the batches that were begun, done those that were finished.
	//
	//	writers  seal and append, under mu; settle, under mu
	//	readers  goal, reclaimedAll
	seals atom.Uint64
	done  atom.Uint64

	sealed batches[T] // under mu
	ahead  bool       // a batch that has passed waits for an empty stack; under mu
	resets resets
	rest   chain[T] // FIFO: what is kept back; under mu
	tail   uint32   // FIFO: the queue's last slot; under mu
	_      [128]byte
}

// emptyList is a list without slots: free when LIFO, limbo always.
const emptyList = uint64(None)

// attach makes s an empty shard of a, with number at.
func (s *shard[T]) attach(a *Arena[T], at int) {
	s.arena, s.fifo, s.at = a, a.FIFO, uint32(at)
	s.free.Store(emptyList)
	s.limbo.Store(emptyList)
	s.tail = None
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
	if s.unclaimed() > 0 {
		return false
	}
	top := s.free.Load()
	if top == emptyList || !s.fifo {
		return top == emptyList
	}
	word := s.arena.slot(Low(top)).Word.Load()
	return word == Pack(Generation(top), None) && !s.keepsTooMuch() // the dummy alone
}
