package shard

import (
	"math"
	"slices"

	"coatcheck/epoch"
	"coatcheck/internal/cost"
)

// Batches are joined where there are many, since most pass at the same moment. The naive way keeps one
// for each stamp, as long as a guard stays: a pool of 16-byte values took 107 MB instead of 29 after a
// million requests beside one guard, and each request 1.9 times as long.

// joinIfMany makes room for another batch, if there are waitingMost. It joins those that pass at
// the same moment: between their stamps no guard stands. That costs a scan, a look at each batch,
// and a search among them for each guard. So next time there must be twice as many, and those that
// came meanwhile must pay for the scan.
//
// The scan misses a Pin that has read the epoch and not yet claimed its cell. Its epoch may lie
// between the stamps of a joined batch. Then the guard delays the whole batch, until an insertion
// would be refused, which cuts the batch in two.
func (s *shard) joinIfMany() {
	l := &s.waiting
	if l.Len() == waitingMost {
		s.joinAt = waitingMost // it was shorter, or may be joined again
	}
	if l.Len() < s.joinAt && !(s.arena.Fixed && l.Len() == cap(l.List)) {
		return
	}
	l.CloseUp()
	words := (l.Len() + 63) / 64
	s.apart = slices.Grow(s.apart[:0], words)[:words]
	clear(s.apart)
	paid, last := s.added*cellsABatch, uint64(epoch.NoPin)
	if s.arena.Replays {
		paid = math.MaxInt // a copy has other cells, and does not know how many batches came
	}
	if !s.arena.Domain.Epochs(paid, func(e uint64) {
		if e == last {
			return // guards of one time
		}
		last = e
		if k := l.Find(e); k < l.Len() { // it delays that batch, and not the one before
			s.apart[k/64] |= 1 << (k % 64)
		}
	}) {
		return
	}
	cost.Batches(l.Len())
	s.joinNeighbours()
	s.joinAt, s.added = 2*l.Len(), 0
}

// joinNeighbours joins each batch to the one before it, if it is not apart from it and it is
// possible.
func (s *shard) joinNeighbours() {
	l := &s.waiting
	n := 0
	for k := 1; k < len(l.List); k++ {
		a, b := &l.List[n], &l.List[k]
		if s.apart[k/64]&(1<<(k%64)) == 0 && !s.fenced(a.Body.number, b.Body.number) && join(&a.Body, &b.Body) {
			a.Stamp = b.Stamp
			continue
		}
		n++
		l.List[n] = *b
	}
	clear(l.List[n+1:])
	l.List = l.List[:n+1]
}

// cut cuts the first batch in two: what has passed if the oldest guard has that epoch, and the
// rest. It visits all slots of the batch. Batches need it that were joined, or enqueued whole.
func (s *shard) cut(oldest uint64) {
	a, first := s.arena, s.waiting.Entry(0)
	passed := batch{leastStamp: first.Body.leastStamp, number: first.Body.number}
	late := batch{leastStamp: first.Stamp, number: first.Body.number}
	latest := uint64(0)
	for first.Body.N > 0 {
		slot, i, word := first.Body.TakeFirst(&a.Table)
		if stamp := a.Table.StampOf(i, first.Stamp); stamp < oldest {
			passed.Append(slot, i, word)
			latest = max(latest, stamp)
		} else {
			late.Append(slot, i, word)
			late.leastStamp = min(late.leastStamp, stamp)
		}
	}
	switch {
	case late.N == 0: // the stamp of what was enqueued whole may be above those of all slots
		first.Stamp, first.Body = latest, passed
	case passed.N == 0:
		first.Body = late
	default:
		first.Body = late
		s.waiting.Insert(0, latest, passed)
	}
}

// countBatch counts a batch that pays for a join.
func (b *backlog) countBatch() { b.added = min(b.added+1, maxAdded) }

// maxAdded keeps added far from overflow. So many batches pay for more cells than there ever are.
const maxAdded = 1 << 24
