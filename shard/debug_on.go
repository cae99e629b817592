//go:build coatcheck_debug && !interleave

package shard

import (
	"coatcheck/internal/atom"
	"coatcheck/shard/slots"
)

// With the tag coatcheck_debug, slots are reclaimed as soon as they can be, and then kept from reuse for a while.
// So more of the writes that come too late meet a vacant slot, where they are found.

// quarantineMost is how many reclaimed slots the quarantine keeps. A slot is used again when so many have been
// reclaimed after it.
const quarantineMost = 1024

// quarantine keeps reclaimed slots from reuse, so that a write through a pointer that was kept for too long does not
// meet the next value. DESIGN.md has the whole under "Debug build". It is in front of all freelists, and is closed
// in an arena whose order of reuse must be that of other builds.
//
// A goroutine that puts slots in holds the lock of their shard, and one that takes a slot needs none. So a quarantine
// that a refusal finds empty stays so until it lets go (L11).
type quarantine struct {
	open bool        // set before another goroutine has the arena
	busy atom.Uint32 // 1 while an insertion is in reclaimAtOnce

	mu    atom.Mutex
	chain slots.Chain // under mu: the slot that was reclaimed first is the first
}

// OpenQuarantine has slots wait before they are used again. No other goroutine has the arena yet.
func OpenQuarantine(a *Arena) { a.quarantine.open = true }

func (q *quarantine) isOpen() bool { return q.open }

// exchange puts the slots of c in, and makes c what has waited for long enough.
func (q *quarantine) exchange(c *slots.Chain, t *slots.Table) {
	if !q.isOpen() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.chain.Concat(c)
	*c = slots.Chain{}
	for q.chain.N > quarantineMost {
		c.Append(q.chain.TakeFirst(t))
	}
}

// take takes the slot that has waited for longest, and returns it with the handle that it will have, or nil.
func (q *quarantine) take(t *slots.Table) (*slots.Hook, uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.chain.N == 0 {
		return nil, 0
	}
	slot, i, word := q.chain.TakeFirst(t)
	return slot, slots.Pack(slots.Generation(word)+1, i)
}

// takeAll takes all slots. It calls each with the first, if there is one.
func (q *quarantine) takeAll(each func(first uint32)) {
	q.mu.Lock()
	c := q.chain
	q.chain = slots.Chain{}
	q.mu.Unlock()
	if c.N > 0 {
		c.Link(slots.None)
		each(slots.Low(c.First))
	}
}

// size returns how many slots it has.
func (q *quarantine) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return int(q.chain.N)
}

// reclaimAtOnce reclaims what has passed, for an insertion that looks for a slot afterwards, and calls
// Resets, at most one run. It leaves shards whose lock another goroutine has. Where there are
// thousands of guards it leaves all to the search, since it pays for its scans.
func reclaimAtOnce(a *Arena) {
	q := &a.quarantine
	if !q.isOpen() || !q.busy.CompareAndSwap(0, 1) {
		return // or it is called by a Reset that inserts
	}
	defer q.busy.Store(0)
	for _, s := range a.shards() {
		if waiting, _ := s.pending(); waiting > 0 && s.backlog.reclaimsAtOnce() && s.tryLock() {
			var r round
			if r.reclaimAtOnceAndUnlock(s); r.resets.n > 0 {
				r.resets.call()
				break
			}
		}
	}
}

// reclaimsAtOnce reports whether an insertion reclaims what waits here before it looks for a slot. Then it need not do so again.
func (b *backlog) reclaimsAtOnce() bool {
	return b.arena.quarantine.isOpen() && b.Price() <= freeCells
}

// reclaimAtOnceAndUnlock is reclaimAndUnlock for no insertion, after a seal, so that what was removed just now passes
// too. While a Reset runs it does nothing: the Reset may be that of a Synchronize, and insert.
func (r *round) reclaimAtOnceAndUnlock(s *shard) {
	defer s.unlock()
	if s.backlog.resetting() > 0 {
		return
	}
	if !s.backlog.waiting.full() {
		s.backlog.seal(s)
	}
	r.reclaim(s, nil)
}

// reclaimAtOnce is that of the arena, after the magazine has given away what it has removed. A Reset may close the
// magazine.
func (m *Magazine) reclaimAtOnce() {
	a := m.arena
	if a.quarantine.isOpen() && m.used > m.start {
		m.retireBag()
	}
	reclaimAtOnce(a)
}
