package shard

import "slices"

// With a Reset, reclaiming calls user code. It may use the pool in any way, take long, panic
// or exit. So it runs under no lock, on slots that were taken out of their batch before. They
// count as the caller's. What it leaves undone goes back to the backlog, with the stamps that
// it had.

// resets is a run of slots of one batch, for which one goroutine calls Reset.
type resets struct {
	source, target *shard
	stamp          uint64 // the batch's, as least and number are
	leastStamp     uint64
	number         uint64
	n              uint32 // how many slots the run has
	chain          chain  // those that are left
}

// take takes as many slots out of b, which has passed, as a run may have. In a bounded pool a
// run is short, so that an insertion finds one of the others. A shard has a bounded number of
// runs, and take reports false if there are as many: a Reset that inserts may reclaim, and would
// otherwise call itself for as many slots as wait.
func (r *resets) take(m *round, b *stamped[batch]) bool {
	s := m.source
	if len(s.runs) >= runsMost {
		return false
	}
	r.source, r.target, r.stamp, r.leastStamp, r.number = s, m.target, b.stamp, b.body.leastStamp, b.body.number
	for limit := min(s.arena.mostOwned, resetRun); r.n < limit && b.body.n > 0; r.n++ {
		r.chain.append(b.body.takeFirst(s.arena))
	}
	s.runs = append(s.runs, r.number)
	s.arena.running.Add(1)
	s.inResets += r.n
	s.waits -= r.n
	m.moved = true
	return true
}

// run calls Reset for the slots of r, and delivers them. If a Reset does not return, its slot
// is zeroed and free, and those after it wait again.
func (r *resets) run() {
	s, a := r.source, r.source.arena
	d := delivery{source: s}
	d.send(r.target, Low(r.chain.first))
	defer func() {
		s.lock()
		defer s.unlock()
		r.end()
		d.deliver()
		a.waiters.wake()
	}()
	held := a.hasHolds() // observes (P7)
	for r.chain.n > 0 {
		slot, i, word := r.chain.takeFirst(a)
		word, owned, reusable := a.finishGrace(slot, i, word, held)
		if !owned {
			continue
		}
		if reusable {
			d.add(slot, i, word) // before the Reset, which may not return
		}
		if a.clean(slot, i); !reusable {
			a.Clear(slot)
		}
	}
}

// end puts back what is left, and ends the run, under the lock.
func (r *resets) end() {
	s := r.source
	k := slices.Index(s.runs, r.number)
	s.runs = slices.Delete(s.runs, k, k+1)
	s.arena.running.Add(-1)
	s.inResets -= r.n
	if r.chain.n > 0 {
		s.putBack(r.stamp, batch{chain: r.chain, leastStamp: r.leastStamp, number: r.number})
	}
}

// resetsPaid returns how many Resets so many removals pay for. If Resets are under way, this call may be
// part of one. Then it runs the slots of one run, and leaves the others to later calls.
//
// The wrong version lets a removal in a Reset pay as one outside. A Reset that removes one value and
// inserts another then has a round for 64 of these, within which 256 Resets have four rounds, and so
// on, as deep as there are runs: 600,000 Resets in one Remove from a pool of 170 slots. One Reset a
// removal is too many as well, since the insertions run some.
func (a *Arena) resetsPaid(removals uint32) uint32 {
	if a.running.Load() > 0 {
		return 0
	}
	return max(removals, reclaimMost)
}
