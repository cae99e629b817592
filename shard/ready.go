package shard

import (
	"slices"
	"unsafe"

	"coatcheck/shard/slots"
)

// ready has the slots of a shard whose grace period is over, and that wait for an empty freelist, or for
// a magazine: in chains, since a chain goes on without a visit of its slots. The holder of the shard's
// lock owns it. Only its methods use its fields.
type ready struct {
	chains []slots.Chain     // the last goes first; a queue has one
	spare  slots.SpareArrays // arrays of chains that were handed out
}

// init makes room for all chains, if memory is fixed.
func (r *ready) init(fixed bool) {
	if fixed {
		r.chains = make([]slots.Chain, 0, readyMost)
	}
}

// empty reports whether no slot is ready.
func (r *ready) empty() bool { return len(r.chains) == 0 }

// full reports whether no other chain can be made ready.
func (r *ready) full() bool { return len(r.chains) >= readyMost }

// refill gives an empty freelist what is ready, of which there is some: of a queue all, of a stack what
// was removed last. It reports whether it did.
func (r *ready) refill(free *slots.Stack, t *slots.Table) bool {
	k := len(r.chains) - 1
	c := &r.chains[k]
	if c.Arrays.Last != nil {
		return free.Empty() && r.refillByArray(c, free, t)
	}
	if !free.Splice(c) {
		return false
	}
	r.chains[k] = slots.Chain{}
	r.chains = r.chains[:k]
	return true
}

// refillByArray gives a freelist the slots of the first array of c, the last chain. The others stay
// ready, for magazines.
func (r *ready) refillByArray(c *slots.Chain, free *slots.Stack, t *slots.Table) bool {
	part := c.CutArray(t.Pages())
	r.spare.Put(part.Arrays.RemoveFirst())
	part.Finish(t)
	if c.N == 0 {
		r.chains = r.chains[:len(r.chains)-1]
	}
	free.Push(&part)
	return true
}

// keepWhole makes c, which ends with None, ready, if it is worth that: it is long, and there are not too
// many. It reports whether it did.
func (r *ready) keepWhole(c *slots.Chain) bool {
	if c.N < spliceLeast || len(r.chains) >= readyMost {
		return false
	}
	r.chains = append(r.chains, *c)
	return true
}

// keepLast puts c behind what is ready, in a queue.
func (r *ready) keepLast(c *slots.Chain) {
	c.Link(slots.None)
	if len(r.chains) == 0 {
		r.chains = append(r.chains, slots.Chain{})
	}
	r.chains[0].Concat(c)
}

// keepFirst puts c, which may be empty, before what is ready, in a queue.
func (r *ready) keepFirst(c *slots.Chain) {
	if c.N == 0 {
		return
	}
	if len(r.chains) == 0 {
		r.keepLast(c)
		return
	}
	c.Concat(&r.chains[0])
	r.chains[0] = *c
}

// keep makes c, whose last slot is known and which has arrays, ready. It reports false if there are
// too many chains.
func (r *ready) keep(c *slots.Chain) bool {
	k := len(r.chains) - 1
	switch {
	case k >= 0 && r.chains[k].Arrays.Last != nil:
		c.Concat(&r.chains[k])
		r.chains[k] = *c
	case k+1 < readyMost:
		c.Link(slots.None)
		r.chains = append(r.chains, *c)
	default:
		return false
	}
	return true
}

// takeByArrays takes slots of the last chain that has arrays, as many as dst has room for, or all. It
// returns how many.
func (r *ready) takeByArrays(dst []slots.Cached, t *slots.Table) (n int) {
	for k := len(r.chains) - 1; k >= 0; k-- {
		c := &r.chains[k]
		if c.Arrays.Last == nil {
			continue
		}
		if n = c.TakeByArrays(t.Pages(), dst, &r.spare); c.N == 0 {
			r.chains = slices.Delete(r.chains, k, k+1)
		}
		break
	}
	return n
}

// takeAll takes out all that is ready, and the arrays. It calls each with the first slot of each list, in
// the order in which they would be handed out.
func (r *ready) takeAll(each func(first uint32)) {
	for k := range r.chains {
		each(slots.Low(r.chains[len(r.chains)-1-k].First))
	}
	clear(r.chains)
	r.chains = r.chains[:0]
	r.spare = slots.SpareArrays{}
}

// arraysOf returns arrays of the slots of a bag.
func (r *ready) arraysOf(bag []slots.Cached) slots.Arrays { return r.spare.List(bag) }

// size returns how many slots are ready.
func (r *ready) size() (n uint32) {
	for i := range r.chains {
		n += r.chains[i].N
	}
	return n
}

// bytes returns the memory of the lists, and of the arrays of what is ready and of spare ones.
func (r *ready) bytes() int64 {
	n := int64(cap(r.chains))*int64(unsafe.Sizeof(slots.Chain{})) + int64(r.spare.N)*slots.ArrayBytes
	for k := range r.chains {
		n += r.chains[k].Arrays.Bytes()
	}
	return n
}

// record notes in o what is ready, and restore puts it back, in a new arena.
func (r *ready) record(by *recorder, o *order) {
	for k := range r.chains {
		o.ready = append(o.ready, by.chain(&r.chains[k], nil))
	}
}

func (r *ready) restore(l *lister, o *order) {
	for k := range o.ready {
		r.chains = append(r.chains, l.chain(&o.ready[k]))
	}
}
