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
	//	writers  Fresh, by compare-and-swap; Refill, under token, when it is empty
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
	//	writers  Retire pushes by compare-and-swap; seal takes all with a swap
	//	moves    nothing is popped, so there is no ABA: a push that succeeds
	//	         found the top that it linked to, whatever happened between
	//	orders   the push publishes the unlinking to seal (P7)
	limbo atom.Uint64

	// token is 1 while somebody reclaims or refills this shard; it is tried for
	// and never waited for. It orders the plain fields below: its release
	// publishes them, the next holder's compare-and-swap observes them.
	token atom.Uint32

	// left is how many slots of the sealed batch are not reclaimed yet. Written
	// under token; read by Pending.
	left atom.Uint32

	// seals and done number the batches that were begun and finished. Written
	// under token; read by Synchronize.
	seals atom.Uint64
	done  atom.Uint64

	sealed sealed // plain: under token
	tail   uint32 // FIFO: the queue's last slot. Plain: under token
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
