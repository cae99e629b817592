package shard

import (
	"unsafe"

	"coatcheck/shard/slots"
)

// ready has the slots of a shard whose grace period is over, and that wait for an empty freelist: in
// chains, since a chain goes on without a visit of its slots. The holder of the shard's
// lock owns it. Only its methods use its fields.
//
// A stack's freelist gets a part of a long chain. So insertions come back soon to what was removed meanwhile, and
// what was vacant before stays below it. In the naive way the freelist gets all. After a peak of a million values
// a thousand, which are replaced, then go through the slots of all, and each replacement takes 5 times as long.
type ready struct {
	chains []slots.Chain // each ends with None; the last goes first; a queue has one

	// first is the array of chains until they are more. Without it, the first insertion after many removals
	// allocates three arrays, which is a third of its instructions.
	first [mostWhole]slots.Chain
}

// mostWhole is how many chains of a batch each a round passes whole.
const mostWhole = reclaimMost / slots.Batch

// init makes room for the chains of a round, and for n.
func (r *ready) init(n int) {
	if r.chains = r.first[:0]; n > len(r.first) {
		r.chains = make([]slots.Chain, 0, n)
	}
}

// empty reports whether nothing is ready.
func (r *ready) empty() bool { return len(r.chains) == 0 }

// full reports whether no other chain can be made ready.
func (r *ready) full() bool { return len(r.chains) >= readyMost }

// refill gives an empty freelist what is ready, which is some: of a queue all, of a stack what was removed last. It
// reports whether it did.
func (r *ready) refill(free *slots.Stack) bool {
	k := len(r.chains) - 1
	if !free.Splice(&r.chains[k]) {
		return false
	}
	r.chains[k] = slots.Chain{}
	r.chains = r.chains[:k]
	return true
}

// refillPart is refill of a stack: of a long chain it gives the first part. It visits the slots of that.
func (r *ready) refillPart(free *slots.Stack, table *slots.Table) bool {
	c := &r.chains[len(r.chains)-1]
	if c.N <= spliceMost || !free.Empty() {
		return r.refill(free)
	}
	part := c.TakePart(table, spliceMost/2)
	if !free.Splice(&part) { // another shard has filled it meanwhile
		part.Concat(c)
		*c = part
		return false
	}
	return true
}

// keepWhole makes c, which ends with None, ready, if it is worth that: it is long, and there are not too
// many. It reports whether it did.
func (r *ready) keepWhole(c *slots.Chain) bool {
	if c.N < spliceLeast || r.full() {
		return false
	}
	r.chains = append(r.chains, *c)
	return true
}

// keepTop makes c, whose last slot is known, ready in a stack: on top.
func (r *ready) keepTop(c *slots.Chain) {
	if c.Link(slots.None); !r.full() {
		r.chains = append(r.chains, *c)
		return
	}
	last := &r.chains[len(r.chains)-1]
	c.Concat(last)
	*last = *c
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

// takeAll takes out all that is ready. It calls each with the first slot of each list, in
// the order in which they would be handed out.
func (r *ready) takeAll(each func(first uint32)) {
	for k := range r.chains {
		each(slots.Low(r.chains[len(r.chains)-1-k].First))
	}
	clear(r.chains)
	r.chains = r.chains[:0]
}

// size returns how many slots are ready.
func (r *ready) size() (n uint32) {
	for i := range r.chains {
		n += r.chains[i].N
	}
	return n
}

// bytes returns the memory of the lists, without first.
func (r *ready) bytes() int64 {
	if cap(r.chains) == mostWhole {
		return 0
	}
	return int64(cap(r.chains)) * int64(unsafe.Sizeof(slots.Chain{}))
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
