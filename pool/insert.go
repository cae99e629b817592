package pool

import (
	"context"

	"coatcheck/internal/hint"
	"coatcheck/shard"
)

// Insert stores v in a vacant slot and returns its handle. Any number of goroutines may insert at
// once. The error is ErrFull or wraps it.
//
// Insert takes amortized constant time, and no lock if it finds a vacant slot at once. Before it
// adds memory, and before it is refused, it may wait for other calls, but never for user code.
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

// InsertWait is like [Pool.Insert], but waits for a slot where Insert would be refused. Waiting
// calls are served in their order. Insertions that need not wait may overtake them.
//
// When ctx is done, InsertWait tries once more. Its error then wraps the refusal, ctx's error and
// ctx's cause. It returns ErrExhausted at once.
//
// Do not wait under a guard of your own, in a Reset or in the body of a loop: the slot may not come
// free before ctx is done. Flush an idle [Worker], whose slots do not come free either. InsertWait
// overwrites what Options.Reset kept. For a pool of buffers there is [Pool.InsertFuncWait].
func (p *Pool[T]) InsertWait(ctx context.Context, v T) (Handle[T], error) {
	p.pages()
	slot, h, err := p.arena.ClaimWait(ctx, hint.Frame())
	if err != nil {
		return 0, err
	}
	return p.publish(slot, h, v), nil
}

// InsertFuncWait is like [Pool.InsertFunc], but where InsertFunc would be refused, it waits for a
// slot as [Pool.InsertWait] does. It does not wait any more once init is called.
func (p *Pool[T]) InsertFuncWait(ctx context.Context, init func(h Handle[T], v *T)) (Handle[T], error) {
	p.pages()
	slot, h, err := p.arena.ClaimWait(ctx, hint.Frame())
	if err != nil {
		return 0, err
	}
	return p.construct(slot, h, init, nil)
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
func (p *Pool[T]) publish(slot *shard.Hook, h uint64, v T) Handle[T] {
	if debugging {
		p.mustBeUntouched(slot, h)
	}
	*shard.ValueOf[T](slot) = v
	return p.live(slot, h)
}

// live makes the value live that is in a slot that the caller claimed as h.
func (p *Pool[T]) live(slot *shard.Hook, h uint64) Handle[T] {
	slot.Publish(h)
	if debugging {
		p.records.lives.Began(h, "inserted")
	}
	return Handle[T](h)
}

// construct runs init, or try if init is nil, on a claimed slot and makes the value live. To
// wrap the one in the other would cost 30 instructions.
func (p *Pool[T]) construct(slot *shard.Hook, h uint64, init func(Handle[T], *T), try func(Handle[T], *T) error) (Handle[T], error) {
	if debugging {
		p.mustBeUntouched(slot, h)
	}
	done := false
	defer p.unless(&done, slot, h)
	p.arena.Blank(slot)
	if init != nil {
		init(Handle[T](h), shard.ValueOf[T](slot))
	} else if err := try(Handle[T](h), shard.ValueOf[T](slot)); err != nil {
		return 0, err
	}
	done = true
	return p.live(slot, h), nil
}

// unless gives the slot back if its construction is not done.
func (c *core) unless(done *bool, slot *shard.Hook, h uint64) {
	if !*done {
		if debugging {
			c.records.lives.Ended(h, "given up, because the constructor failed,")
		}
		c.arena.Abandon(slot, h, shard.Now)
	}
}
