package dense

import (
	"math/bits"
	"slices"

	"coatcheck/pool/internal/handle"
)

// closer destroys the marked values at the first n positions, and closes the gaps that they leave.
//
// In order, it passes over the marks once. It reads 64 at a time, and dead neighbours take one step. The
// living values between two gaps move down as a block, by the number of dead ones before them. Only the
// positions in their slots are written one by one. Without an order, it moves values from the end into
// the gaps.
type closer[T any] struct {
	*room[T]
	n int

	dst     int      // the position that the next living value gets
	src     int      // the first position that was not visited yet
	gone    int      // how many values have gone
	spent   int      // how many of their slots are exhausted
	waiting []uint32 // the slots that wait (waiting.go)
	line    *line    // or nil

	joined int             // the values from this position on are new in Values
	moved  *movedValues[T] // notes what goes, moves or joins; nil if nobody asks
}

// closeUp destroys the marked values at the n positions of d, and closes up the others. It returns how
// many values were created and destroyed in the phase.
func (s *Store[T]) closeUp(d *room[T], n int) (created, destroyed int) {
	s.fold()
	created = n - s.alive
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
	clear(d.values[c.dst:n])            // drops the pointers in them
	slices.Reverse(c.waiting[s.waits:]) // the slot of the first dead value is the next to be used
	s.wait(c.waiting)
	if s.line != nil && s.line.liveCount == 0 {
		s.line = nil
	}
	s.exhausted += c.spent
	s.bound()
	s.alive, s.base = c.dst, c.dst
	s.tail.Store(uint64(c.dst))
	return created, c.gone
}

// marked returns the marks of word i at positions below n. There are others only if a Kill overlapped a
// Refresh, and marked a position that is no longer taken.
func (c *closer[T]) marked(i int, word uint64) uint64 {
	if excess := (i+1)*64 - c.n; excess > 0 {
		word = word << excess >> excess
	}
	return word
}

// inOrder closes the gaps so that the order stays.
func (c *closer[T]) inOrder() {
	for i, word := range c.dead.usedWords {
		c.closeWord(i*64, c.marked(i, word))
	}
	c.move(c.n)
}

// closeWord closes the gaps among the 64 positions from first on, whose marks are word.
func (c *closer[T]) closeWord(first int, word uint64) {
	for bit := 0; word != 0; {
		skip := bits.TrailingZeros64(word)
		length := bits.TrailingZeros64(^(word >> skip)) // how many dead ones follow
		bit += skip
		c.move(first + bit)
		c.leave(first+bit, first+bit+length)
		bit += length
		word = word >> skip >> length
		c.src = first + bit
	}
}

// move moves the values from c.src on, up to end, down to c.dst. All of them live.
func (c *closer[T]) move(end int) {
	dst, src := c.dst, c.src
	n := end - src
	c.dst += n
	if c.moved != nil {
		c.moved.moveAll(c.handles, src, end, dst, c.joined)
	}
	if dst == src || n <= 0 { // before the first gap, or between adjacent ones
		return
	}
	values, handles, slots := c.values, c.handles, c.slots
	if n <= fewValues {
		for i := src; i < end; i++ {
			h := handles[i]
			values[dst], handles[dst] = values[i], h
			setPosition(slots, h.Index(), dst)
			dst++
		}
		return
	}
	copy(values[dst:], values[src:end])
	copy(handles[dst:], handles[src:end])
	for i, h := range handles[dst : dst+n] {
		setPosition(slots, h.Index(), dst+i)
	}
}

// setPosition stores the position of a slot's value. The slot is missing only if a call overlapped a
// Refresh.
func setPosition(slots []slot, index uint32, position int) {
	if uint(index) < uint(len(slots)) {
		slots[index].position = uint32(position)
	}
}

// fewValues is about how many values move faster one by one than by copy.
const fewValues = 8

// fillGaps moves values from the end into the gaps. Behind the new end as many values live as there are
// gaps before it.
func (c *closer[T]) fillGaps() {
	c.dst = c.n
	for i, word := range c.dead.usedWords {
		c.dst -= bits.OnesCount64(c.marked(i, word))
	}
	c.src = c.dst
	for i, word := range c.dead.usedWords {
		c.fillWord(i*64, c.marked(i, word))
	}
	c.moved.joinAll(c.handles[:c.dst], c.joined)
}

// fillWord fills the gaps among the 64 positions from first on, whose marks are word.
func (c *closer[T]) fillWord(first int, word uint64) {
	values, handles, slots := c.values, c.handles, c.slots
	for ; word != 0; word &= word - 1 {
		gap := first + bits.TrailingZeros64(word)
		c.leave(gap, gap+1)
		if gap >= c.dst {
			continue
		}
		src := c.dead.nextAbsent(c.src)
		if src >= c.n {
			return // a Kill overlapped: see marked
		}
		c.src = src + 1
		h := handles[src]
		if c.moved != nil && gap < c.joined { // joinAll notes the others
			c.moved.move(h, src, gap, c.joined)
		}
		values[gap], handles[gap] = values[src], h
		setPosition(slots, h.Index(), gap)
	}
}

// leave ends the generations of the slots that have the positions from first to end. A slot then waits, or
// is exhausted.
func (c *closer[T]) leave(first, end int) {
	slots, hs := c.slots, c.handles[first:end]
	if c.moved != nil {
		c.moved.leaveAll(hs, first, c.joined)
	}
	for _, h := range hs {
		if uint(h.Index()) >= uint(len(slots)) {
			continue // see setPosition
		}
		last := h.Generation()
		if c.line != nil {
			last = c.line.lastGeneration(h.Index(), last)
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
