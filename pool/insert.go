package pool

import (
	"context"

	"coatcheck/internal/hint"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// Insert stores v in a vacant slot and returns its handle. If there is none, the error is ErrFull
// or wraps it. Insert takes amortized constant time, and no lock if it finds a vacant slot at once.
// Before it grows or fails, it may wait for other calls.
func (p *Pool[T]) Insert(v T) (h Handle[T], err error) {
	if debugging {
		slot, h, err := p.arena.Claim(hint.Frame())
		if err != nil {
			return 0, err
		}
		return p.publish(slot, h, v), nil
	}
	// The result is stored through a pointer: a conversion exceeds the budget for inlining.
	*(*uint64)(&h), err = shard.Insert(&p.arena, hint.Frame(), v)
	return h, err
}

// InsertWait is like [Pool.Insert], but where Insert would return an error, it waits for a slot.
// Calls that wait are served in the order in which they came; insertions that find a slot at once
// may overtake them. When ctx is done and a last try fails, the error wraps Insert's error, ctx's
// error and ctx's cause. It returns ErrExhausted without waiting.
//
// Do not wait while you hold a guard, in a Reset or in the body of a loop: no slot may come free
// until ctx is done. InsertWait does not take what idle Workers keep: Flush them first.
func (p *Pool[T]) InsertWait(ctx context.Context, v T) (Handle[T], error) {
	slot, h, err := p.arena.ClaimWait(ctx, hint.Frame())
	if err != nil {
		return 0, err
	}
	return p.publish(slot, h, v), nil
}

// InsertFuncWait is like [Pool.InsertFunc], but waits for a slot as [Pool.InsertWait] does, before
// it calls init.
func (p *Pool[T]) InsertFuncWait(ctx context.Context, init func(h Handle[T], v *T)) (Handle[T], error) {
	slot, h, err := p.arena.ClaimWait(ctx, hint.Frame())
	if err != nil {
		return 0, err
	}
	return p.construct(slot, h, init, nil)
}

// InsertFunc is like [Pool.Insert], but init builds the value in its slot. *v is zero, or as
// Options.Reset left it. h becomes live when init returns, which may use the pool. If init panics
// or exits, h never becomes live and the slot goes back.
func (p *Pool[T]) InsertFunc(init func(h Handle[T], v *T)) (Handle[T], error) {
	return p.construct(nil, 0, init, nil)
}

// TryInsertFunc is like [Pool.InsertFunc], but init may fail. It then returns the zero Handle and
// init's error, and the slot goes back with one life less. If there is no vacant slot, it does not
// call init.
func (p *Pool[T]) TryInsertFunc(init func(h Handle[T], v *T) error) (Handle[T], error) {
	return p.construct(nil, 0, nil, init)
}

// publish stores v in a slot that the caller claimed as h, and makes it live.
func (p *Pool[T]) publish(slot *slots.Hook, h uint64, v T) Handle[T] {
	if debugging {
		p.mustBeUntouched(slot, h)
	}
	*slots.ValueOf[T](slot) = v
	if p.arena.OnInsert != nil {
		p.announce(slot, h)
	}
	return p.live(slot, h)
}

// announce calls OnInsert, which there must be, for a complete value in a slot that the caller claimed as h. The
// caller makes it live next. If OnInsert does not return, announce gives the slot back.
func (c *core) announce(slot *slots.Hook, h uint64) {
	u := unfinished{core: c, slot: slot, h: h}
	defer u.giveBack()
	c.arena.OnInsert(slot, h)
	u.slot = nil
}

// live makes the value live that is in a slot that the caller claimed as h.
func (p *Pool[T]) live(slot *slots.Hook, h uint64) Handle[T] {
	slot.Publish(h)
	if debugging {
		p.records.lives.Began(h, "inserted")
	}
	return Handle[T](h)
}

// construct runs init, or try if init is nil, on a slot that was claimed as h, and makes the value
// live. If slot is nil, construct claims one first. To wrap init in a try would cost 30
// instructions, and so would a function that claims a slot and calls this one.
func (p *Pool[T]) construct(slot *slots.Hook, h uint64, init func(Handle[T], *T), try func(Handle[T], *T) error) (Handle[T], error) {
	if slot == nil {
		var err error
		if slot, h, err = p.arena.Claim(hint.Frame()); err != nil {
			return 0, err
		}
	}
	if debugging {
		p.mustBeUntouched(slot, h)
	}
	u := unfinished{core: &p.core, slot: slot, h: h}
	defer u.giveBack()
	slots.Blank[T](&p.arena.Layout, slot)
	if init != nil {
		init(Handle[T](h), slots.ValueOf[T](slot))
	} else if err := try(Handle[T](h), slots.ValueOf[T](slot)); err != nil {
		return 0, err
	}
	if p.arena.OnInsert != nil {
		p.arena.OnInsert(slot, h) // u gives the slot back
	}
	u.slot = nil
	return p.live(slot, h), nil
}

// unfinished is a value whose constructor or OnInsert runs.
type unfinished struct {
	core *core
	slot *slots.Hook // nil when they have returned
	h    uint64
}

// giveBack gives the slot back if its constructor or OnInsert has failed.
func (u *unfinished) giveBack() {
	if u.slot != nil {
		u.giveBackSlow()
	}
}

func (u *unfinished) giveBackSlow() {
	if debugging {
		u.core.records.lives.Ended(u.h, "given up, because the constructor or OnInsert failed,")
	}
	u.core.arena.Abandon(u.slot, u.h, shard.Caller)
}
