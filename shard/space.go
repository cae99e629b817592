package shard

import (
	"coatcheck/epoch"
	"coatcheck/internal/atom"
)

// Space is what all shards of one pool share: the pages, the clock, and how a
// slot is made ready for its next life. Its fields are set before the first
// shard is made, and read ever after.
type Space[T any] struct {
	Table  Table[T]
	Domain *epoch.Domain

	First uint32   // the first live generation of every slot; odd
	FIFO  bool     // shards keep queues in place of stacks
	Zero  bool     // T holds pointers: a reclaimed slot must not hold them back
	Exact bool     // what was removed before a guard was pinned must not wait for it, see stamp
	Reset func(*T) // object-pool mode: called in place of zeroing

	// Reach is the most slots that an operation has in its hands at a time, a small
	// part of a bounded pool; 0 means Batch.
	Reach uint32

	// Reclaimed, if not nil, is told how many slots a remover has freed.
	Reclaimed func(n int)

	// Deal multiplies the hints that choose a goroutine's shard; odd. Two
	// goroutines that meet at one shard for life are dealt anew.
	//
	//	writers  contend, when it has been called patience times for a shard;
	//	         patience doubles each time, so that dealing dies out where there
	//	         are more goroutines than shards
	Deal     atom.Uint32
	patience atom.Uint32

	// needy is a shard whose goroutine found its freelist empty and took a slot
	// from another's, or nil. The next remover that has slots to spare reclaims
	// for it, so that slots which one goroutine removes reach the one that
	// inserts by the batch and not one by one.
	//
	//	writers  Need, to a shard; reclaimDue, by compare-and-swap to nil
	needy atom.Pointer[Shard[T]]

	// Spent counts slots that have left their last generation, Exhausted those
	// of them that are retired: reclaimed and in no list.
	Spent     atom.Int64
	Exhausted atom.Int64

	// Refs is how many holds there are, Parked how many removed slots wait for
	// one and for nothing else (see holders.go).
	//
	//	writers  hold and drop, before and after the slot's own count; park, leave
	Refs   atom.Int64
	Parked atom.Int64

	// Trims counts the beginnings and ends of Trim, so that an insertion that finds
	// nothing knows whether Trim had slots in its hands meanwhile; trim is held in
	// between.
	//
	//	writers  Trim, under trim
	Trims atom.Uint64
	trim  atom.Mutex

	// Reserve is how many free slots FIFO still keeps back (MinFree). It shrinks
	// when slots are exhausted, so that they are missed there first.
	//
	//	writers  wear, by compare-and-swap
	Reserve atom.Int64
}

// wear takes an exhausted slot's loss from the reserve, and answers whether
// there was anything left to take it from.
func (sp *Space[T]) wear() bool {
	for {
		left := sp.Reserve.Load()
		if left == 0 {
			return false
		}
		if sp.Reserve.CompareAndSwap(left, left-1) {
			return true
		}
	}
}

// firstPatience is how many failed compare-and-swaps a shard bears at first.
const firstPatience = 64

// Init prepares the space after its fields have been set.
func (sp *Space[T]) Init(max uint64, shift uint32) {
	sp.Table.Init(max, shift, sp.Reset != nil)
	if sp.Reach == 0 {
		sp.Reach = Batch
	}
	sp.Deal.Store(1)
	sp.patience.Store(firstPatience)
}

// contend notes that a goroutine met another at shard s: its compare-and-swap
// failed.
func (s *Shard[T]) contend() {
	sp := s.space
	patience := sp.patience.Load()
	if s.misses.Add(1) < patience || patience > 1<<30 {
		return
	}
	s.misses.Store(0)
	if sp.patience.CompareAndSwap(patience, 2*patience) {
		sp.Deal.Store(sp.Deal.Load()*0x915F77F5 | 1) // Steele and Vigna's multiplier
	}
}

// Slot returns the slot of an index that was read from the words.
func (sp *Space[T]) Slot(i uint32) *Slot[T] { return At[T](sp.Table.Pages(), i) }

// MarkTaken notes that the value of slot i was moved out, so that the slot is
// zeroed when it is reclaimed and Reset never sees a value that another owns.
// Only the slot's owner calls it, before Retire; the bits of a word belong to
// different owners, hence the atomic operation. Without a Reset it does nothing.
func (sp *Space[T]) MarkTaken(i uint32) {
	if sp.Reset != nil {
		m, j := sp.Table.Pages().margin(i)
		m.taken[j/32].Or(1 << (j % 32))
	}
}

// unmarkTaken clears the mark of slot i and returns what it was. There must be a
// Reset.
func (sp *Space[T]) unmarkTaken(i uint32) bool {
	m, j := sp.Table.Pages().margin(i)
	bit := uint32(1) << (j % 32)
	return m.taken[j/32].And(^bit)&bit != 0
}

// Blank zeroes what the last life of a claimed slot left, where reclaiming did
// not: in a T without pointers it matters only if somebody looks before writing.
func (sp *Space[T]) Blank(slot *Slot[T]) {
	if sp.plain() {
		clear1(&slot.Value)
	}
}

// plain answers whether a slot is ready for its next life as it is.
func (sp *Space[T]) plain() bool { return !sp.Zero && sp.Reset == nil }

// wornSlots answers whether any slot waits that has used up its generations. A
// slot is counted in Spent before it is pushed on limbo, so that whoever holds
// the batch sees it counted.
func (sp *Space[T]) wornSlots() bool {
	exhausted := sp.Exhausted.Load() // first: it never passes a Spent that is read later
	return sp.Spent.Load() != exhausted
}

// clean makes a slot ready for its next life, after its grace period. The
// caller owns the slot, and must expect a Reset that panics or exits.
func (sp *Space[T]) clean(slot *Slot[T], i uint32) {
	switch {
	case sp.Reset == nil:
		if sp.Zero {
			clear1(&slot.Value)
		}
	case sp.unmarkTaken(i):
		clear1(&slot.Value)
	default:
		sp.reset(slot)
	}
}

// reset calls Reset, and leaves a zero value behind when that does not return.
func (sp *Space[T]) reset(slot *Slot[T]) {
	done := false
	defer func() {
		if !done {
			clear1(&slot.Value)
		}
	}()
	sp.Reset(&slot.Value)
	done = true
}

func clear1[T any](v *T) {
	var zero T
	*v = zero
}
