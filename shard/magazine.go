package shard

import (
	"slices"
	"unsafe"

	"coatcheck/epoch"
)

// Magazine keeps vacant slots for one goroutine at a time (Bonwick's word for such a cache).
// No other goroutine sees them, so an insertion costs no locked instruction of its own, and a
// removal one:
//
//	        Claim                     Remove
//	ready ─────────▶ the goroutine ──────────▶ bag: │ sealed │ sealed │ open │
//	  ▲                                              │
//	  └──────────── grace period over ──────────────┘
//
// A removed slot waits in the bag for its grace period, as in limbo. The open part of the bag
// is sealed with an epoch stamp now and then, and a sealed part becomes ready when its stamp
// has passed (bag.go). Both are arrays, because each step in a list is a cache miss. In the
// bag the words also link each slot to the one removed before, for the way to limbo.
//
// reach bounds the slots that it keeps. It starts with firstReach. It doubles when the
// magazine fetches slots after it gave some away, and while removed slots become ready just
// when insertions need them. Flush makes it small again.
//
// All fields are plain: the goroutine has them to itself.
type Magazine[T any] struct {
	ready []kept[T] // Next takes the last

	bag  []kept[T] // what was removed, in that order; when it is full, turn must run
	used int       // how many it has, those before from included
	from int       // the bag begins here; the slots before it have become ready
	open int       // the open part begins here
	top  uint32    // the index of the last slot in the bag, or None

	// stamp is the greatest of the removals in the open part, if exact.
	stamp uint64
	clock *epoch.Domain // the arena's, one load nearer
	exact bool          // a copy of Arena.exact

	pages PageTable  // a copy of the current table, which saves a load
	table *PageTable // that table; nil when there is no copy
	arena *Arena[T]
	shard *shard[T]

	seals []seal // of the sealed parts, in order; stamps grow

	reach  int  // the most slots that it keeps; 0: none
	most   int  // reach may grow to this
	batch  int  // slots in a sealed part
	gave   bool // it gave slots away since it fetched some
	rounds int  // how often removed slots were ready in time since the reach grew
}

// kept is a vacant slot with the handle that it had, or will have.
type kept[T any] struct {
	slot *Slot[T]
	h    uint64
}

// seal says that the slots before end wait for the grace period of a stamp.
type seal struct {
	end   int
	stamp uint64
}

const (
	// firstReach is how many slots a magazine keeps at first. More would save scans on many
	// processors. But what two magazines keep that pass slots to each other must fit into what
	// a shard takes ahead.
	firstReach = 128

	// roundReach is the reach to which a magazine grows if removed slots are ready in time,
	// and roundBytes bounds their memory. Larger ones would save hardly any scans, and exceed
	// the first cache.
	roundReach = 1024
	roundBytes = 64 << 10

	// roundsToGrow is how often removed slots must be ready in time before the reach grows.
	roundsToGrow = 8

	leastReach = 4 // the least that is of use

	// reachShare is how many magazines a bounded pool can feed. With more, they would keep too
	// many slots from other goroutines.
	reachShare = 16
)

// MaxReach is the most slots that a magazine keeps. A larger one serves longer bursts and
// keeps more memory: two entries of 16 bytes a slot, and the slot.
const MaxReach = 4096

// NewMagazine returns an empty magazine.
func (a *Arena[T]) NewMagazine() *Magazine[T] {
	t := a.Table.Pages()
	m := &Magazine[T]{
		arena: a, shard: &a.shards[a.dealt.Add(1)%uint32(len(a.shards))],
		pages: *t, table: t, top: None, clock: a.Domain, exact: a.exact,
		most: MaxReach,
	}
	if m.exact {
		m.stamp = m.clock.Retire()
	}
	if a.Capacity > 0 {
		m.most = int(min(MaxReach, a.Capacity/reachShare))
	}
	if a.MaxLimbo > 0 {
		// What waits in a bag comes on top of MaxLimbo.
		m.most = min(m.most, max(firstReach, int(a.MaxLimbo/reachShare)))
	}
	if a.FIFO || m.most < leastReach {
		m.most = 0 // removed slots go to the queue's end
		return m
	}
	m.setReach(m.first())
	n, seals := m.reach, 8
	if a.Fixed {
		n, seals = m.most, m.most
	}
	m.ready, m.bag = make([]kept[T], 0, n), make([]kept[T], n)[:m.batch]
	m.seals = make([]seal, 0, seals)
	return m
}

// first returns the reach that the magazine begins with, and the least.
func (m *Magazine[T]) first() int { return min(firstReach, m.most) }

// setReach changes how many slots the magazine may keep, and how many a sealed part has. Above
// roundReach parts grow no more: slots that are not sealed wait for later guards too.
func (m *Magazine[T]) setReach(n int) {
	m.arena.cached.Add(int64(n - m.reach))
	m.reach, m.batch = n, min(n, roundReach)*3/8
}

// HasNext reports whether a slot is ready.
func (m *Magazine[T]) HasNext() bool { return len(m.ready) > 0 }

// Next takes a slot that is ready, and returns it with the handle that it will have. There must
// be one. The caller owns the slot.
func (m *Magazine[T]) Next() (*Slot[T], uint64) {
	n := len(m.ready) - 1
	k := m.ready[n]
	m.ready = m.ready[:n]
	return k.slot, k.h
}

// Claim is Arena.Claim that prefers a slot that is ready. If there is none, it takes slots from
// the bag if some have passed, or a run from the shard's lists, or any that the arena finds.
func (m *Magazine[T]) Claim() (*Slot[T], uint64, error) {
	m.mustBeOpen()
	if m.HasNext() {
		slot, h := m.Next()
		return slot, h, nil
	}
	m.refresh() // or a magazine that only inserts would keep pages that Trim gives up
	a, s := m.arena, m.shard
	if m.reach == 0 {
		return a.claim(s)
	}
	if m.used-m.from >= m.batch/2 && m.used > m.from {
		m.turn()
		m.mustBeOpen()
		// A Reset that ran in turn may have used the magazine, and filled it.
		if m.HasNext() {
			m.wentRound()
			return m.Claim()
		}
	}
	chunk := min((m.reach-m.batch)/2, m.reach-(len(m.bag)-m.from), Batch)
	m.ready = slices.Grow(m.ready, chunk)
	m.ready = m.ready[:s.popRun(m.ready[:chunk])]
	if !m.HasNext() {
		first, n := s.freshRun(chunk)
		for i := n - 1; i >= 0; i-- { // the first one last
			slot, h := a.firstLife(first + uint32(i))
			m.ready = append(m.ready, kept[T]{slot, h})
		}
	}
	if m.HasNext() {
		m.fetched()
		return m.Claim()
	}
	slot, h, err := a.seek(s)
	if err != nil && m.used > m.from {
		m.retireBag() // the slots that only this magazine can have
		slot, h, err = a.seek(s)
	}
	if err != nil && m.HasNext() { // a Reset has used the magazine
		return m.Claim()
	}
	return slot, h, a.counted(err)
}

// fetched notes that the magazine took slots from the shard's lists. If it gave some away
// before, a greater reach would have kept these.
func (m *Magazine[T]) fetched() {
	if m.gave {
		m.gave = false
		m.setReach(min(2*m.reach, m.most))
	}
}

// wentRound notes that removed slots became ready when an insertion needed one. If they always
// do, a larger reach costs no memory but its slots, and one scan of the pin cells serves more
// insertions.
func (m *Magazine[T]) wentRound() {
	wide := min(2*m.reach, m.most)
	if m.rounds++; m.rounds < roundsToGrow || wide > roundReach || wide*int(unsafe.Sizeof(Slot[T]{})) > roundBytes {
		return
	}
	m.rounds = 0
	m.setReach(wide)
}

// refresh copies the current table of pages, if it has changed, and reports whether it has. In a
// pool that was trimmed, it forgets slots that are no longer the magazine's, since they may lie
// in pages that went.
func (m *Magazine[T]) refresh() bool {
	t := m.arena.Table.Pages() // observes (P2)
	if t == m.table {
		return false
	}
	m.pages, m.table = *t, t
	if len(t.floors) > 0 {
		clear(m.ready[len(m.ready):cap(m.ready)])
		clear(m.bag[m.used:cap(m.bag)])
		clear(m.bag[:m.from])
	}
	return true
}

// mustBeOpen panics if the magazine is closed, or nil, as that of a zero Worker.
func (m *Magazine[T]) mustBeOpen() {
	if m == nil || m.arena == nil {
		panic(Closed)
	}
}

// Remove ends the life of the slot that h names, and puts the slot into the bag. It reports
// whether h was live. It panics if the magazine is closed.
//
// It does not ask whether the copied table is current. If the word changes, the slot was live
// where the copy shows it: a page that was given up has only vacant words. If not, removeSlow
// looks again. The wrong version believes the failure, and refuses a handle whose page came
// back after the copy was made.
//
// Its frame is small whatever T is, and so needs no check of the stack.
//
//go:nosplit
func (m *Magazine[T]) Remove(h uint64) bool {
	bag, n := m.bag, m.used
	if uint(n) < uint(len(bag)) && Low(h) < m.pages.Limit && h < lastLife {
		// The link is not to the slot itself (I4): a slot in the bag is not live, and no other
		// goroutine takes it out.
		if slot := At[T](&m.pages, Low(h)); slot.Word.CompareAndSwap(h, Vacated(h, m.top)) {
			bag[n] = kept[T]{slot, Reborn(h)}
			m.used, m.top = n+1, Low(h)
			// While E is the stamp that was taken last, another one would be the same.
			if m.exact && m.clock.Epoch() != m.stamp {
				m.restamp()
			}
			return true
		}
	}
	return m.removeSlow(h)
}

// restamp takes the stamp of the slot that came into the bag last. If that is greater than
// those before, these are sealed: they need not wait as long.
func (m *Magazine[T]) restamp() {
	stamp := m.clock.Retire()
	if last := m.used - 1; m.open < last {
		m.open = last
		m.seals = append(m.seals, seal{last, m.stamp})
	}
	m.stamp = stamp
}

// removeSlow is Remove if the bag is full, the copied table is too short or not current, h is
// not live, or the slot has no life left. It corrects what it can and calls Remove again, or
// removes by the arena. A Reset runs after the removal: it may panic.
func (m *Magazine[T]) removeSlow(h uint64) bool {
	m.mustBeOpen()
	full := m.reach > 0 && m.used == len(m.bag)
	switch {
	case full && m.arena.Reset == nil:
		m.turn()
	case full:
		c := m.emptyBag()
		before, after := m.shard.pushLimbo(&c)
		defer m.shard.reclaimPast(before, after)
	}
	changed := m.refresh()
	switch {
	case Low(h) >= m.pages.Limit:
		return false
	case m.used == len(m.bag) || h >= lastLife:
		return m.shard.remove(h)
	case full || changed:
		return m.Remove(h)
	}
	return false
}

// Take is Remove that moves the value out.
func (m *Magazine[T]) Take(h uint64) (v T, ok bool) {
	m.mustBeOpen()
	if m.reach == 0 || m.arena.Reset != nil || h >= lastLife {
		// Limbo needs the value moved and marked before.
		return m.shard.Take(h)
	}
	if ok = m.Remove(h); ok {
		// The slot is the last in the bag, and this magazine's. The table from before the
		// removal might show a page that was given up.
		v = m.bag[m.used-1].slot.Value
	}
	return v, ok
}

// Flush gives all slots back. It waits for the shard's lock, and may run a Reset. It panics if
// the magazine is closed.
func (m *Magazine[T]) Flush() {
	m.mustBeOpen()
	c := m.empty()
	m.setReach(m.first())
	m.gave = false
	// Pointers to slots and the copied table would keep the memory of pages that Trim gives
	// up. They go before a Reset runs, which may use this magazine.
	clear(m.ready[:cap(m.ready)])
	clear(m.bag[:cap(m.bag)])
	m.bag = slices.Grow(m.bag[:0], m.batch)[:m.batch]
	m.pages, m.table = PageTable{Now: m.pages.Now}, nil
	m.shard.retireChain(&c, Reclaim)
}

// Close is Flush, and closes the magazine before a Reset runs, which must not fill it again.
func (m *Magazine[T]) Close(then Then) {
	s, c := m.shard, m.empty()
	m.setReach(0)
	*m = Magazine[T]{}
	s.retireChain(&c, then)
}

// empty gives back the slots that are ready, and returns those in the bag.
func (m *Magazine[T]) empty() chain[T] {
	m.giveBack()
	return m.emptyBag()
}
