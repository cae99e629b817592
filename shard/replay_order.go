package shard

import (
	"encoding/binary"
	"math"

	"coatcheck/epoch"
	"coatcheck/shard/slots"
)

// A replay goes on in a pool that was restored from a snapshot as it would have gone on in the
// original: it issues the same handles. So the snapshot has what decides which slot comes next: the
// lists of the one shard, from first to last, and where the table is. Nothing is worked out anew:
// what is in a list is in the same list of the copy, so the steps of the protocol find it as they
// would have found it in the original. When a shard scans depends on what was paid, and on how many guards
// the last scan found, so the snapshot has these too.
//
// The naive snapshot first reclaims all that waits: a program that saves then goes on otherwise than one that does
// not. Or it sorts what is vacant by index: of 48 handles none agrees.
//
// Stamps are kept as ages, in epochs. The copy has a Domain of its own, which begins anew. Only the
// order of stamps decides anything, and whether two are equal. So the copy takes one new
// stamp for each distinct age, the oldest first. All its guards are younger.
//
// What is in no list belongs to somebody: to a magazine, a Reservation, a Ref. In the copy it is
// vacant behind all others, and has burnt a life, as in any other copy.

// order is the order of reuse.
type order struct {
	sizes, kind uint64 // the layout of the arena, which must be that of the copy
	next        uint64 // Table.next
	stamped     uint64 // 1 if the epoch has been stamped
	stub        uint64 // 1 if there is a stub: then Trim gives up single units

	fresh, again []uint64 // ranges: lo, hi
	gone         []uint64 // the first slots of pages without memory, each with its floor

	// unused has the first slots of the units of pages that Grow made and of which no slot was handed
	// out: they go before those that wait, so the copy needs them. Pages would do, but memory is in
	// proportion to what is read.
	unused []uint64

	unworn, searches, seals uint64 // of the shard

	account account

	pushed   uint64 // of limbo: how many were pushed, modulo SealEvery
	floorAge uint64 // what comes into limbo has at least the stamp with that age

	free, limbo, late places
	ready             []places
	waiting           []queued
}

// account is what has paid for scans, and what the last scan has told.
type account struct {
	flags          uint64 // isMixed and others
	oldest, began  uint64 // ages: what has so great an age has passed (epoch.Frontier)
	credit, guards uint64
}

const (
	isMixed   = 1 << iota
	foundNone // the last scan found no guard: oldest is of no use
	allFlags
)

// record notes what a Frontier knows.
func (c *account) record(r *recorder, k epoch.Findings) {
	if k.Mixed {
		c.flags |= isMixed
	}
	if k.Oldest == epoch.NoPin {
		c.flags |= foundNone
	}
	age := func(e uint64) uint64 { return r.now + 1 - min(e, r.now+1) } // of the greatest stamp below e
	c.oldest, c.began = age(k.Oldest), age(k.Began)
	c.credit, c.guards = uint64(k.Credit), uint64(k.Guards)
}

// findings returns what the copy's Frontier knows, in the stamps of the copy.
func (c *account) findings(l *lister) epoch.Findings {
	k := epoch.Findings{
		Oldest: epoch.NoPin, Began: l.stamp[c.began] + 1,
		Credit: int(c.credit), Guards: int(c.guards), Mixed: c.flags&isMixed != 0,
	}
	if c.flags&foundNone == 0 {
		k.Oldest = l.stamp[c.oldest] + 1
	}
	return k
}

// places is a list of slots.
type places struct {
	known uint64 // 1 if the list's chain knows its last slot
	slots []place
}

type place struct{ index, generation, age uint64 }

// queued is a batch. least is the age of its least stamp.
type queued struct {
	places
	age, leastAge, number uint64
	turned                uint64 // 1 if it is
}

// removed are the lists of slots that wait for their grace period.
func (o *order) removed() []*places {
	list := []*places{&o.limbo, &o.late}
	for k := range o.waiting {
		list = append(list, &o.waiting[k].places)
	}
	return list
}

// scribe writes an order, or reads it: the same code, so that both have the same fields.
type scribe struct {
	b     []byte
	reads bool
	bad   bool // b has no order
}

func (c *scribe) numbers(values ...*uint64) {
	for _, v := range values {
		if !c.reads {
			c.b = binary.AppendUvarint(c.b, *v)
			continue
		}
		n, k := binary.Uvarint(c.b)
		if k <= 0 {
			c.bad = true
			return
		}
		*v, c.b = n, c.b[k:]
	}
}

// count writes how many elements a slice has, or makes as many. An element takes at least so many
// bytes, so that memory is in proportion to b.
func count[E any](c *scribe, slice *[]E, elementSize uint64) {
	n := uint64(len(*slice))
	c.numbers(&n)
	if !c.reads {
		return
	}
	if c.bad = c.bad || n > uint64(len(c.b))/elementSize; !c.bad {
		*slice = make([]E, n)
	}
}

func (c *scribe) list(l *places) {
	c.numbers(&l.known)
	count(c, &l.slots, 3)
	for k := range l.slots {
		p := &l.slots[k]
		c.numbers(&p.index, &p.generation, &p.age)
	}
}

func (c *scribe) queue(q *queued) {
	c.numbers(&q.age, &q.leastAge, &q.number, &q.turned)
	c.list(&q.places)
}

func (c *scribe) order(o *order) {
	c.numbers(&o.sizes, &o.kind, &o.next, &o.stamped, &o.stub, &o.unworn, &o.searches, &o.seals, &o.pushed, &o.floorAge)
	for _, slice := range []*[]uint64{&o.fresh, &o.again, &o.gone, &o.unused} {
		count(c, slice, 1)
		for k := range *slice {
			c.numbers(&(*slice)[k])
		}
	}
	for _, l := range []*places{&o.free, &o.limbo, &o.late} {
		c.list(l)
	}
	count(c, &o.ready, 2)
	for k := range o.ready {
		c.list(&o.ready[k])
	}
	count(c, &o.waiting, 6)
	for k := range o.waiting {
		c.queue(&o.waiting[k])
	}
	a := &o.account
	c.numbers(&a.flags, &a.oldest, &a.began, &a.credit, &a.guards)
}

// kindOf returns what else must be equal in the copy.
func (a *Arena) kindOf() (kind uint64) {
	for k, flag := range []bool{a.FIFO, a.stampPerSlot, a.Fixed, a.Reset != nil} {
		if flag {
			kind |= 1 << k
		}
	}
	return kind
}

// Order returns the order of reuse of an arena with one shard. It changes nothing. If other
// goroutines have changed the lists meanwhile, there is no order, and it returns nil.
//
// Each slot in the order has been in a list since the call began. So its next handle was not
// issued before.
func (a *Arena) Order() []byte {
	s := a.shards()[0]
	s.lock()
	defer s.unlock()
	o := order{
		sizes: a.Pages.Code(), kind: a.kindOf(),
		unworn: uint64(s.unworn.Load()), searches: uint64(s.searches.Load() % othersFirst),
	}
	now := a.Domain.Epoch()
	if o.stamped = a.Domain.NextEpoch() - now; !a.stampPerSlot {
		// Stats may have stamped the epoch, which decides nothing here. Snapshots do not differ by it either.
		o.stamped = 1
	}
	r := recorder{arena: a, now: now, ok: true}
	o.free = r.places(slots.Low(s.free.Head.Load()), math.MaxUint32, nil)
	o.limbo, o.late = r.removed(&s.limbo), r.removed(&s.late)
	o.pushed = uint64(s.limbo.Pushed())
	s.ready.record(&r, &o)
	s.backlog.record(&r, &o)
	o.fresh = s.fresh.Ends()
	r.table(&o)
	if !r.ok {
		return nil
	}
	c := scribe{}
	c.order(&o)
	return c.b
}

// recorder makes the lists of an order.
type recorder struct {
	arena *Arena
	now   uint64 // the epoch
	ok    bool   // no list has changed
}

// places returns n slots of the list that begins with slot i, or all if n is so great. If the list
// has stamps, latest is at least that of each slot.
func (r *recorder) places(i, n uint32, latest *uint64) (l places) {
	t := r.arena.Table.Pages()
	for ; n > 0 && i < t.Limit && uint64(len(l.slots)) < uint64(t.Limit); n-- {
		word := t.At(i).Word.Load()
		p := place{index: uint64(i), generation: uint64(r.arena.Table.GenerationOf(i, word))}
		if latest != nil {
			p.age = r.now - r.arena.Table.StampOf(i, *latest)
		}
		r.ok = r.ok && !slots.IsLive(word)
		l.slots = append(l.slots, p)
		if i = slots.Low(word); !r.ok {
			return l
		}
	}
	r.ok = r.ok && (n == 0 || i == slots.None)
	return l
}

func (r *recorder) chain(c *slots.Chain, latest *uint64) places {
	l := places{}
	if c.N > 0 {
		l = r.places(c.Top(), c.N, latest)
	}
	if c.Last != nil {
		l.known = 1
	}
	return l
}

func (r *recorder) queued(b *slots.Stamped[batch]) queued {
	q := queued{places: r.chain(&b.Body.Chain, &b.Stamp), age: r.now - b.Stamp, leastAge: r.now - b.Body.leastStamp, number: b.Body.number}
	if b.Body.turned {
		q.turned = 1
	}
	return q
}

// removed returns the slots of limbo, or of what came late.
func (r *recorder) removed(l *slots.Limbo) places {
	first, n := l.Top()
	return r.places(first, n, &r.now)
}

func (r *recorder) table(o *order) {
	m := r.arena.Table.Memory()
	o.next, o.again, o.unused, o.gone = m.Next, m.Again, m.Unused, m.Gone
	if m.Stub {
		o.stub = 1
	}
}
