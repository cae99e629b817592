package shard

import (
	"coatcheck/internal/atom"
)

// Shard holds some of a pool's vacant slots. All methods are safe for concurrent
// use, and none waits.
//
// The words that inserting goroutines write (free, fresh) lie apart from those
// that removing ones write (limbo), so that a producer and a consumer on one
// shard meet only when slots change hands.
type Shard[T any] struct {
	// free is the freelist: the generation and index of its top slot (LIFO) or
	// of the queue's first (FIFO), or None.
	//
	//	writers  Pop, and Reclaim of any shard (LIFO), by compare-and-swap
	//	readers  the same
	//	moves    see freelist.go and queue.go
	//	orders   pushing publishes that the slot was cleaned (P3)
	free atom.Uint64

	// fresh is a range of slots that were never used: next | end.
	//
	//	writers  Fresh, by compare-and-swap; Refill, under mu, when it is empty
	//	moves    next grows to end; then another range, disjoint from all before
	fresh atom.Uint64

	// credit is how many slots FIFO may hand out while the reserve stays whole.
	//
	//	writers  TakeCredit (−1, never below 0); Refill and Reclaim (+)
	credit atom.Int64

	misses atom.Uint32 // see contend

	space *Space[T]
	fifo  bool   // space.FIFO, at hand
	at    uint32 // the shard's number in its pool
	_     [128 - 6*8]byte

	// limbo is the stack of removed slots: how many, and the index of the last.
	//
	//	writers  retire and pushChain push by compare-and-swap; seal takes all with
	//	         a swap
	//	moves    nothing is popped, so there is no ABA: a push that succeeds
	//	         found the top that it linked to, whatever happened between
	//	orders   the push publishes the unlinking to seal (P7)
	limbo atom.Uint64

	// latest is the greatest tag of what lies in limbo, where Space.Exact asks for
	// tags of removals.
	//
	//	writers  stamp, raising it before the push
	//	readers  seal, after it has taken limbo
	latest atom.Uint64

	// left is how many slots of the sealed batches are not reclaimed yet.
	//
	//	writers  seal (+); Reclaim (−), when the slots have reached their list
	//	readers  Pending
	left atom.Uint32

	// mu guards sealed and tail. Whoever must not wait tries for it, and an
	// insertion that would be refused waits for it: no user code runs under it,
	// and no lock is taken.
	mu atom.Mutex

	// seals numbers the batches that were begun, done those that were finished.
	//
	//	writers  seal; settle; both under mu
	//	readers  Synchronize
	seals atom.Uint64
	done  atom.Uint64

	sealed batches // under mu
	resets resets
	tail   uint32 // FIFO: the queue's last slot; under mu
	_      [128]byte
}

// emptyList is a list without slots: free when LIFO, limbo always.
const emptyList = uint64(None)

// Init makes s the shard of space with number at. Under FIFO it takes reserve slots and one for
// the queue's dummy, which must have memory in one piece; it answers false if
// they do not.
func (s *Shard[T]) Init(space *Space[T], at, reserve int) bool {
	s.attach(space, at)
	return !s.fifo || s.initQueue(reserve)
}

// attach makes s an empty shard.
func (s *Shard[T]) attach(space *Space[T], at int) {
	s.space, s.fifo, s.at = space, space.FIFO, uint32(at)
	s.free.Store(emptyList)
	s.limbo.Store(emptyList)
	s.tail = None
}

// Number returns the shard's number in its pool.
func (s *Shard[T]) Number() int { return int(s.at) }

// Pending returns how many slots were removed and not reclaimed yet.
func (s *Shard[T]) Pending() int {
	return int(Generation(s.limbo.Load())) + int(s.left.Load())
}

// Waiting is Pending without the slots for which somebody calls Reset, and without
// those that wait for too many of these calls: no insertion may wait for user code.
func (s *Shard[T]) Waiting() int {
	if s.resetting() {
		return 0
	}
	return s.Pending() - s.Resets()
}

// Seals returns how many batches were begun. While it stays the same, what was
// empty in limbo and in the batches has stayed so.
func (s *Shard[T]) Seals() uint64 { return s.seals.Load() }

// Blocked reports whether slots wait in batches whose grace period was not over when
// the shard was reclaimed last.
func (s *Shard[T]) Blocked() bool { return int(s.left.Load()) > s.Resets() }

// Bare reports whether the shard has no slot for an insertion.
func (s *Shard[T]) Bare() bool {
	if s.fifo {
		return s.credit.Load() == 0
	}
	return s.free.Load() == emptyList && s.unclaimed() == 0
}

// Goal returns the number that Done must reach for everything that was retired
// before the call to be reclaimed.
func (s *Shard[T]) Goal() uint64 {
	begun := s.seals.Load()
	if Low(s.limbo.Load()) != None {
		return begun + 1 // the next seal takes it
	}
	return s.seals.Load() // a seal counts before it takes
}

// Done returns how many batches have been reclaimed whole.
func (s *Shard[T]) Done() uint64 { return s.done.Load() }

// Free returns how many vacant slots the shard's lists hold. It follows the
// freelist and is exact when nobody changes anything.
func (s *Shard[T]) Free() int {
	n := s.unclaimed()
	most := int(s.space.Table.Pages().Limit)
	i := Low(s.free.Load())
	for i != None && n <= most {
		word := s.space.Slot(i).Word.Load()
		if IsLive(word) {
			break // somebody popped it under our feet
		}
		n++
		i = Low(word)
	}
	return n
}
