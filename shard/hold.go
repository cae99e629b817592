package shard

import (
	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
	"coatcheck/shard/slots"
)

// A hold keeps one slot from being reused, and nothing else: the epoch advances, and every
// other slot circulates. A guard says when its holder began to read, so everything removed
// since waits for it. A hold names its slot, and the reclaimer asks the slot:
//
//	          removed               no guard: the reclaimer finds
//	live ───────────────▶ limbo ──┬─ no holders ─────▶ freelist
//	 ▲ hold                 ▲     │
//	 │                      │     └─ holders: parked ─┐ in no list, named by its
//	 └ count 0 → 1 → … → 0  │                         │ count alone
//	                        └── the last Drop sends ──┘
//
// A hold costs its slot's reclaimer one load of a count. Where there are no holds, refs says
// so for a whole batch. Where there are some, all slots of a batch are asked in one loop (slots/held.go). A page gets its counts with its first hold, or from MakeCounts.
//
// No hold is missed (I10). Hold raises the count, and then loads the slot's word again. If the
// word is still the handle, the slot is unlinked after the raise and reclaimed after the
// unlinking, so the reclaimer sees the count (P7). If not, the hold has failed, and its count
// is dropped like any other. The wrong version loads the word and then raises the count:
// between the two, the slot may reach its next life.
//
// The ancestors are counted references and Herlihy's and Michael's hazard schemes. Here no
// reclaimer searches for holders: each slot has its own count, so 10,000 holds make reclaiming
// no slower than one.

// holds counts all holds of an arena.
type holds struct {
	// refs is how many there are.
	//
	//	writers  raise and Drop, before and after the slot's own count
	//	readers  recycler, for a reclaimer; Count
	refs atom.Int64

	// parked is how many removed slots wait for a hold and for nothing else.
	//
	//	writers  park, before the slot's own count; Drop
	//	readers  refuseLocked; Count
	parked atom.Int64
}

// Refs returns how many holds there are.
func (h *holds) Refs() int { return int(h.refs.Load()) }

// mostHolders is far below parked, so that Refs that are never released do not make a count
// look parked.
const mostHolders = 1 << 30

// Hold is a hold of one slot.
type Hold struct {
	slot  *slots.Hook
	index uint32
	count *atom.Uint32 // the slot's
}

// Slot returns the slot.
func (k *Hold) Slot() *slots.Hook { return k.slot }

// Hold tries to hold the live slot that h names, until Drop. It reports whether h is live.
func (a *Arena) Hold(h uint64) (k Hold, ok bool) {
	t := a.Table.Pages()
	i := slots.Low(h)
	if i >= t.Limit {
		return k, false
	}
	slot := t.At(i)
	if slot.Word.Load() != h {
		return k, false // before anything is written: a stale handle changes nothing
	}
	k = Hold{slot, i, t.HolderCount(i)}
	a.raise(k)
	if slot.Word.Load() == h {
		return k, true // it was live after the count was raised (I10)
	}
	a.Drop(k)
	return k, false
}

// raise counts a hold. refs comes first, so that it is not 0 while a hold stands.
func (h *holds) raise(k Hold) {
	h.refs.Add(1)
	if n := k.count.Add(1); n&^slots.Parked > mostHolders { // publishes (P7)
		k.count.Add(^uint32(0))
		h.refs.Add(-1)
		panic("pool: more than a billion Refs of one value")
	}
}

// Drop ends a hold. The last Drop of a parked slot sends the slot back to limbo. It does not
// reclaim the slot itself. It costs two locked instructions.
//
// The wrong version takes a count that comes to zero for the ownership. A hold that comes too late raises the
// count and drops it again, and the slot has two owners.
func (a *Arena) Drop(k Hold) {
	last := k.count.Add(^uint32(0)) == slots.Parked
	// Success makes the caller the slot's owner (I1). Failure means that a late hold has
	// raised the count again, or has dropped it since; that hold's Drop sends the slot.
	last = last && k.count.CompareAndSwap(slots.Parked, 0)
	a.refs.Add(-1)
	if !last {
		return
	}
	// The grace period is over, so the slot could go to a freelist at once. But what fills a
	// freelist holds a lock, and Drop would wait for it. The slot keeps its stamp, so it waits
	// for no guard that was pinned after its removal.
	a.parked.Add(-1)
	var c slots.Chain
	c.Append(k.slot, k.index, k.slot.Word.Load())
	a.Local(hint.Goroutine()).retireLate(&c, Caller)
}

// park leaves slot i to its holders. The caller owns it, and its grace period is over. park
// reports false if there are no holders, and the slot stays the caller's. The caller must read
// what it needs from the slot before: the last Drop may own it before park returns.
func (h *holds) park(t *slots.PageTable, i uint32) bool {
	count := t.HolderCountIfMade(i)
	if count == nil || count.Load() == 0 {
		return false
	}
	h.parked.Add(1) // before the count is, so that it never falls short
	for {
		n := count.Load() // observes (P7)
		if n == 0 {
			h.parked.Add(-1)
			return false
		}
		// Success gives the slot away. Failure means that a hold came, and will fail, or went.
		if count.CompareAndSwap(n, n|slots.Parked) {
			return true
		}
	}
}
