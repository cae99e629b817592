package slots

import "unsafe"

// Array has the indexes of slots that follow each other in a chain, the last of them first.
type Array struct {
	Next  *Array
	N     uint32
	Slots [arraySlots]uint32
}

// Arrays are those of a chain, in its order: a ring, of which last has the chain's last slots, so
// that two are joined without a walk. Its zero value has none.
type Arrays struct{ Last *Array }

// First returns the first array, of which there must be one.
func (l *Arrays) First() *Array { return l.Last.Next }

// addFirst puts b before the others.
func (l *Arrays) addFirst(b *Array) {
	if l.Last == nil {
		l.Last, b.Next = b, b
	} else {
		l.Last.Next, b.Next = b, l.Last.Next
	}
}

// RemoveFirst takes out the first array, of which there must be one.
func (l *Arrays) RemoveFirst() (b *Array) {
	if b = l.Last.Next; b == l.Last {
		l.Last = nil
	} else {
		l.Last.Next = b.Next
	}
	b.Next = nil
	return b
}

// concat puts the arrays of o behind those of l. If one of them has none, nor has the result.
func (l *Arrays) concat(o Arrays) {
	if l.Last == nil || o.Last == nil {
		l.Last = nil
		return
	}
	l.Last.Next, o.Last.Next = o.Last.Next, l.Last.Next
	l.Last = o.Last
}

// Bytes returns the memory of the arrays.
func (l *Arrays) Bytes() (n int64) {
	if l.Last == nil {
		return 0
	}
	for b := l.First(); b != l.Last; b = b.Next {
		n += ArrayBytes
	}
	return n + ArrayBytes
}

// TakeByArrays takes the first slots of c, which has arrays, as many as dst has room for, or all. It
// returns how many. The handles in dst are still to be found: each has the index alone.
func (c *Chain) TakeByArrays(t *PageTable, dst []Cached, spare *SpareArrays) (taken int) {
	for taken < len(dst) && c.N > 0 {
		b := c.Arrays.First()
		n := min(b.N, uint32(len(dst)-taken))
		b.N -= n
		for _, i := range b.Slots[b.N : b.N+n] {
			dst[taken] = NewCached(t.At(i), uint64(i))
			taken++
		}
		if c.N -= n; b.N == 0 {
			spare.Put(c.Arrays.RemoveFirst())
		}
	}
	c.begin()
	return taken
}

// begin makes c begin with the first slot of its first array.
func (c *Chain) begin() {
	if c.N == 0 {
		*c = Chain{}
		return
	}
	b := c.Arrays.First()
	c.First = uint64(b.Slots[b.N-1])
}

// CutArray cuts c, which has arrays, behind the slots of the first one, and returns these.
func (c *Chain) CutArray(t *PageTable) (part Chain) {
	b := c.Arrays.RemoveFirst()
	i := b.Slots[0]
	part = Chain{Last: t.At(i), N: b.N}
	word := part.Last.Word.Load()
	part.Tail, part.Next = Pack(Generation(word), i), Low(word)
	part.Arrays.addFirst(b)
	part.begin()
	c.N -= part.N
	c.begin()
	return part
}

// SpareArrays are arrays of a shard that no chain has.
type SpareArrays struct {
	first *Array
	N     int
}

// take returns an array without slots.
func (p *SpareArrays) take() *Array {
	b := p.first
	if b == nil {
		return new(Array)
	}
	p.first, b.Next = b.Next, nil
	p.N--
	return b
}

// Put keeps an array that a chain has no more, unless there are many.
func (p *SpareArrays) Put(b *Array) {
	if p.N < SpareMost {
		b.N, b.Next, p.first = 0, p.first, b
		p.N++
	}
}

// List returns arrays of the slots of a bag, or of a part of it, whose chain begins with the last one.
func (p *SpareArrays) List(bag []Cached) (l Arrays) {
	for len(bag) > 0 {
		b := p.take()
		b.N = uint32(min(len(bag), arraySlots))
		for j := range b.N {
			b.Slots[j] = Low(bag[j].H)
		}
		l.addFirst(b)
		bag = bag[b.N:]
	}
	return l
}

// ArrayBytes is the memory of an array.
const ArrayBytes = int64(unsafe.Sizeof(Array{}))
