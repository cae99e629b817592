package pool

import (
	"context"

	"coatcheck/internal/hint"
	"coatcheck/shard"
)

// Insert stores v in a vacant slot and returns its handle. The error is ErrFull or wraps
// it. Insert costs one locked instruction on amd64, and two elsewhere.
//
// Insert waits for other goroutines in three cases: when it adds a page; after a Reset that
// it ran; and when it has found no slot, and would return an error, or add memory while half
// of the slots wait. Then it waits for goroutines that reclaim, for a Trim, and for look-ups
// that have a pin of their own. None of them runs user code meanwhile.
func (p *Pool[T]) Insert(v T) (h Handle[T], err error) {
	if debugging {
		slot, h, err := p.arena.Claim(hint.Frame())
		if err != nil {
			return 0, err
		}
		return p.publish(slot, h, v), nil
	}
	word, err := p.arena.Insert(hint.Frame(), v)
	return Handle[T](word), err
}

// InsertWait is like [Pool.Insert], but if it is refused, it waits until a slot is free. If ctx
// is done first, the error wraps both ctx's error and the refusal. A free slot is taken even if
// ctx is done. ErrExhausted is returned at once.
//
// Calls that wait are served in the order in which they came; other insertions may be faster.
// A removal wakes the first of them, at no cost but a load. The end of a guard wakes no call:
// one that a guard delays looks again after pauses that grow to 2 ms.
//
// Slots that a [Worker] keeps are not free, so a Worker that is not used should be flushed. A
// goroutine that waits under its own guard, or in a Reset, may wait for ctx.
func (p *Pool[T]) InsertWait(ctx context.Context, v T) (Handle[T], error) {
	p.pages()
	slot, h, err := p.arena.ClaimWait(ctx, hint.Frame())
	if err != nil {
		return 0, err
	}
	return p.publish(slot, h, v), nil
}

// InsertFunc is like [Pool.Insert], but init builds the value in its slot. *v is zero, or
// as Options.Reset left it. h becomes live when init returns. If init panics or calls
// runtime.Goexit, the slot goes back to the pool and h never becomes live; the panic
// continues. init may use the pool.
func (p *Pool[T]) InsertFunc(init func(h Handle[T], v *T)) (Handle[T], error) {
	slot, h, err := p.arena.Claim(hint.Frame())
	if err != nil {
		return 0, err
	}
	return p.construct(slot, h, init, nil)
}

// TryInsertFunc is like [Pool.InsertFunc], but init may fail. If it does, TryInsertFunc
// returns the zero Handle and init's error, and the slot goes back to the pool with one
// life less. If there is no vacant slot, init is not called, and the error is ErrFull or
// wraps it. It costs what InsertFunc costs, and a removal more if init fails.
func (p *Pool[T]) TryInsertFunc(init func(h Handle[T], v *T) error) (Handle[T], error) {
	slot, h, err := p.arena.Claim(hint.Frame())
	if err != nil {
		return 0, err
	}
	return p.construct(slot, h, nil, init)
}

// publish stores v in a slot that the caller claimed as h, and makes it live.
func (p *Pool[T]) publish(slot *shard.Slot[T], h uint64, v T) Handle[T] {
	if debugging {
		p.mustBeUntouched(slot, h)
	}
	slot.Value = v
	return p.live(slot, h)
}

// live makes the value live that is in a slot that the caller claimed as h.
func (p *Pool[T]) live(slot *shard.Slot[T], h uint64) Handle[T] {
	slot.Publish(h)
	if debugging {
		p.records.lives.Began(h, "inserted")
	}
	return Handle[T](h)
}

// construct runs init, or try if init is nil, on a claimed slot and makes the value live. To
// wrap the one in the other would cost 30 instructions.
func (p *Pool[T]) construct(slot *shard.Slot[T], h uint64, init func(Handle[T], *T), try func(Handle[T], *T) error) (Handle[T], error) {
	if debugging {
		p.mustBeUntouched(slot, h)
	}
	done := false
	defer p.unless(&done, slot, h)
	p.arena.Blank(slot)
	if init != nil {
		init(Handle[T](h), &slot.Value)
	} else if err := try(Handle[T](h), &slot.Value); err != nil {
		return 0, err
	}
	done = true
	return p.live(slot, h), nil
}

// unless gives the slot back if its construction is not done.
func (p *Pool[T]) unless(done *bool, slot *shard.Slot[T], h uint64) {
	if !*done {
		if debugging {
			p.records.lives.Ended(h, "given up, because the constructor failed,")
		}
		p.arena.Abandon(slot, h, shard.Reclaim)
	}
}
