package shard

import (
	"slices"
	"unsafe"

	"coatcheck/shard/slots"
)

// hasReady reports whether a slot is ready.
func (b *backlog) hasReady() bool { return len(b.ready) > 0 }

// refill gives an empty freelist what is ready, of which there is some: of a queue all, of a stack what was removed
// last. It reports whether it did.
func (b *backlog) refill(free *slots.Stack) bool {
	k := len(b.ready) - 1
	c := &b.ready[k]
	if c.Arrays.Last != nil {
		return free.Empty() && b.refillByArray(c, free)
	}
	if !free.Splice(c) {
		return false
	}
	b.ready[k] = slots.Chain{}
	b.ready = b.ready[:k]
	return true
}

// refillByArray gives a freelist the slots of the first array of c, the last chain that is ready.
// The others stay ready, for magazines.
func (b *backlog) refillByArray(c *slots.Chain, free *slots.Stack) bool {
	part := c.CutArray(b.arena.Table.Pages())
	b.spare.Put(part.Arrays.RemoveFirst())
	part.Finish(&b.arena.Table)
	if c.N == 0 {
		b.ready = b.ready[:len(b.ready)-1]
	}
	free.Push(&part)
	return true
}

// keepWhole makes c, which ends with None, ready, if it is worth that: it is long, and there are not too
// many. It reports whether it did.
func (b *backlog) keepWhole(c *slots.Chain) bool {
	if c.N < spliceLeast || len(b.ready) >= readyMost {
		return false
	}
	b.ready = append(b.ready, *c)
	return true
}

// keepLast puts c behind what is ready, in a queue.
func (b *backlog) keepLast(c *slots.Chain) {
	c.Link(slots.None)
	if len(b.ready) == 0 {
		b.ready = append(b.ready, slots.Chain{})
	}
	b.ready[0].Concat(c)
}

// keep makes c, whose last slot is known and which has arrays, ready. It reports false if there are
// too many chains.
func (b *backlog) keep(c *slots.Chain) bool {
	k := len(b.ready) - 1
	switch {
	case k >= 0 && b.ready[k].Arrays.Last != nil:
		c.Concat(&b.ready[k])
		b.ready[k] = *c
	case k+1 < readyMost:
		c.Link(slots.None)
		b.ready = append(b.ready, *c)
	default:
		return false
	}
	return true
}

// takeByArrays takes slots of the last chain that is ready and has arrays, as many as dst has room for,
// or all. It returns how many.
func (b *backlog) takeByArrays(dst []slots.Cached) (n int) {
	for k := len(b.ready) - 1; k >= 0; k-- {
		c := &b.ready[k]
		if c.Arrays.Last == nil {
			continue
		}
		if n = c.TakeByArrays(b.arena.Table.Pages(), dst, &b.spare); c.N == 0 {
			b.ready = slices.Delete(b.ready, k, k+1)
		}
		break
	}
	return n
}

// takeReady takes out all that is ready, and the arrays. It calls each with the first slot of each list, in
// the order in which they would be handed out, and returns how many bytes the arrays had.
func (b *backlog) takeReady(each func(first uint32)) (bytes int64) {
	bytes = b.readyArrays()
	for k := range b.ready {
		each(slots.Low(b.ready[len(b.ready)-1-k].First))
	}
	clear(b.ready)
	b.ready = b.ready[:0]
	b.spare = slots.SpareArrays{}
	return bytes
}

// roomForArrays reports whether so many more slots may have arrays.
func (b *backlog) roomForArrays(n int) bool { return int(b.waits+b.readySlots())+n <= arraysMost }

// arraysOf returns arrays of the slots of a bag.
func (b *backlog) arraysOf(bag []slots.Cached) slots.Arrays { return b.spare.List(bag) }

// counts returns how many slots wait, and how many are ready, as a word.
func (b *backlog) counts() uint64 { return slots.Pack(b.waits, b.readySlots()) }

// readySlots returns how many slots are ready.
func (b *backlog) readySlots() (n uint32) {
	for i := range b.ready {
		n += b.ready[i].N
	}
	return n
}

// bytes returns the memory of the lists.
func (b *backlog) bytes() (n int64) {
	for k := range b.waiting.Len() {
		n += b.waiting.Entry(k).Body.Arrays.Bytes()
	}
	return n + b.readyArrays() + int64(cap(b.waiting.List))*int64(unsafe.Sizeof(slots.Stamped[batch]{})) +
		int64(cap(b.ready))*int64(unsafe.Sizeof(slots.Chain{})) + int64(cap(b.runs)+cap(b.apart)+cap(b.fences)-len(b.fenceRoom))*8
}

// readyArrays returns the memory of the arrays of what is ready, and of those without slots.
func (b *backlog) readyArrays() int64 {
	n := int64(b.spare.N) * slots.ArrayBytes
	for k := range b.ready {
		n += b.ready[k].Arrays.Bytes()
	}
	return n
}
