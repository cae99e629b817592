package shard

import (
	"math"
	"math/bits"

	"coatcheck/epoch"
	"coatcheck/internal/atom"
	"coatcheck/internal/cost"
	"coatcheck/shard/slots"
)

// shard holds a share of its arena's vacant slots.
//
// The words that insertions write (free, fresh) lie apart from those that removals write
// (limbo). So a producer and a consumer on one shard contend only when slots change hands.
type shard struct {
	free  slots.Stack // what is vacant
	fresh slots.Range // what was never used; filled by allocRange, under mu

	// ahead is how many slots the shard took from new memory while others had some.
	//
	//	writers  claimUnlocked
	//	readers  mayGoAhead
	ahead atom.Uint32

	// searches is how many insertions searched when there was no new memory to be had.
	//
	//	writers  claimUnlocked, which alone reads it; restore, in a new arena
	searches atom.Uint32

	// unworn is 1 under FIFO until no slot is left that was never used and that the arena may have.
	// Until then nothing that was used is put into free, but by a refusal. What is in it when alloc makes
	// unworn 1 goes first.
	//
	//	writers  takeNeverUsed and refuse, as no such slot was found; alloc, putOff, giveBack; restore, in
	//	         a new arena
	//	readers  pop, refill
	unworn atom.Uint32

	fifo   bool   // a copy of Config.FIFO
	number uint32 // the shard's number
	arena  *Arena
	_      [128 - 6*8]byte

	limbo slots.Limbo // what was removed
	late  slots.Limbo // of slots with stamps, those that come with stamps of before: from Refs and Workers

	// unborn counts lives of slots that never began (slots/lives.go).
	//
	//	writers  Abandon, skip, burn, settle
	//	readers  Count
	unborn atom.Int64
	_      [88]byte

	// mu is held by code that fills free or fresh, and by code that seals limbo (I9). No user code
	// runs under it. The backlog is read and written under it.
	mu atom.Mutex

	// misses counts how often a goroutine whose hint leads here met another here.
	//
	//	writers  contend, which alone reads it
	misses atom.Uint32

	backlog backlog // what waits for its grace period
	ready   ready   // what has passed, and waits for an empty freelist

	// kept is how many slots only the holder of mu can make free: those that wait, and those
	// that are ready. Other goroutines go by it to ask for mu, and never conclude from it that
	// there is no slot.
	//
	//	writers  unlock
	//	readers  pending, hasReady
	kept atom.Uint64
	_    [64]byte
}

// newShard makes an empty shard of a, with that number.
func newShard(a *Arena, number int) *shard {
	s := &shard{arena: a, fifo: a.FIFO, number: uint32(number)}
	s.free.Head.Store(slots.EmptyList)
	s.limbo.Init()
	s.late.Init()
	s.backlog.init(a)
	s.ready.init(a.room().ready)
	if s.fifo {
		s.unworn.Store(1)
	}
	return s
}

// tryLock is lock that fails if another goroutine has the lock.
func (s *shard) tryLock() bool {
	if !s.mu.TryLock() {
		return false
	}
	cost.Lock()
	return true
}

// lock begins a time in which the caller owns the backlog, and may fill lists (I9).
func (s *shard) lock() {
	cost.Lock()
	s.mu.Lock()
}

// unlock publishes how many slots wait and how many are ready, and unlocks.
func (s *shard) unlock() {
	if kept := slots.Pack(s.backlog.size(), s.ready.size()); kept != s.kept.Load() {
		s.kept.Store(kept)
	}
	s.mu.Unlock()
}

// pending returns about how many slots wait for their grace period, and about how many have
// passed and are not in the freelist.
func (s *shard) pending() (waiting, ready int) {
	kept := s.kept.Load()
	return int(s.removed()) + int(slots.Generation(kept)), int(slots.Low(kept))
}

// hasReady reports whether slots have passed and are not in the freelist, as of the last unlock.
func (s *shard) hasReady() bool { return slots.Low(s.kept.Load()) != 0 }

// removed returns how many slots have come since the last seal.
func (s *shard) removed() uint32 { return s.limbo.Size() + s.late.Size() }

// next returns the k-th shard after s, in a round that begins at s.
func (s *shard) next(k int) *shard {
	list := s.arena.shards()
	return list[(int(s.number)+k)%len(list)]
}

// Slots that were never used are handed out from a range, so that filling a pool visits each
// slot once. So are those of a page that came back after a Trim; their words have the
// generation from which they go on (I11).

// takeFresh takes a slot from the shard's range, and returns it with the handle that it will
// have, or nil. It costs one locked instruction.
func (s *shard) takeFresh() (*slots.Hook, uint64) {
	i, n, contended := s.fresh.Take(1)
	if contended {
		s.contend()
	}
	if n == 0 {
		return nil, 0
	}
	return s.arena.Table.FirstLife(i)
}

// allocRange takes a slot that no shard was given yet. If the shard's range is empty, the n-1 slots
// after it become the new range, or fewer in a small pool. It returns nil if every slot that has
// memory was given to a shard; it does not grow the pool.
//
// If another goroutine has the lock, allocRange takes one slot directly from the table, so it
// never waits.
func (s *shard) allocRange(n uint32) (*slots.Hook, uint64) {
	if !s.mu.TryLock() {
		s.contend()
		return s.alloc(1)
	}
	defer s.mu.Unlock()
	if s.fresh.Left() > 0 {
		return s.alloc(1) // checked under the lock: only its holder makes a range
	}
	return s.alloc(min(n, max(s.arena.Table.Pages().Limit/4, rangeLeast)))
}

// alloc is allocRange for exactly n slots, unless fewer have memory. If n is more than 1, the
// caller holds the lock, and the range is empty.
func (s *shard) alloc(n uint32) (*slots.Hook, uint64) {
	t := &s.arena.Table
	lo, hi := t.Allot(n)
	if lo == hi {
		return nil, 0
	}
	s.setHome(lo, hi)
	if next := lo + 1; next < hi {
		s.fresh.Set(next, hi)
		if s.fifo {
			s.unworn.Store(1)
		}
	}
	return t.FirstLife(lo)
}

// shards are those of an arena.
type shards []*shard

// lock locks all shards, and unlock unlocks them. The caller holds verdicts.mu.
func (list shards) lock() {
	for _, s := range list {
		s.lock()
	}
}

func (list shards) unlock() {
	for _, s := range list {
		s.unlock()
	}
}

// pending returns about how many slots wait for their grace period.
func (list shards) pending() (n int) {
	for _, s := range list {
		waiting, _ := s.pending()
		n += waiting
	}
	return n
}

// removed reports whether a slot has come since the last seal.
func (list shards) removed() bool {
	for _, s := range list {
		if s.removed() > 0 {
			return true
		}
	}
	return false
}

// Arena owns the slots of one pool, from vacant to vacant. It hands slots out (Claim), makes them
// live (Publish), ends their lives (Remove, Removals, Abandon, and Take of its shards) and
// reclaims them. Package pool adds the verbs, guards, loops and options that users see.
//
// Call Init before all else: the zero Arena is not ready. All other methods are safe for
// concurrent use, except those of snapshot.go that fill an Arena.
type Arena struct {
	Config

	// Table has the pages. Only this package uses its fields, except Current, by which look-ups
	// find slots.
	Table slots.Table

	affinity

	stampPerSlot bool   // slots that were removed before a guard was pinned must not wait for it (L10)
	mostOwned    uint32 // the most slots that an operation owns at a time
	fastBelow    uint64 // removals of handles below it have nothing to note: LastLife, or 0 if stampPerSlot or apartBelow is not 0
	plainBelow   uint64 // fastBelow, or 0 if there is a Reset
	apartBelow   uint64 // removals of handles below it may take the long way (isApart): 0 in most pools, so that they ask no more

	Events
	apart // which removals take the long way

	// All operations read the fields above, but for the last three, and few write those below; a word of 8
	// bytes comes before.
	_ [48 - 2*bits.UintSize/8]byte

	holds
	verdicts   verdicts
	refusals   refusals
	reported   reported
	quarantine quarantine // with the tag coatcheck_debug: reclaimed slots that are not used yet (debug_on.go)
	magazines

	// A line ends here. Removals read the next one, which is seldom written.
	waiters waiters
	_       [64]byte // a pool's clock follows
}

// Zero is the text of panics on use of a zero Arena, which is a zero Pool's.
const Zero = "pool: use of a zero Pool; make one with New or Must"

// Closed is the text of panics on use of a closed Magazine, which is a Worker's.
const Closed = "pool: use of a Worker that is closed, or not from Pool.Worker"

// Shared is the text of panics where two goroutines use a Magazine, which is a Worker's, at once.
const Shared = "pool: two goroutines use a Worker at once"

// Config has the properties of an Arena.
type Config struct {
	slots.Layout
	Domain *epoch.Domain

	Slots      uint64 // the most slots that there may ever be
	Pages      slots.PageSizes
	Shards     int    // the most shards that there may be
	Capacity   uint64 // the most slots in use, or 0 for Slots
	MaxLimbo   int64  // the most slots that wait before the arena stops growing; 0: a default
	Origin     uint32 // with which generation each slot begins (slots.OriginsOf)
	FreshStage uint32 // the first live stage of slots that were never used, if it is above 1
	AllShards  bool   // all are made at once; without it, where goroutines meet
	FIFO       bool   // shards hand out the slot that was removed first
	Fixed      bool   // all memory is allocated from the start, and kept
	Replays    bool   // what a call does must not depend on how many guards there once were

	// Name returns what the texts of refusals call the pool. It may be nil.
	Name func() string
}

// Init makes an empty arena, whose Events are set. Call Preallocate after it, or what fills the arena from a snapshot.
func (a *Arena) Init(c Config) {
	a.Config = c
	a.stampPerSlot = c.Capacity > 0 || c.MaxLimbo > 0
	switch {
	case a.OnRemove != nil:
		a.apartBelow, a.apartRank = math.MaxUint64, math.MaxUint64
	case !a.stampPerSlot:
		a.fastBelow = slots.LastLife
	}
	a.affinity.init(a.OnInsert == nil, a.room().bucketLimit)
	if c.Reset == nil {
		a.plainBelow = a.fastBelow
	}
	a.mostOwned = slots.Batch
	if c.Capacity > 0 {
		// Thirty-two operations leave half of the slots to others.
		a.mostOwned = uint32(min(max(c.Capacity/64, 1), slots.Batch))
	}
	a.Table.Init(slots.Setup{
		Layout: c.Layout, Slots: c.Slots, Capacity: c.Capacity, Pages: c.Pages,
		Origin: c.Origin, FreshStage: c.FreshStage, Fixed: c.Fixed, Stamps: a.stampPerSlot,
		NewFirst: c.FIFO && c.Capacity > 0,
	})
	if c.AllShards {
		a.start(c.Shards)
	} else {
		a.start(1)
	}
}

// Preallocate allocates everything, if Fixed asks for it. Later calls allocate only where a Reset panics, where
// Resets or calls of Synchronize keep more batches apart than a shard's lists have room for, and for slots that
// replace exhausted ones.
func (a *Arena) Preallocate() {
	if a.Fixed {
		a.Table.Provide(a.Capacity)
		a.Table.Pages().MakeCounts()
		a.waiters.queueOf()
	}
}

// Grow gives memory to n slots beyond those that were handed out, and to what shards may have taken
// ahead when the last of n insertions comes. These are no more shards than insertions came before it.
//
// The wrong version gives memory for all shards that there may be, whatever n is: 2.3 MB for one value
// of 4 KB where two processors have eight shards, and 258 MB with 1,024.
func (a *Arena) Grow(n uint64) {
	if n == 0 {
		return
	}
	ahead := min(n-1, uint64(a.Config.Shards)-1) * (slots.Batch - 1)
	for a.Table.ProvideMore(n + ahead) {
	}
	if a.FIFO {
		for _, s := range a.shards() {
			if s.unworn.Load() == 0 && a.Table.Unused() > 0 {
				s.putOff()
			}
		}
	}
}

// putOff makes the slots of a queue's freelist ready again, before the others, because there are some that
// were never used, and these come first. Each burns a life, or it would enter a freelist twice with one
// generation (I5).
func (s *shard) putOff() {
	s.lock()
	defer s.unlock()
	s.unworn.Store(1)
	a, used, b := s.arena, slots.Chain{}, burner{shard: s}
	for i := slots.Low(s.free.TakeAll()); i != slots.None; {
		slot := a.Table.Slot(i)
		word := slot.Word.Load()
		next := slots.Low(word)
		if word, ok := b.burn(slot, i, a.Table.GenerationOf(i, word)+1, slots.None); ok {
			used.Append(slot, i, word)
		}
		i = next
	}
	b.settle()
	s.ready.keepFirst(&used)
}

// Find returns the slot that h may name. It returns nil if that slot has no memory, or if the
// Arena is zero. The slot need not be live with h; Remove, Take and Hold check that.
func (a *Arena) Find(h uint64) *slots.Hook {
	if t := a.Table.Current.Load(); t != nil && slots.Low(h) < t.Limit {
		return t.At(slots.Low(h))
	}
	return nil
}

// Waiting returns about how many slots wait for their grace period, or for holds.
func (a *Arena) Waiting() int { return int(a.parked.Load()) + a.shards().pending() }
