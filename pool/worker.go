package pool

import (
	"runtime"
	"weak"

	"coatcheck/shard"
)

// Worker inserts and removes faster, for one goroutine at a time. A removal costs one locked
// instruction, and an insertion none on amd64, and one elsewhere. Its methods mean the same
// as the pool's.
//
// A Worker keeps vacant slots: at most 128 at first, and up to 4,096 if it uses that many. It
// keeps at most a 16th of a Capacity, and none under FIFO. With a MaxLimbo it keeps at most a
// 16th of that, or 128. No other goroutine can take them; Stats.Cached counts them. Flush and
// Close give them back, and the garbage collector does if the Worker is dropped. A Worker in a
// value of its own pool is not dropped as long as the pool is reachable.
//
// [Pool.Worker] returns a Worker; use of a zero Worker panics, but for Close. It may pass from
// one goroutine to another, but two must not use it at once. It must not be copied.
type Worker[T any] struct {
	// slots is plain: one goroutine at a time uses it, and then the finalizer of end. So that
	// the finalizer does not run while a method uses the slots, the method keeps the Worker alive.
	// Otherwise the last use of the Worker may come before the last use of its slots.
	//
	// A locked instruction delays all later loads. So a fast path costs its locked
	// instruction and its longest chain of dependent loads. To shorten that, the magazine has
	// pointers to slots and its own copy of the page table.
	slots *shard.Magazine[T]
	end   *workerEnd[T]

	_    noCopy
	user user
	pool *Pool[T] // nil when closed
}

// workerEnd has a finalizer, which runs when its Worker is unreachable. It is apart from the
// Worker and refers to the pool weakly, as a blockEnd does (block.go): what Reset and the
// values refer to may be the Worker. So the pool keeps the magazine.
type workerEnd[T any] struct {
	mark  mark
	pool  weak.Pointer[Pool[T]]
	slots weak.Pointer[shard.Magazine[T]]
}

// Worker returns a new Worker. It allocates, so make one for each goroutine, not for each
// call.
func (p *Pool[T]) Worker() *Worker[T] {
	p.pages()
	m := p.arena.NewMagazine()
	w := &Worker[T]{pool: p, slots: m, end: &workerEnd[T]{pool: weak.Make(p), slots: weak.Make(m)}}
	p.workers.Add(1)
	p.magazines.Store(m, nil)
	if !shard.Exploring {
		runtime.SetFinalizer(w.end, (*workerEnd[T]).dropped)
	}
	if debugging {
		w.end.mark.opened(p.records.workers, "opened", "")
	}
	return w
}

// Insert is like [Pool.Insert], but costs no locked instruction on amd64.
func (w *Worker[T]) Insert(v T) (h Handle[T], err error) {
	if debugging {
		defer w.user.enter()()
	}
	if w.slots.HasNext() {
		slot, next := w.slots.Next()
		runtime.KeepAlive(w)
		if debugging {
			w.pool.mustBeUntouched(slot, next)
		}
		slot.Value = v
		next = slot.Publish(next)
		if debugging {
			w.pool.records.lives.Began(next, "inserted")
		}
		return Handle[T](next), nil
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

// InsertFunc is like [Pool.InsertFunc]. init may use the Worker.
func (w *Worker[T]) InsertFunc(init func(h Handle[T], v *T)) (Handle[T], error) {
	return w.construct(init, nil)
}

// TryInsertFunc is like [Pool.TryInsertFunc]. init may use the Worker. If init fails, the
// slot goes back to the pool, not to the Worker.
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
		p := w.pool // a Reset may close the Worker
		return p.ended(h, w.slots.Remove(uint64(h)))
	}
	ok := w.slots.Remove(uint64(h))
	runtime.KeepAlive(w)
	return ok
}

// Take is like [Pool.Take], but costs one locked instruction.
func (w *Worker[T]) Take(h Handle[T]) (v T, ok bool) {
	if debugging {
		defer w.user.enter()()
	}
	p := w.pool // a Reset may close the Worker
	v, ok = w.slots.Take(uint64(h))
	p.ended(h, ok)
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
	runtime.SetFinalizer(w.end, nil)
	defer p.closed(w.slots) // also when a Reset panics
	if debugging {
		w.end.mark.closed(p.records.workers, "closed")
	}
	w.pool = nil // before a Reset runs
	w.slots.Close(shard.Reclaim)
}

// dropped is what the finalizer does. Like Pool.dropped it does not reclaim.
func (e *workerEnd[T]) dropped() {
	p := e.pool.Value()
	if p == nil {
		return
	}
	p.collected.Add(1)
	if debugging {
		e.mark.dropped(p.records.workers, collected)
	}
	m := e.slots.Value()
	m.Close(shard.Leave)
	p.closed(m) // last: if no Worker is open, all slots are back
}

// closed forgets the magazine of a Worker that was closed.
func (p *Pool[T]) closed(m *shard.Magazine[T]) {
	p.magazines.Delete(m)
	p.workers.Add(-1)
}
