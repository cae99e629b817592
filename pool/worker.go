package pool

import (
	"context"
	"runtime"
	"weak"

	"coatcheck/internal/atom"
	"coatcheck/shard"
	"coatcheck/shard/slots"
)

// Worker is one goroutine's cache of vacant slots, which makes insertions and removals faster; it
// is not a goroutine. Its methods do what the pool's do. [Pool.Worker] returns one. A zero Worker
// panics, except in Close. It must not be copied. One goroutine at a time may use it.
//
// Other goroutines cannot take the slots that a Worker keeps, so their insertions may fail
// meanwhile. Stats.Cached counts them. Flush and Close give them back. So does the garbage
// collector for a dropped Worker, unless it is in a value of its own pool.
type Worker[T any] struct {
	// slots is plain: one goroutine at a time uses it, and then dropped. So that
	// dropped does not run while a method uses the slots, the method keeps the Worker alive.
	// Otherwise the last use of the Worker may come before the last use of its slots.
	//
	// A locked instruction delays all later loads. So a fast path costs its locked
	// instruction and its longest chain of dependent loads. To shorten that, the magazine has the
	// addresses of slots and its own copy of the page table.
	slots *shard.Magazine

	// ready has the slots that Insert takes at once: slots, or an empty magazine if there is an OnInsert, so
	// that Insert need not ask.
	ready *shard.Magazine
	end   *workerEnd
	life  *life

	_    noCopy
	user user
	pool *Pool[T] // nil when closed
}

// workerEnd is the part of a Worker that outlives it: what its life refers to. It is apart from the Worker
// and refers to the pool weakly, as a supply does (reservation.go): what Reset and the
// values refer to may be the Worker. So the arena keeps the magazine.
type workerEnd struct {
	mark  mark
	pool  weak.Pointer[core]
	slots weak.Pointer[shard.Magazine]

	// ended is 1 once dropped has run, which its life calls twice.
	//
	//	writers  dropped, by a compare-and-swap: the call that succeeds owns the magazine
	ended atom.Uint32
}

// Worker returns a new Worker. It allocates: make one for each goroutine, not for each call.
func (p *Pool[T]) Worker() *Worker[T] {
	w := &Worker[T]{pool: p}
	w.slots, w.ready, w.end, w.life = p.open()
	return w
}

// open returns what a new Worker needs.
func (c *core) open() (m, ready *shard.Magazine, e *workerEnd, l *life) {
	c.pages()
	m = c.arena.NewMagazine()
	if ready = m; c.arena.OnInsert != nil {
		ready = new(shard.Magazine)
	}
	e = &workerEnd{pool: weak.Make(c), slots: weak.Make(m)}
	c.workers.Add(1)
	if !slots.Exploring {
		l = newLife(e.dropped)
	}
	if debugging {
		e.mark.opened(c.records.workers, "opened", "")
	}
	return m, ready, e, l
}

// Insert is like [Pool.Insert], but costs no locked instruction on amd64.
func (w *Worker[T]) Insert(v T) (h Handle[T], err error) {
	if debugging {
		defer w.user.enter()()
		return w.insertSlow(v)
	}
	if w.ready.HasNext() {
		slot, next := w.ready.Next()
		runtime.KeepAlive(w)
		*slots.ValueOf[T](slot) = v
		return Handle[T](slot.Publish(next)), nil
	}
	return w.insertSlow(v)
}

func (w *Worker[T]) insertSlow(v T) (h Handle[T], err error) {
	p := w.pool
	slot, next, err := w.slots.Claim()
	if err == nil {
		h = p.publish(slot, next, v)
	}
	runtime.KeepAlive(w)
	return h, err
}

// InsertWait is like [Pool.InsertWait]. Before it waits, it gives back what the Worker keeps.
func (w *Worker[T]) InsertWait(ctx context.Context, v T) (h Handle[T], err error) {
	if debugging {
		defer w.user.enter()()
	}
	p := w.pool // a Reset may close the Worker
	slot, next, err := w.slots.ClaimWait(ctx)
	if err == nil {
		h = p.publish(slot, next, v)
	}
	runtime.KeepAlive(w)
	return h, err
}

// InsertFunc is like [Pool.InsertFunc]. init may use the Worker.
func (w *Worker[T]) InsertFunc(init func(h Handle[T], v *T)) (Handle[T], error) {
	return w.construct(init, nil)
}

// TryInsertFunc is like [Pool.TryInsertFunc]. If init fails, the slot goes back to the pool.
func (w *Worker[T]) TryInsertFunc(init func(h Handle[T], v *T) error) (Handle[T], error) {
	return w.construct(nil, init)
}

func (w *Worker[T]) construct(init func(Handle[T], *T), try func(Handle[T], *T) error) (Handle[T], error) {
	if debugging {
		defer w.user.enter()()
	}
	defer runtime.KeepAlive(w) // also when init panics
	p := w.pool
	slot, h, err := w.slots.Claim()
	if err != nil {
		return 0, err
	}
	return p.construct(slot, h, init, try)
}

// Remove is like [Pool.Remove], but costs one locked instruction.
func (w *Worker[T]) Remove(h Handle[T]) bool {
	if debugging {
		defer w.user.enter()()
		p := w.pool // an OnRemove may close the Worker
		return p.ended(uint64(h), w.slots.Remove(uint64(h)))
	}
	ok := w.slots.Remove(uint64(h))
	runtime.KeepAlive(w)
	return ok
}

// Take is like [Pool.Take], but costs one locked instruction.
func (w *Worker[T]) Take(h Handle[T]) (v T, ok bool) {
	if debugging {
		warnOfCopy[T]()
		defer w.user.enter()()
	}
	p := w.pool // an OnRemove may close the Worker
	if s := w.slots.Taker(uint64(h)); s != nil {
		if k, seen := s.Unlink(uint64(h)); k != nil {
			v, ok = *slots.ValueOf[T](k), true
			s.Retire(k, uint64(h), seen)
		}
	} else if ok = w.slots.Remove(uint64(h)); ok {
		v = *slots.ValueOf[T](w.slots.Last())
	}
	p.ended(uint64(h), ok)
	runtime.KeepAlive(w)
	return v, ok
}

// Flush returns the Worker's slots to the pool. The Worker stays open.
func (w *Worker[T]) Flush() {
	if debugging {
		defer w.user.enter()()
	}
	w.slots.Flush()
	runtime.KeepAlive(w)
}

// Close returns the Worker's slots to the pool and closes the Worker. A second Close does
// nothing; any other use after Close panics.
func (w *Worker[T]) Close() {
	if debugging {
		defer w.user.enter()()
	}
	p := w.pool
	if p == nil {
		return
	}
	w.pool = nil
	p.close(w.slots, w.end, w.life)
}

// close is Worker.Close.
func (c *core) close(m *shard.Magazine, e *workerEnd, l *life) {
	l.end()
	if debugging {
		e.mark.closed(c.records.workers, "closed")
	}
	m.Close(shard.Caller)
	c.workers.Add(-1) // last: if no Worker is open, all slots are back
}

// dropped closes the Worker when it is unreachable. A second call, which
// may come at the same time, does nothing.
func (e *workerEnd) dropped() {
	c := e.pool.Value()
	if c == nil || !e.ended.CompareAndSwap(0, 1) {
		return
	}
	c.collected.Add(1)
	if debugging {
		e.mark.dropped(c.records.workers, collected)
	}
	e.slots.Value().Close(shard.Collector)
	c.workers.Add(-1) // last: if no Worker is open, all slots are back
}
