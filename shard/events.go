package shard

import (
	"coatcheck/internal/hint"
	"coatcheck/shard/slots"
)

// An event is a call of user code at the beginning or at the end of a life. It comes while the slot is in its
// caller's hands (I3), in no list and under no lock (I14):
//
//	claim ──▶ value complete ──▶ OnInsert ──▶ publish (P1)   …   unlink ──▶ OnRemove ──▶ stamp, push (P6)
//
// So OnInsert has returned before a removal of h can begin, and OnRemove before the slot can be cleaned or handed
// out; neither needs a pin. An event may use the pool, and the magazine that its caller uses: what it does there
// needs other slots.
//
// The wrong versions call OnInsert after the publication, or OnRemove after the push. Another goroutine may
// remove the value before its OnInsert, and an index keeps a dead key. Or the slot has another value while
// OnRemove reads it.
//
// An arena without events has no instruction for them on its fast paths. Insert finds no inserters where there
// is an OnInsert, and a removal finds its handle below apartBelow where there is an OnRemove; it loads both
// words anyway. Package pool asks in its slow halves, which claim and then publish.

// Events are the functions of an arena, or nil. They are set before Init.
type Events struct {
	OnInsert func(slot *slots.Hook, h uint64) // the slot is about to go live with h
	OnRemove func(slot *slots.Hook, h uint64) // h is unlinked, and its slot about to be retired
}

// insertApart is Insert where there is an OnInsert. It panics for a zero Arena.
//
//go:noinline
func insertApart[T any](a *Arena, v T) (uint64, error) {
	k, h, err := a.Claim(hint.Frame())
	if err != nil {
		return 0, err
	}
	*slots.ValueOf[T](k) = v
	published := false
	defer func() {
		if !published {
			a.Abandon(k, h, Caller) // OnInsert did not return
		}
	}()
	a.OnInsert(k, h)
	published = true
	return k.Publish(h), nil
}

// ending is a life that a removal has ended as h, while its slot is not retired yet. The slot's word links to
// limbo's top as it was seen.
type ending struct {
	shard   *shard
	slot    *slots.Hook
	h, seen uint64
}

// retire is shard.retire for a handle below apartBelow: it calls OnRemove, if there is one, and then push. If
// OnRemove does not return, the slot is retired all the same.
//
//go:noinline
func (e ending) retire() {
	defer e.push()
	if f := e.shard.arena.OnRemove; f != nil {
		f(e.slot, e.h)
	}
}

// push retires the slot when OnRemove is over. It takes the stamp anew, next to the push: what is sealed meanwhile
// has older ones. The link is right if nobody has pushed or sealed since limbo's head was seen. Else shard.push
// writes another.
func (e ending) push() {
	s, h := e.shard, e.h
	a := s.arena
	if a.maySkip(h) {
		h = skip(s, e.slot, h, slots.Low(e.seen))
	}
	if a.stampPerSlot {
		a.Table.SetStamp(slots.Low(h), a.Domain.Stamp())
	}
	a.countSpent(h)
	if !s.limbo.PushOne(e.seen, slots.Low(h)) {
		s.push(e.slot, h, e.seen)
		return
	}
	a.waiters.wake()
}

// tell calls OnRemove for a slot that the magazine has removed as h, and that is not in the bag. OnRemove may
// use the magazine, and even close it. If there is room in the bag then, the slot comes back there. Else it goes
// into limbo; so it does if OnRemove does not return, or if the slot has no life left, or may skip some.
func (m *Magazine) tell(slot *slots.Hook, h uint64) {
	s, kept := m.shard, false
	defer func() {
		if !kept {
			seen := s.limbo.Head.Load() // its top is not this slot (I4)
			slot.Set(slots.Vacated(h, slots.Low(seen)))
			ending{s, slot, h, seen}.push()
		}
	}()
	s.arena.OnRemove(slot, h)
	if n := m.used; n < len(m.bag) && h < slots.LastLife && !s.arena.maySkip(h) {
		slot.Set(slots.Vacated(h, m.top))
		m.bag[n] = slots.NewCached(slot, slots.Reborn(h))
		m.used, m.top = n+1, slots.Low(h)
		kept = true
		if m.clock.Epoch() != m.stamp {
			m.restamp()
		}
	}
}
