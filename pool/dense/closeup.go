package dense

import (
	"math/bits"
	"slices"

	"coatcheck/pool/internal/handle"
)

// closer removes the marked among the first n positions, and moves the others side by
// side.
//
// It is one pass over the marks. In order, the run of living values between two gaps
// moves down by the number of dead before it. A run is moved as a block; only the
// positions in its slots are written one by one. Marks are read 64 at a time, and a run
// of dead values takes one step.
type closer[T any] struct {
	*room[T]
	n int

	to      int      // where the next living value goes
	from    int      // the first position not visited yet
	gone    int      // how many values have gone
	spent   int      // how many of their slots are exhausted
	waiting []uint32 // the slots that wait; see next
	line    *line    // or nil

	joined int             // the position from which on values are new in Values
	moved  *movedValues[T] // notes what goes, moves or joins; or nil
}

// closeUp removes the marked among the n positions of d, and returns how many values were
// created and destroyed.
func (s *Store[T]) closeUp(d *room[T], n int) (created, destroyed int) {
	s.fold()
	created = max(n-s.alive, 0) // less than 0 only after a call overlapped a Refresh
	if d.dead.empty() {
		s.moved().joinAll(d.handles[:n], s.alive)
		s.alive, s.base = n, n
		return created, 0
	}
	c := closer[T]{room: d, n: n, waiting: (*s.waiting.Load())[:s.waits], line: s.line, joined: s.alive, moved: s.moved()}
	if s.options.Unordered {
		c.fillGaps()
	} else {
		c.inOrder()
	}
	d.dead.clear()
	clear(d.values[c.to:n])             // drops the pointers in them
	slices.Reverse(c.waiting[s.waits:]) // the first dead one's slot comes first
	s.wait(c.waiting)
	if s.line != nil && s.line.left == 0 {
		s.line = nil
	}
	s.exhausted += c.spent
	s.bound()
	s.alive, s.base = c.to, c.to
	s.tail.Store(uint64(c.to))
	return created, c.gone
}

// marked returns the marks of word i that are below n. There are none above, unless a
// Kill overlapped a Refresh and marked a position that is no longer taken.
func (c *closer[T]) marked(i int, word uint64) uint64 {
	if over := (i+1)*64 - c.n; over > 0 {
		word = word << over >> over
	}
	return word
}

// inOrder closes up in order.
func (c *closer[T]) inOrder() {
	for i, word := range c.dead.set {
		c.closeWord(i*64, c.marked(i, word))
	}
	c.move(c.n)
}

// closeWord closes up at the marks of 64 positions.
func (c *closer[T]) closeWord(first int, word uint64) {
	for at := 0; word != 0; {
		skip := bits.TrailingZeros64(word)
		run := bits.TrailingZeros64(^(word >> skip)) // of dead ones
		at += skip
		c.move(first + at)
		c.leave(first+at, first+at+run)
		at += run
		word = word >> skip >> run
		c.from = first + at
	}
}

// move moves the living from c.from to end down to c.to.
func (c *closer[T]) move(end int) {
	to, from := c.to, c.from
	n := end - from
	c.to += n
	if c.moved != nil {
		c.moved.moveAll(c.handles, from, end, to, c.joined)
	}
	if to == from || n <= 0 { // before the first gap, or between adjacent ones
		return
	}
	values, handles, slots := c.values, c.handles, c.slots
	if n <= shortRun {
		for i := from; i < end; i++ {
			h := handles[i]
			values[to], handles[to] = values[i], h
			place(slots, h.Index(), to)
			to++
		}
		return
	}
	copy(values[to:], values[from:end])
	copy(handles[to:], handles[from:end])
	for i, h := range handles[to : to+n] {
		place(slots, h.Index(), to+i)
	}
}

// place tells a slot that its value is at position at. There is no such slot only after a call
// overlapped a Refresh.
func place(slots []slot, index uint32, at int) {
	if uint(index) < uint(len(slots)) {
		slots[index].at = uint32(at)
	}
}

// shortRun is about the longest run that moves faster one by one than by copy.
const shortRun = 8

// fillGaps moves values from the end into the gaps. As many values live at or behind the
// new end as there are gaps before it.
func (c *closer[T]) fillGaps() {
	c.to = c.n
	for i, word := range c.dead.set {
		c.to -= bits.OnesCount64(c.marked(i, word))
	}
	c.from = c.to
	for i, word := range c.dead.set {
		c.fillWord(i*64, c.marked(i, word))
	}
	c.moved.joinAll(c.handles[:c.to], c.joined)
}

// fillWord fills the gaps among 64 positions.
func (c *closer[T]) fillWord(first int, word uint64) {
	values, handles, slots := c.values, c.handles, c.slots
	for ; word != 0; word &= word - 1 {
		gap := first + bits.TrailingZeros64(word)
		c.leave(gap, gap+1)
		if gap >= c.to {
			continue
		}
		from := c.dead.nextAbsent(c.from)
		if from >= c.n {
			return // a Kill overlapped: see marked
		}
		c.from = from + 1
		h := handles[from]
		if c.moved != nil && gap < c.joined { // joinAll notes the others
			c.moved.move(h, from, gap, c.joined)
		}
		values[gap], handles[gap] = values[from], h
		place(slots, h.Index(), gap)
	}
}

// leave ends the slots of the positions from first to end.
func (c *closer[T]) leave(first, end int) {
	slots, hs := c.slots, c.handles[first:end]
	if c.moved != nil {
		c.moved.leaveAll(hs, first, c.joined)
	}
	for _, h := range hs {
		if uint(h.Index()) >= uint(len(slots)) {
			continue // see place
		}
		last := h.Generation()
		if c.line != nil {
			last = c.line.leave(h.Index(), last)
		}
		slots[h.Index()].end(last)
		if last == handle.Last {
			c.spent++
			continue
		}
		c.waiting = append(c.waiting, h.Index())
	}
	c.gone += len(hs)
}
