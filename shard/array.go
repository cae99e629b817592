package shard

import "unsafe"

// What a magazine gives away mostly waited in the bag and then for a guard, so it is cold when it
// comes back. A chain is walked by dependent loads: the next slot is found only when the word of the
// one before has come from memory. Behind a guard that was preempted a walk took two thirds of a
// program's time. So a batch that a magazine retires keeps, beside its chain, arrays of the same
// slots. By these a magazine takes a part of it with loads that do not depend on each other, and their
// cache misses overlap.
//
//	chain   first ─▶ 7 ─▶ 3 ─▶ 9 │ ─▶ 4 ─▶ 1 ─▶ None
//	arrays         [ 9   3   7 ] │ [ 1   4 ]
//
// The chain is the truth: Trim, Stats, snapshots and refusals go by it. The arrays repeat it
// (I14). A method of chain that changes the slots changes the arrays alike, or drops them. So no
// other code needs to know of them, and what has lost them goes the way of all others.

// keepsArrays reports whether what magazines retire has arrays. It has none where each slot is filed by
// its own stamp, or is taken out of its batch for a Reset, because no batch keeps its slots together
// there. It has none in an arena that replays: a copy has the lists alone, and must issue the same
// handles. The magazines of a queue keep no slots.
func (a *Arena) keepsArrays() bool { return !a.stampPerSlot && a.Reset == nil && !a.Replays }

// array has the indexes of slots that follow each other in a chain, the last of them first.
type array struct {
	next  *array
	n     uint32
	slots [arraySlots]uint32
}

// arrays are those of a chain, in its order: a ring, of which last has the chain's last slots, so
// that two are joined without a walk. Its zero value has none.
type arrays struct{ last *array }

func (l *arrays) first() *array { return l.last.next }

// addFirst puts b before the others.
func (l *arrays) addFirst(b *array) {
	if l.last == nil {
		l.last, b.next = b, b
	} else {
		l.last.next, b.next = b, l.last.next
	}
}

// removeFirst takes out the first array, of which there must be one.
func (l *arrays) removeFirst() (b *array) {
	if b = l.last.next; b == l.last {
		l.last = nil
	} else {
		l.last.next = b.next
	}
	b.next = nil
	return b
}

// concat puts the arrays of o behind those of l. If one of them has none, nor has the result.
func (l *arrays) concat(o arrays) {
	if l.last == nil || o.last == nil {
		l.last = nil
		return
	}
	l.last.next, o.last.next = o.last.next, l.last.next
	l.last = o.last
}

// bytes returns the memory of the arrays.
func (l *arrays) bytes() (n int64) {
	if l.last == nil {
		return 0
	}
	for b := l.first(); b != l.last; b = b.next {
		n += arrayBytes
	}
	return n + arrayBytes
}

// takeByArrays takes the first slots of c, which has arrays, as many as dst has room for, or all. It
// returns how many. The handles in dst are still to be found: each has the index alone.
func (c *chain) takeByArrays(t *PageTable, dst []cached, spare *spareArrays) (taken int) {
	for taken < len(dst) && c.n > 0 {
		b := c.arrays.first()
		n := min(b.n, uint32(len(dst)-taken))
		b.n -= n
		for _, i := range b.slots[b.n : b.n+n] {
			dst[taken] = newCached(t.At(i), uint64(i))
			taken++
		}
		if c.n -= n; b.n == 0 {
			spare.put(c.arrays.removeFirst())
		}
	}
	c.begin()
	return taken
}

// begin makes c begin with the first slot of its first array.
func (c *chain) begin() {
	if c.n == 0 {
		*c = chain{}
		return
	}
	b := c.arrays.first()
	c.first = uint64(b.slots[b.n-1])
}

// cutArray cuts c, which has arrays, behind the slots of the first one, and returns these.
func (c *chain) cutArray(t *PageTable) (part chain) {
	b := c.arrays.removeFirst()
	i := b.slots[0]
	part = chain{last: t.At(i), n: b.n}
	word := part.last.Word.Load()
	part.tail, part.next = Pack(Generation(word), i), Low(word)
	part.arrays.addFirst(b)
	part.begin()
	c.n -= part.n
	c.begin()
	return part
}

// spareArrays are arrays of a shard that no chain has.
type spareArrays struct {
	first *array
	n     int
}

// take returns an array without slots.
func (p *spareArrays) take() *array {
	b := p.first
	if b == nil {
		return new(array)
	}
	p.first, b.next = b.next, nil
	p.n--
	return b
}

// put keeps an array that a chain has no more, unless there are many.
func (p *spareArrays) put(b *array) {
	if p.n < spareMost {
		b.n, b.next, p.first = 0, p.first, b
		p.n++
	}
}

// list returns arrays of the slots of a bag, or of a part of it, whose chain begins with the last one.
func (p *spareArrays) list(bag []cached) (l arrays) {
	for len(bag) > 0 {
		b := p.take()
		b.n = uint32(min(len(bag), arraySlots))
		for j := range b.n {
			b.slots[j] = Low(bag[j].h)
		}
		l.addFirst(b)
		bag = bag[b.n:]
	}
	return l
}

const arrayBytes = int64(unsafe.Sizeof(array{}))
