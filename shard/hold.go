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
// where there are none: refs says so for a whole batch, and a page gets its counts
// with its first hold, unless makeCounts made them.
//
// Why no hold is missed (I10): whoever holds raises the count and then looks at
// the slot's word again. If that is still the handle's, the slot is unlinked after
// the count was raised, and reclaimed after it was unlinked, so the reclaimer
// sees the count (P8). If not, the hold has failed, and what was raised is
// dropped like any other. The wrong version looks at the word and then raises
// the count: between the two the slot may go all the way to its next life. An owner
// that publishes its slot held (PublishHeld) raises the count before anybody can unlink it.
//
// The idea is that of counted references as in Herlihy's and Michael's hazard
// schemes, with one difference: nobody searches for holders, since each slot
// keeps its own count, so 10,000 holds make reclaiming no slower than one.

// holders are the counts of one page.
type holders struct {
	// count has a word for each slot: how many hold it, and whether it is parked.
	//
	//	writers  raise and Drop, by adding; park and Drop, by compare-and-swap
	//	readers  park
	//	moves    n → n+1, n → n−1, n → n|parked for n > 0, 0|parked → 0
	//	orders   the raise publishes the hold to the reclaimer (P8)
	count []atom.Uint32
}

// parked marks the count of a slot whose grace period is over and that is in no
// list: the drop that brings its count to zero owns it. A slot has fewer than 2^31
// holders because each is an object of some 40 bytes.
const parked = 1 << 31

// Held is a hold of one slot.
type Held[T any] struct {
	slot  *Slot[T]
	index uint32
	count *atom.Uint32 // the slot's
}

// Value returns the slot's value.
func (k *Held[T]) Value() *T { return &k.slot.Value }

// Hold tries to hold the live slot that h names, until Drop. It reports whether h is
// live. It costs three locked instructions.
func (a *Arena[T]) Hold(h uint64) (k Held[T], ok bool) {
	t := a.Table.Pages()
	i := Low(h)
	if i >= t.Limit {
		return k, false
	}
	slot := At[T](t, i)
	if slot.Word.Load() != h {
		return k, false // before anything is written: a stale handle touches nothing
	}
	k = Held[T]{slot, i, t.count(i)}
	a.raise(k)
	if slot.Word.Load() == h {
		return k, true // it was live after the count was raised (I10)
	}
	a.Drop(k)
	return k, false
}

// PublishHeld makes the slot that was claimed as h live, as Publish does, with a hold
// on it that no removal comes before. It costs two locked instructions more.
//
// The count is raised while the slot is the caller's. Whoever unlinks the slot has
// observed the publication (P1), and so comes after the raise (I10). The wrong version
// publishes and then holds: a removal between the two leaves nothing to hold.
func (a *Arena[T]) PublishHeld(slot *Slot[T], h uint64) Held[T] {
	i := Low(h)
	k := Held[T]{slot, i, a.Table.Pages().count(i)}
	a.raise(k)
	slot.Publish(h)
	return k
}

// raise counts a hold.
func (a *Arena[T]) raise(k Held[T]) {
	// refs comes first, so that it is not 0 while a hold stands.
	a.refs.Add(1)
	k.count.Add(1) // publishes (P8)
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
	return &h.count[j]
}

// makeCounts makes the counts of every page, so that no hold allocates them.
func (t *Pages) makeCounts() {
	for k := range t.Base {
		t.count(uint32(k) << (t.Shift & 31))
	}
}

// Drop ends a hold. The last one of a parked slot sends it back to limbo, which may
// reclaim. It costs two locked instructions.
func (a *Arena[T]) Drop(k Held[T]) {
	last := k.count.Add(^uint32(0)) == parked
	// Success makes the caller the slot's owner (I1). Failure means that a hold
	// that came too late has raised the count again, or has dropped it since and
	// was faster: the slot is that one's to send.
	last = last && k.count.CompareAndSwap(parked, 0)
	a.refs.Add(-1)
	if last {
		// Its grace period is over, and it could go to a freelist at once. But a
		// queue has one appender at a time, and a drop would have to wait for it: one
		// way back is easier to trust than two.
		a.parked.Add(-1)
		var c chain[T]
		c.append(k.slot, k.index, k.slot.Word.Load())
		a.Local().retireChain(&c, a.tag())
	}
}

// held reports whether any slot is held, hence whether a batch that was unlinked
// before must be asked slot by slot.
func (a *Arena[T]) held() bool { return a.refs.Load() != 0 } // observes (P8)

// park leaves slot i, which the caller owns and whose grace period is over, to its
// holders. It reports false if there are none, and the slot is the caller's as
// before. Whatever the caller wants to know of the slot it must read first:
// the last drop may own it before park returns.
func (a *Arena[T]) park(i uint32) bool {
	m, j := a.Table.Pages().margin(i)
	h := m.holders.Load()
	if h == nil || h.count[j].Load() == 0 {
		return false
	}
	a.parked.Add(1) // before it is true, so that it never falls short
	count := &h.count[j]
	for {
		n := count.Load() // observes (P8)
		if n == 0 {
			a.parked.Add(-1)
			return false
		}
		// Success gives the slot away. Failure means that a hold came, and will
		// fail, or went.
		if count.CompareAndSwap(n, n|parked) {
			return true
		}
	}
}
