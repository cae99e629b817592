package pool

import (
	"coatcheck/internal/atom"
	"coatcheck/shard"
)

// Insert puts v into a vacant slot and returns the handle that names it. The
// error is ErrFull, or one that wraps it. It costs one locked instruction on amd64, and
// two elsewhere.
//
// It waits for other goroutines in two cases: when it adds a page, and when it would
// be refused because one of them was preempted while it reclaimed, trimmed or looked
// a value up.
func (p *Pool[T]) Insert(v T) (Handle[T], error) {
	slot, h := p.arena.Local().Pop()
	if slot == nil {
		return p.insertSlow(v)
	}
	slot.Value = v
	if atom.Charges {
		atom.PlainWrite(&slot.Value)
	}
	return p.live(slot, h), nil
}

func (p *Pool[T]) insertSlow(v T) (Handle[T], error) {
	slot, h, err := p.arena.Claim()
	if err != nil {
		return 0, err
	}
	return p.publish(slot, h, v), nil
}

// publish makes v live in a slot that was claimed as h.
func (p *Pool[T]) publish(slot *shard.Slot[T], h uint64, v T) Handle[T] {
	slot.Value = v
	if atom.Charges {
		atom.PlainWrite(&slot.Value)
	}
	return p.live(slot, h)
}

// live publishes the value of a slot that was claimed as h.
func (p *Pool[T]) live(slot *shard.Slot[T], h uint64) Handle[T] {
	slot.Publish(h)
	if debugging {
		p.records.lives.Began(h, inserted)
	}
	return Handle[T](h)
}

// InsertBatch inserts the values of vs in order and appends a handle for each to
// dst. On an error what was inserted stays, and the handles tell how many. It is
// a sequence of insertions, not one.
func (p *Pool[T]) InsertBatch(vs []T, dst []Handle[T]) ([]Handle[T], error) {
	p.pages()
	for i := range vs {
		slot, h, err := p.arena.Claim()
		if err != nil {
			return dst, err
		}
		dst = append(dst, p.publish(slot, h, vs[i]))
	}
	return dst, nil
}

// InsertFunc is Insert for a value that is built where it will live. init gets
// the value, zero or as Options.Reset left it, and its handle, which is not live
// until init returns. A panic in init, or runtime.Goexit, gives the slot back
// and goes on up; the handle then never becomes live. init may use the pool.
func (p *Pool[T]) InsertFunc(init func(h Handle[T], v *T)) (Handle[T], error) {
	slot, h, err := p.arena.Claim()
	if err != nil {
		return 0, err
	}
	return p.construct(slot, h, init), nil
}

// TryInsertFunc is [Pool.InsertFunc] for an init that may fail. If init returns an
// error, nothing goes live: the slot goes back as it does after a panic, with
// whatever init left in it, and TryInsertFunc returns the zero Handle and that very
// error. Without a vacant slot init is not called, and the error is ErrFull, or one
// that wraps it.
//
// A value that was refused has used up one of its slot's lives. It costs what
// InsertFunc does, and a removal more where init fails.
func (p *Pool[T]) TryInsertFunc(init func(h Handle[T], v *T) error) (Handle[T], error) {
	slot, h, err := p.arena.Claim()
	if err != nil {
		return 0, err
	}
	return p.tryConstruct(slot, h, init)
}

// construct runs a constructor on a claimed slot and publishes what it made.
func (p *Pool[T]) construct(slot *shard.Slot[T], h uint64, init func(Handle[T], *T)) Handle[T] {
	done := false
	defer p.unless(&done, slot, h)
	p.arena.Blank(slot)
	init(Handle[T](h), &slot.Value)
	done = true
	return p.live(slot, h)
}

// tryConstruct is construct for a constructor that may fail. As one function with it
// they would cost those that cannot fail a call more.
func (p *Pool[T]) tryConstruct(slot *shard.Slot[T], h uint64, init func(Handle[T], *T) error) (Handle[T], error) {
	done := false
	defer p.unless(&done, slot, h)
	p.arena.Blank(slot)
	if err := init(Handle[T](h), &slot.Value); err != nil {
		return 0, err
	}
	done = true
	return p.live(slot, h), nil
}

// unless gives back a slot whose construction was not done.
func (p *Pool[T]) unless(done *bool, slot *shard.Slot[T], h uint64) {
	if !*done {
		if debugging {
			p.records.lives.Ended(h, burnt)
		}
		p.arena.Abandon(slot, h)
	}
}
