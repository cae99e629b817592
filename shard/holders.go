package shard

import "coatcheck/internal/atom"

// A hold keeps one slot from being reused, for as long as it takes, and nothing
// else: the epoch goes on, and every other slot circulates.
//
// A guard cannot do that. It says when its holder began to look, so that
// everything removed since must wait for it. A hold says which slot it is about,
// and the one who reclaims asks the slot:
//
//	          removed               r < S: the reclaimer finds
//	live ───────────────▶ limbo ──┬─ nobody holding ─▶ freelist
//	 ▲ hold                 ▲     │
//	 │                      │     └─ holders: parked ─┐ in no list, named by its
//	 └ count 0 → 1 → … → 0  │                         │ count alone
//	                        └── the last drop leaves ─┘
//
// So a hold costs its slot's reclaimer one look at a count, and nobody anything
// where there are none: Refs says so for a whole batch, and a page gets its counts
// with its first hold, unless MakeCounts made them.
//
// Why no hold is missed (I10): whoever holds raises the count and then looks at
// the slot's word again. If that is still the handle's, the slot is unlinked after
// the count was raised, and reclaimed after it was unlinked, so the reclaimer
// sees the count (P8). If not, the hold has failed, and what was raised is
// dropped like any other. The wrong version looks at the word and then raises
// the count: between the two the slot may go all the way to its next life.
//
// The idea is that of counted references as in Herlihy's and Michael's hazard
// schemes, with one difference: nobody searches for holders, since each slot
// keeps its own count, so 10,000 holds make reclaiming no slower than one.

// holders are the counts of one page.
type holders struct {
	// counts has a word for each slot: how many hold it, and whether it is parked.
	//
	//	writers  hold and drop, by adding; park and leave, by compare-and-swap
	//	moves    n → n+1, n → n−1, n → n|parked for n > 0, 0|parked → 0
	//	orders   the raise publishes the hold to the reclaimer (P8)
	counts []atom.Uint32
}

// parked marks the count of a slot whose grace period is over and that is in no
// list: who brings its count to nothing owns it. A slot has fewer than 2^31
// holders because each is an object of some 40 bytes.
const parked = 1 << 31

// Hold tries to hold the live slot that h names. It returns the slot's count, for
// Drop, or nil if h is not live. It costs three locked instructions.
func (s *Shard[T]) Hold(t *Pages, slot *Slot[T], h uint64) *atom.Uint32 {
	if slot.Word.Load() != h {
		return nil // before anything is written: a stale handle touches nothing
	}
	count := t.count(Low(h))
	// Refs comes first, so that it is not 0 while a hold stands.
	s.space.Refs.Add(1)
	count.Add(1) // publishes (P8)
	if slot.Word.Load() == h {
		return count // held: it was live after the count was raised (I10)
	}
	s.Drop(slot, Low(h), count)
	return nil
}

// count returns the count of slot i, and makes those of its page if it has none
// yet. Holds that race for a page's first make counts each, and one's are used: a
// page that is not preallocated has 32 KiB of them at most.
func (t *Pages) count(i uint32) *atom.Uint32 {
	m, j := t.margin(i)
	h := m.holders.Load()
	if h == nil {
		h = &holders{make([]atom.Uint32, min(t.Mask, t.Limit-1-(i-j))+1)}
		// Failure means that another hold made them, and nobody has used these.
		if !m.holders.CompareAndSwap(nil, h) {
			h = m.holders.Load()
		}
	}
	return &h.counts[j]
}

// MakeCounts makes the counts of every page, so that no hold allocates them.
func (t *Pages) MakeCounts() {
	for k := range t.Base {
		t.count(uint32(k) << (t.Shift & 31))
	}
}

// Drop ends a hold of slot i. The last one of a parked slot sends it back to
// limbo, which may reclaim. It costs two locked instructions.
func (s *Shard[T]) Drop(slot *Slot[T], i uint32, count *atom.Uint32) {
	last := count.Add(^uint32(0)) == parked
	// Success makes the caller the slot's owner (I1). Failure means that a hold
	// that came too late has raised the count again, or has dropped it since and
	// was faster: the slot is that one's to send.
	last = last && count.CompareAndSwap(parked, 0)
	s.space.Refs.Add(-1)
	if last {
		// Its grace period is over, and it could go to a freelist at once. But a
		// queue has one appender at a time, and nobody waits for it: one way
		// back is easier to trust than two.
		was := Pack(Generation(slot.Word.Load())-1, i) // before it was removed
		s.space.Parked.Add(-1)
		c := ChainOf(was, was, 1)
		s.RetireChain(&c)
	}
}

// held answers whether any slot is held, hence whether a batch that was unlinked
// before must be asked slot by slot.
func (sp *Space[T]) held() bool { return sp.Refs.Load() != 0 } // observes (P8)

// Park leaves slot i, which the caller owns and whose grace period is over, to its
// holders. It answers false if there are none, and the slot is the caller's as
// before. Whatever the caller wants to know of the slot it must read first:
// the last drop may own it before Park returns.
func (sp *Space[T]) Park(i uint32) bool {
	m, j := sp.Table.Pages().margin(i)
	h := m.holders.Load()
	if h == nil || h.counts[j].Load() == 0 {
		return false
	}
	sp.Parked.Add(1) // before it is true, so that it never falls short
	count := &h.counts[j]
	for {
		n := count.Load() // observes (P8)
		if n == 0 {
			sp.Parked.Add(-1)
			return false
		}
		// Success gives the slot away. Failure means that a hold came, and will
		// fail, or went.
		if count.CompareAndSwap(n, n|parked) {
			return true
		}
	}
}
