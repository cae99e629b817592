package shard

import (
	"unsafe"

	"coatcheck/epoch"
	"coatcheck/internal/atom"
)

// Arena owns the slots of one pool, from vacant to vacant. It hands slots out (Claim), makes
// them live (Publish), ends their lives (Remove and Take of its shards, Removals, Abandon) and
// reclaims them. Package pool adds the verbs, guards, loops and options that users see.
//
// The zero Arena is not ready: Init comes first. All other methods are safe for concurrent
// use, except those of snapshot.go that fill an Arena.
type Arena[T any] struct {
	Config[T]

	// Table has the pages. Its fields are this package's, except Current, by which look-ups
	// find slots.
	Table Table[T]

	shards []shard[T] // written by Init alone

	exact bool   // slots that were removed before a guard was pinned must not wait for it (L10)
	reach uint32 // the most slots that an operation owns at a time
	quick uint64 // removals of handles below it have nothing to note: lastLife, or 0 if exact

	_ [128]byte // all operations read the fields above, and few write those below

	// dealt deals shards to magazines in turn.
	//
	//	writers  NewMagazine
	dealt atom.Uint32

	// spent counts slots that have left their last generation. exhausted counts those of them
	// whose grace period is over, which are in no list.
	//
	//	writers  note and exhaust, before the slot is pushed on limbo or dropped; getBack
	//	         and exhaust
	//	readers  worn, reason; Count
	//	moves    both grow; exhausted never passes a spent that is read later
	spent     atom.Int64
	exhausted atom.Int64

	// refs counts holds. parked counts removed slots that wait for a hold and for nothing
	// else, except exhausted ones (hold.go).
	//
	//	writers  Hold and Drop, before and after the slot's own count; park, Drop
	//	readers  held; Count
	refs   atom.Int64
	parked atom.Int64

	// all is held by the one goroutine that takes the locks of all shards, before them.
	all atom.Mutex

	// decisions numbers the calls of decide. refused is the last one that was a refusal, under
	// all.
	//
	//	writers  decide, under all
	//	readers  claim, by an addition of 0
	decisions atom.Uint64
	refused   struct {
		number uint64
		err    error
	}

	refusals

	// cached is how many slots all magazines together may keep.
	//
	//	writers  setReach
	//	readers  mayGrow
	cached atom.Int64

	_ [128]byte // removals read this line, which is seldom written
	queue
	_ [128]byte
}

// Zero is the text of panics on use of a zero Arena, which is a zero Pool's.
const Zero = "pool: use of a zero Pool; make one with New or Must"

// Closed is the text of panics on use of a closed Magazine, which is a Worker's.
const Closed = "pool: use of a Worker that is closed, or not from Pool.Worker"

// Config has the properties of an Arena.
type Config[T any] struct {
	Domain *epoch.Domain

	Slots    uint64 // the most slots
	Shift    uint32 // a page has 1<<Shift slots
	Shards   int
	Capacity uint64   // Slots, or 0 if the pool has no limit of its own
	MaxLimbo int64    // the most slots that wait before the arena stops growing; 0: a default
	First    uint32   // the first live generation of every slot; odd
	FIFO     bool     // shards hand out the slot that was removed first
	Fixed    bool     // all memory is allocated from the start, and kept
	Reset    func(*T) // object-pool mode: called in place of zeroing
	Pointers bool     // T holds pointers
}

// Init makes an empty arena. Preallocate follows, or what fills the arena from a snapshot.
func (a *Arena[T]) Init(c Config[T]) {
	a.Config = c
	a.queue.init()
	a.exact = c.Capacity > 0 || c.MaxLimbo > 0
	if !a.exact {
		a.quick = lastLife
	}
	a.reach = Batch
	if c.Capacity > 0 {
		// Thirty-two operations leave half of the slots to others.
		a.reach = uint32(min(max(c.Capacity/64, 1), Batch))
	}
	a.Table.Init(c.Slots, c.Shift, a.exact, c.Reset != nil)
	a.shards = make([]shard[T], c.Shards)
	for i := range a.shards {
		a.shards[i].attach(a, i)
	}
}

// Preallocate allocates everything, if Fixed asks for it.
func (a *Arena[T]) Preallocate() {
	if a.Fixed {
		a.Table.Provide(a.Slots)
		a.Table.Pages().makeCounts()
	}
}

// Find returns the slot that h may name, or nil if that has no memory or the Arena is zero.
// The slot need not be live with h; Remove, Take and Hold check.
func (a *Arena[T]) Find(h uint64) *Slot[T] {
	if t := a.Table.Current.Load(); t != nil && Low(h) < t.Limit {
		return At[T](t, Low(h))
	}
	return nil
}

// slot returns the slot of an index that was read from a word.
func (a *Arena[T]) slot(i uint32) *Slot[T] { return At[T](a.Table.Pages(), i) }

// markMoved notes that the value of slot i was moved out. Reclaiming then zeroes the slot, and
// Reset never sees a value that another owns. The slot's owner calls it before it retires the
// slot. The operation is atomic because the bits of a word belong to different owners. There
// must be a Reset.
func (a *Arena[T]) markMoved(i uint32) {
	m, j := a.Table.Pages().meta(i)
	m.moved[j/32].Or(1 << (j % 32))
}

// unmarkMoved clears the mark of slot i and returns whether it was set. There must be a Reset.
func (a *Arena[T]) unmarkMoved(i uint32) bool {
	m, j := a.Table.Pages().meta(i)
	bit := uint32(1) << (j % 32)
	return m.moved[j/32].And(^bit)&bit != 0
}

// Blank zeroes a claimed slot that reclaiming did not zero. In a T without pointers that
// matters only if user code reads the value before it writes it.
func (a *Arena[T]) Blank(slot *Slot[T]) {
	if a.plain() {
		clear1(&slot.Value)
	}
}

// plain reports whether a slot is ready for its next life as it is.
func (a *Arena[T]) plain() bool { return !a.Pointers && a.Reset == nil }

// worn returns how many slots in limbo have used up their generations. A slot is counted in
// spent before it is pushed on limbo, so the reclaimer of its batch sees it counted.
func (a *Arena[T]) worn() int64 {
	exhausted := a.exhausted.Load() // first: it never passes a spent that is read later
	return a.spent.Load() - exhausted
}

// exhaust takes a slot out of use. The caller owns the slot, and no other goroutine can see
// it.
func (a *Arena[T]) exhaust(slot *Slot[T]) {
	a.spent.Add(1)
	slot.set(Pack(Spent, None))
	clear1(&slot.Value)
	a.exhausted.Add(1)
}

// clean makes a slot ready for its next life, after its grace period. The caller owns the
// slot, and must expect a Reset that panics or exits.
func (a *Arena[T]) clean(slot *Slot[T], i uint32) {
	if a.unmarkMoved(i) {
		clear1(&slot.Value)
		return
	}
	done := false
	defer func() {
		if !done {
			clear1(&slot.Value)
		}
	}()
	a.Reset(&slot.Value)
	done = true
}

// clear1 zeroes a value. A call costs 50 instructions more than an assignment, which would
// allocate a zero of more than 128 KiB.
func clear1[T any](v *T) {
	if unsafe.Sizeof(*v) <= 1<<10 {
		*v = *new(T)
	} else {
		clear(unsafe.Slice(v, 1))
	}
}
