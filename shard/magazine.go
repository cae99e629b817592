package shard

import (
	"slices"

	"coatcheck/epoch"
	"coatcheck/internal/atom"
	"coatcheck/shard/slots"
)

// A slot's way through a Magazine (Bonwick's word for such a cache):
//
//	        Claim                     Remove
//	ready ─────────▶ the goroutine ──────────▶ bag: │ sealed │ sealed │ open │
//	  ▲                                              │
//	  └──────────── grace period over ──────────────┘
//
// A removed slot waits in the bag for its grace period, as in limbo. The open part of the bag
// is sealed with an epoch stamp now and then, and a sealed part becomes ready when its stamp
// has passed (magazine_bag.go). Both are arrays, because each step in a list is a cache miss. In the
// bag the words also link each slot to the one removed before, for the way to limbo.
//
// reach bounds the slots that a magazine keeps. It starts with firstReach. It doubles when the
// magazine fetches slots after it gave some away, and while removed slots become ready just
// when insertions need them. Flush makes it small again. The naive way has one reach for all:
// with firstReach, bursts of 100 to 2,000 insertions and as many removals take 1.5 times as long
// (14 ns a pair instead of 9), and replacements among a thousand values 1.15 times as long.

// Magazine keeps vacant slots for one goroutine at a time. No other goroutine sees them, so an
// insertion costs no locked instruction of its own, and a removal one.
//
// All fields but view, newer and older are plain: the goroutine has them to itself.
type Magazine struct {
	ready []slots.Cached // Next takes the last

	bag   []slots.Cached // what was removed, in that order; when it is full, refillReady must run
	used  int            // how many it has, those before start included
	start int            // the bag begins here; the slots before it have become ready
	open  int            // the open part begins here
	top   uint32         // the index of the last slot in the bag, or None

	fastBelow    uint64        // a copy of Arena.fastBelow
	apartBelow   uint64        // a copy of Arena.apartBelow
	stampPerSlot bool          // a copy of Arena.stampPerSlot
	stamp        uint64        // the greatest of the removals in the open part, if stampPerSlot; else an epoch
	clock        *epoch.Domain // the arena's, one load nearer

	// view is a table of pages, mostly the current one.
	//
	//	writers  refresh, for the goroutine; show
	//	readers  the goroutine
	//	moves    to younger tables only
	view atom.Pointer[slots.PageTable]

	arena *Arena
	shard *shard

	newer, older *Magazine // in the list of magazines, under its lock

	seals    slots.StampList[int] // the ends of the sealed parts
	frontier epoch.Frontier       // which of them have passed
	turns    uint32               // counts calls of begin

	reach      int  // the most slots that it keeps; 0: none
	maxReach   int  // reach may grow to this
	batch      int  // slots in a sealed part
	overflowed bool // it gave slots away since it fetched some
	inTime     int  // how often removed slots were ready when they were needed, since the reach grew
}

const (
	// wideReach is the reach to which a magazine grows if removed slots are ready in time,
	// and wideBytes bounds their memory. Larger ones would save hardly any scans, and exceed
	// the first cache.
	wideReach = 1024
	wideBytes = 64 << 10

	// inTimeToGrow is how often removed slots must be ready in time before the reach grows.
	inTimeToGrow = 8

	leastReach = 4 // the least that is of use

	// reachShare is how many magazines a bounded pool can feed. With more, they would keep too
	// many slots from other goroutines.
	reachShare = 16
)

// MaxReach is the most slots that a magazine keeps. A larger one serves longer bursts and
// keeps more memory: two entries of 16 bytes a slot, and the slot.
const MaxReach = 4096

// initialReach returns the reach that the magazine begins with, and the least.
func (m *Magazine) initialReach() int { return min(firstReach, m.maxReach) }

// setReach changes how many slots the magazine may keep, and how many a sealed part has. Above
// wideReach parts grow no more: slots that are not sealed wait for later guards too.
func (m *Magazine) setReach(n int) {
	m.arena.magazines.reach.Add(int64(n - m.reach))
	m.reach, m.batch = n, min(n, wideReach)*3/8
}

// HasNext reports whether a slot is ready.
func (m *Magazine) HasNext() bool { return len(m.ready) > 0 }

// Next takes a slot that is ready, and returns it with the handle that it will have. There must
// be one. The caller then owns the slot.
func (m *Magazine) Next() (*slots.Hook, uint64) {
	n := len(m.ready) - 1
	k := &m.ready[n]
	m.ready = m.ready[:n]
	return k.Slot(), k.H
}

// Claim is like Arena.Claim, but first takes a slot that is ready. If none is, it takes slots
// from the bag if some have passed, or a run from the shard's lists, or any that the arena finds.
func (m *Magazine) Claim() (*slots.Hook, uint64, error) {
	m.mustBeOpen()
	if s := m.shard; slots.Poisons {
		if m.reclaimAtOnce(); m.arena == nil {
			return s.claim() // a Reset has closed the magazine
		}
	}
	a := m.arena // a Reset may close the magazine
	slot, h, err := m.claim()
	return slot, h, a.refusals.count(err)
}

// claim is Claim for a call that may go on if it is refused.
func (m *Magazine) claim() (*slots.Hook, uint64, error) {
	if m.HasNext() {
		slot, h := m.Next()
		return slot, h, nil
	}
	a, s := m.arena, m.shard
	if m.reach == 0 {
		return s.claimSlow()
	}
	if m.used-m.start >= m.batch/2 && m.used > m.start {
		if m.refillReady(); m.HasNext() {
			m.noteInTime()
			return m.claim()
		}
	}
	turn := m.begin()
	limit := min((m.reach-m.batch)/2, m.reach-(len(m.bag)-m.start), slots.Batch)
	m.ready = slices.Grow(m.ready, limit)
	m.ready = m.ready[:s.popMany(m.ready[:limit])]
	if !m.HasNext() {
		first, n, _ := s.fresh.Take(limit)
		for i := n - 1; i >= 0; i-- { // the first one last
			slot, h := a.Table.FirstLife(first + uint32(i))
			m.ready = append(m.ready, slots.NewCached(slot, h))
		}
	}
	m.mustBeAlone(turn)
	if m.HasNext() {
		m.noteFetched()
		return m.claim()
	}
	slot, h, err := s.claimSlow()
	if err != nil && m.used > m.start {
		m.retireBag() // the slots that only this magazine can have
		slot, h, err = s.claimSlow()
	}
	if err != nil && m.HasNext() { // a Reset has used the magazine
		return m.claim()
	}
	return slot, h, err
}

// noteFetched records that the magazine took slots from the shard's lists. If it gave some away
// before, a greater reach would have kept these.
func (m *Magazine) noteFetched() {
	if m.overflowed {
		m.overflowed = false
		m.setReach(min(2*m.reach, m.maxReach))
	}
}

// noteInTime records that recycled slots alone met the demand. If they always do, a larger reach
// costs no memory but its slots, and one scan of the pin cells serves more insertions.
func (m *Magazine) noteInTime() {
	wide := min(2*m.reach, m.maxReach)
	if m.inTime++; m.inTime < inTimeToGrow || wide > wideReach || wide*int(m.arena.Size) > wideBytes {
		return
	}
	m.inTime = 0
	m.setReach(wide)
}

// refresh makes the current table the magazine's view. If the compare-and-swap fails, another goroutine has shown a table,
// and refresh looks again. The wrong version believes that the other table is not older. It may be: while a Trim shows its
// table, pages are added and come back. Then removeSlow refuses a live handle.
func (m *Magazine) refresh(t *slots.Table) {
	for {
		old := m.view.Load()
		// The table is loaded after the view, so it is not older.
		if now := t.Pages(); now == old || m.view.CompareAndSwap(old, now) { // observes (P2)
			return
		}
	}
}

// begin begins a part of a slow half that runs no user code, and mustBeAlone ends it. It panics if
// another call has come meanwhile: two goroutines use a Worker at once. That is not noticed always,
// but soon, and it costs the fast halves nothing. A slot may have two owners by then.
func (m *Magazine) begin() (turn uint32) {
	m.turns++
	return m.turns
}

func (m *Magazine) mustBeAlone(turn uint32) {
	if m.turns != turn {
		panic(Shared)
	}
}

// mustBeOpen panics if the magazine is closed, or nil, as that of a zero Worker.
func (m *Magazine) mustBeOpen() {
	if m == nil || m.arena == nil {
		panic(Closed)
	}
}

// Remove ends the life of the slot that h names, and puts the slot into the bag. It reports
// whether h was live. It panics if the magazine is closed.
//
// Remove does not ask whether the view is the current table. If the word changes, the slot was
// live where the view shows it, because a page that was given up has only vacant words. If not,
// removeSlow looks again. The wrong version believes the failure, and refuses a handle whose page
// came back after the view was taken.
//
// Its frame is small whatever T is, and so needs no check of the stack.
//
//go:nosplit
func (m *Magazine) Remove(h uint64) bool {
	bag, n := m.bag, m.used
	if t := m.view.Load(); uint(n) < uint(len(bag)) && slots.Low(h) < t.Limit {
		// The link is not to the slot itself (I4): a slot in the bag is not live, and no other
		// goroutine takes it out.
		if slot := t.At(slots.Low(h)); slot.Word.CompareAndSwap(h, slots.Vacated(h, m.top)) {
			bag[n] = slots.NewCached(slot, slots.Reborn(h))
			m.used, m.top = n+1, slots.Low(h)
			if h >= m.fastBelow {
				if h >= slots.LastLife || h < m.apartBelow && m.arena.isApart(h) {
					m.passOn(h)
				} else if m.clock.Epoch() != m.stamp {
					m.restamp() // while E is the stamp that was taken last, another one would be the same
				}
			}
			return true
		}
	}
	return m.removeSlow(h)
}

// passOn takes the slot that came into the bag last, as h, out of it. It calls OnRemove, if there is one, and
// then keeps the slot. Else it sends the slot to limbo, because it has no life left, or may skip some.
//
//go:noinline
func (m *Magazine) passOn(h uint64) {
	last := m.used - 1
	slot, s := m.bag[last].Slot(), m.shard
	m.used, m.top = last, slots.None
	if last > m.start {
		m.top = slots.Low(m.bag[last-1].H)
	}
	if s.arena.OnRemove != nil {
		m.tell(slot, h)
		return
	}
	// Limbo's top is not this slot, which is the magazine's (I4).
	seen := s.limbo.Head.Load()
	slot.Set(slots.Vacated(h, slots.Low(seen)))
	s.retire(slot, h, seen)
}

// removeSlow is Remove if the bag is full, the view is too short or not current, or h is not
// live. It corrects what it can and calls Remove again, or removes by the arena.
func (m *Magazine) removeSlow(h uint64) bool {
	m.mustBeOpen()
	if m.reach > 0 && m.used == len(m.bag) {
		m.refillReady()
	}
	m.refresh(&m.arena.Table)
	switch {
	case slots.Low(h) >= m.view.Load().Limit:
		return false
	case m.used == len(m.bag):
		return m.shard.remove(h)
	}
	// The wrong version asks whether refresh has changed the view, and believes Remove's look if it
	// has not. A Trim may have shown the current table since that look.
	return m.view.Load().At(slots.Low(h)).Word.Load() == h && m.Remove(h)
}

// Taker returns the shard by which a value must be taken, if limbo needs it moved and marked
// before. Otherwise it returns nil; then call Remove and Last.
func (m *Magazine) Taker(h uint64) *shard {
	m.mustBeOpen()
	if m.reach == 0 || m.arena.Reset != nil || h >= slots.LastLife || h < m.apartBelow && m.arena.isApart(h) {
		return m.shard
	}
	return nil
}

// Last returns the slot of this magazine that was removed last. It finds the slot by the bag,
// because the table from before the removal might show a page that was given up.
func (m *Magazine) Last() *slots.Hook { return m.bag[m.used-1].Slot() }

// Flush gives all slots back. It waits for the shard's lock. It panics if the magazine is closed.
func (m *Magazine) Flush() {
	m.mustBeOpen()
	c := m.empty(Caller)
	m.setReach(m.initialReach())
	m.overflowed = false
	m.bag = slices.Grow(m.bag[:0], m.batch)[:m.batch]
	m.shard.retireLate(&c, Caller)
}

// empty gives back the slots that are ready, and returns those in the bag.
func (m *Magazine) empty(who Retirer) slots.Chain {
	m.giveBack(who)
	return m.emptyBag()
}
