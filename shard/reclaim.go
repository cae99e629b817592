package shard

import (
	"cmp"
	"math"

	"coatcheck/epoch"
)

// Reclaiming is the way from limbo back to the freelist:
//
//	limbo ──seal──▶ waiting: chunks with stamps ──grace period──▶ recycle ──▶ freelist
//
// The holder of the shard's lock does all of it, and runs no user code meanwhile. A removal
// that completes a batch tries the lock, and goes on without it if another goroutine has it. So
// a preempted holder delays its shard, and no removal. An insertion that would otherwise be
// refused, Synchronize, Trim, and a Worker that gives slots back wait for it.
//
// The naive way lets each goroutine claim sealed batches without a lock. Then lists fill while
// an insertion looks for a slot, and it cannot tell a full pool from one whose slots move.
//
// A reclaimer takes chunks in order, and stops at the first that waits. Only the goroutine that
// decides about a refusal looks behind it, and into chunks of which a part has passed (sift).
// One call stops after it has visited enough slots, also within a chunk, so that a backlog is
// spread over many calls.

// reclaimMost is how many slots a call visits before it stops. A greater one would make the
// longest Remove longer. It must be above Batch, or a backlog would not shrink.
const reclaimMost = 4 * Batch

// tryReclaim is reclaim that does nothing if another goroutine has the lock. It reports
// whether it had the lock.
func (s *shard[T]) tryReclaim(to *shard[T]) bool {
	if !s.mu.TryLock() {
		return false
	}
	s.locked(to)
	return true
}

// reclaim moves slots from limbo to the freelist of to, or of their home if to is nil; under
// FIFO, to the shard's own. It waits for the lock. It reports whether another call would move
// more at once, and the number of the last seal of which everything has been reclaimed, as of
// all before it.
func (s *shard[T]) reclaim(to *shard[T]) (more bool, done uint64) {
	s.mu.Lock()
	return s.locked(to)
}

// locked is reclaim under mu, which it unlocks.
func (s *shard[T]) locked(to *shard[T]) (more bool, done uint64) {
	for n := uint32(0); ; {
		r, more, done := s.step(to)
		if r.n == 0 {
			return more, done
		}
		r.run()
		if n += r.n; !more || n >= reclaimMost || !s.mu.TryLock() {
			return more, done
		}
	}
}

func (s *shard[T]) step(to *shard[T]) (r resets[T], more bool, done uint64) {
	defer s.unlock()
	m := s.move(to, inOrder)
	return m.resets, m.more, s.done()
}

// move is one call of move.
type move[T any] struct {
	delivery[T]
	to     *shard[T]
	pins   epoch.Pins // what a scan found
	held   bool       // each slot must be asked whether it is held
	resets resets[T]  // slots for which Reset must be called, without the lock

	moved   bool // slots came free, or left for Resets
	more    bool // another call would move more at once
	visited int

	// After sift: how many slots with another life wait for a pin, and the least stamp of all
	// that wait for one.
	blocked int64
	least   uint64
}

// look is how far move looks.
type look uint8

const (
	inOrder look = iota // to the first chunk that waits
	atAll               // at every slot that waits, if some may have passed
)

// move seals what has gathered and moves what has passed. The caller holds mu, and runs
// m.resets without it.
//
// An empty freelist gets what is ready before. The wrong order gives it the few slots that were
// sealed just now. Then it is empty again soon, and what is ready stays.
func (s *shard[T]) move(to *shard[T], far look) (m move[T]) {
	m.from, m.to = s, to
	m.moved = s.fill(to)
	if c := s.seal(); c.chain.n > 0 {
		s.await(c)
	}
	if len(s.waiting) > 0 {
		m.pins = s.arena.Domain.Scan() // after the seal: it speaks of what was unlinked before
		m.held = s.arena.held()        // observes (P7)
		m.takeFirst()
		if far == atAll && !m.more { // or it would overtake what has passed
			m.sift()
		}
		m.deliver()
	}
	return m
}

// takeFirst moves the chunks that have passed, up to the first that has not.
func (m *move[T]) takeFirst() {
	s := m.from
	for k := 0; k < len(s.waiting) && s.waiting[k].stamp < m.pins.Oldest; {
		c := &s.waiting[k]
		switch {
		case m.visited >= reclaimMost:
			m.more = true
			return
		case s.arena.Reset == nil:
			n := c.chain.n
			m.pass(c, reclaimMost)
			if s.waits -= n - c.chain.n; c.chain.n == 0 {
				s.drop(k)
			}
		case c.chain.n > 0:
			m.resets.take(m, c)
			m.more = m.resets.n > 0
			return
		default:
			k++ // all of it is in Resets
		}
	}
}

// pass moves a chunk whose grace period is over, or what a call that visits so many slots can.
//
// If its slots need no visit, it goes to an empty freelist whole, or waits for that. A visit
// costs some 5 ns a slot, since each is found only through the one before.
//
// The home of the first slot decides. If that is this shard, all slots stay. If not, each slot
// is visited, and only those with that home go there. A goroutine that has moved removes slots
// of two homes. To send all to one would mix slots of different cache lines for as long as
// values live.
func (m *move[T]) pass(p *chunk[T], most int) {
	s, a, c := m.from, m.from.arena, &p.chain
	if c.n == 0 {
		return
	}
	m.moved = true
	m.send(m.to, Low(c.first))
	asIs := !poisons && a.plain() && a.worn() == 0 && !m.held
	whole := asIs && !m.sorts
	if s.fifo {
		p.reverse(a)
	}
	if whole {
		c.finish(a) // a chunk that was passed in part begins with an index alone
		if s.fifo {
			m.clean.concat(c)
		} else if whole = m.home.splice(c); !whole && c.n >= spliceLeast && len(s.ready) < readyMost {
			s.ready, whole = append(s.ready, *c), true
		}
	}
	if whole {
		*c = chain[T]{}
	}
	for c.n > 0 && m.visited < most {
		slot, i, word := c.takeFirst(a)
		m.visited++
		if asIs || a.recycle(slot, i, word, m.held) {
			m.add(slot, i, word)
		}
	}
}

// sift moves all slots that have passed, also behind others and within chunks, and counts
// those that wait for a pin. It visits the slots of a chunk only if some may have passed, or
// may wait for a pin that ends by itself.
func (m *move[T]) sift() {
	s, a := m.from, m.from.arena
	m.least = epoch.NoPin
	for k := 0; k < len(s.waiting); k++ {
		c := &s.waiting[k]
		switch {
		case c.chain.n == 0 || c.stamp < m.pins.Oldest: // it waits for Resets
		case a.exact && c.least < m.pins.Guard:
			m.siftChunk(c)
			if c.chain.n+c.inResets == 0 {
				s.drop(k)
				k--
			}
		default:
			m.blocked += c.useful(a)
			m.least = min(m.least, c.least)
		}
	}
}

func (m *move[T]) siftChunk(c *chunk[T]) {
	s, a := m.from, m.from.arena
	if s.fifo && a.Reset != nil {
		c.reverse(a)
	}
	var passed, rest chain[T]
	least, latest := c.stamp, c.stamp
	for c.chain.n > 0 {
		slot, i, word := c.chain.takeFirst(a)
		switch stamp := a.stampOf(i, latest); {
		case stamp >= m.pins.Oldest:
			rest.append(slot, i, word)
			least = min(least, stamp)
			m.least = min(m.least, stamp)
			if Generation(word) != Spent {
				m.blocked++
			}
		case a.Reset == nil:
			passed.append(slot, i, word)
		case m.resets.admit(m, c):
			m.resets.chain.append(slot, i, word)
		default:
			rest.append(slot, i, word)
			least = min(least, stamp)
		}
	}
	c.chain, c.least = rest, least
	s.waits -= passed.n
	m.pass(&chunk[T]{chain: passed, reversed: c.reversed}, math.MaxInt)
}

// fill gives an empty freelist what is ready: of a queue all, of a stack what was removed
// last. It reports whether it did.
func (s *shard[T]) fill(to *shard[T]) bool {
	k := len(s.ready) - 1
	if k < 0 || !s.recipient(cmp.Or(to, s)).splice(&s.ready[k]) {
		return false
	}
	s.ready[k] = chain[T]{}
	s.ready = s.ready[:k]
	return true
}
