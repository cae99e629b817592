package pool

import (
	"runtime"

	"coatcheck/internal/atom"
	"coatcheck/shard"
)

// Worker is the fast path of one goroutine at a time, a worker of a job system
// say. It keeps some vacant slots at hand and gathers what it removes, so that a
// removal costs one locked instruction, and an insertion none on amd64, one elsewhere.
// The verbs mean the same as the pool's, and handles are the pool's.
//
// Some slots are in its reach: 128 at first, and up to 4,096 when as many go round in
// it; fewer in a small bounded pool, none under FIFO. They are free, but nobody else can
// take them: Stats counts them as Cached. Flush gives them back; so does Close, and so
// does the garbage collector if the Worker is dropped. It gives back by itself what it
// has not used for long.
//
// It must not be used by two goroutines at once; it may be handed from one to
// another, as any value may. The zero Worker panics. It must not be copied, nor
// kept in a value of its own pool, where the collector would never find it
// dropped.
//
// A locked instruction holds up every load after it, so what a fast path costs
// beyond its one is the longest chain of loads that depend on each other. That
// is why a Worker keeps pointers to slots and its own copy of the page table.
type Worker[T any] struct {
	mark mark     // noCopy
	pool *Pool[T] // nil when closed

	// slots is plain: the Worker's goroutine has it to itself, and the finalizer runs
	// when there is no such goroutine any more. Therefore every method keeps the
	// Worker alive to its end: its last mention may otherwise lie before the last use
	// of what it keeps, and a collection right there would give the slots back under
	// the method.
	slots shard.Magazine[T]
}

// Worker returns a new Worker. It allocates; make one a goroutine, not one a
// call.
func (p *Pool[T]) Worker() *Worker[T] {
	p.pages()
	w := &Worker[T]{pool: p, slots: p.arena.NewMagazine()}
	p.workers.Add(1)
	// A finalizer and not a cleanup: it is handed the Worker itself, so that the
	// fields need not lie in another object, one load further away. Nothing that
	// the Worker refers to refers back.
	runtime.SetFinalizer(w, (*Worker[T]).drop)
	if debugging {
		w.mark.opened(p.records.workers, opened, "")
	}
	return w
}

// open panics unless the Worker is open.
func (w *Worker[T]) open() {
	if w.pool == nil {
		panic(closedWorker)
	}
}

// Insert is [Pool.Insert] by the fast path. On amd64 it costs no locked instruction.
func (w *Worker[T]) Insert(v T) (h Handle[T], err error) {
	if slot, next := w.slots.Next(); slot != nil {
		slot.Value = v
		if atom.Charges {
			atom.PlainWrite(&slot.Value)
		}
		h = w.pool.live(slot, next)
		runtime.KeepAlive(w)
		return h, nil
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

// InsertFunc is [Pool.InsertFunc] by the fast path. init may use the Worker.
func (w *Worker[T]) InsertFunc(init func(h Handle[T], v *T)) (Handle[T], error) {
	defer runtime.KeepAlive(w) // also when init panics
	p := w.pool
	slot, h, err := w.next()
	if err != nil {
		return 0, err
	}
	return p.construct(slot, h, init), nil
}

// TryInsertFunc is [Pool.TryInsertFunc] by the fast path. init may use the Worker. A
// slot whose init fails goes back to the pool.
func (w *Worker[T]) TryInsertFunc(init func(h Handle[T], v *T) error) (Handle[T], error) {
	defer runtime.KeepAlive(w) // also when init panics
	p := w.pool
	slot, h, err := w.next()
	if err != nil {
		return 0, err
	}
	return p.tryConstruct(slot, h, init)
}

// next returns a vacant slot, which is the caller's.
func (w *Worker[T]) next() (*shard.Slot[T], uint64, error) {
	if slot, h := w.slots.Next(); slot != nil {
		return slot, h, nil
	}
	return w.slots.Claim()
}

// Get is [Pool.Get], at the same cost.
//
// A call of open and a return of both results at once would be too much for the compiler
// to put it into its caller.
func (w *Worker[T]) Get(h Handle[T]) (v T, ok bool) {
	if w.pool == nil {
		panic(closedWorker)
	}
	v, ok = w.pool.Get(h)
	return
}

// Pin is [Pool.Pin].
func (w *Worker[T]) Pin() Guard[T] {
	w.open()
	return w.pool.Pin()
}

// Remove is [Pool.Remove] by the fast path. It costs one locked instruction.
func (w *Worker[T]) Remove(h Handle[T]) bool {
	ok := w.slots.Remove(uint64(h))
	if debugging && ok {
		w.pool.records.lives.Ended(uint64(h), removed)
	}
	runtime.KeepAlive(w)
	return ok
}

// Take is [Pool.Take] by the fast path. It costs one locked instruction.
func (w *Worker[T]) Take(h Handle[T]) (v T, ok bool) {
	v, ok = w.slots.Take(uint64(h))
	if debugging && ok {
		w.pool.records.lives.Ended(uint64(h), removed)
	}
	runtime.KeepAlive(w)
	return v, ok
}

// Flush gives the Worker's slots back to the pool. The Worker may be used further.
func (w *Worker[T]) Flush() {
	w.open()
	w.slots.Flush()
	runtime.KeepAlive(w)
}

// Close is Flush for good. Closing twice is fine; any other use after it panics.
func (w *Worker[T]) Close() {
	p := w.pool
	if p == nil {
		return
	}
	runtime.SetFinalizer(w, nil)
	defer p.workers.Add(-1) // also when a Reset panics
	if debugging {
		w.mark.closed(p.records.workers, closed)
	}
	w.pool = nil // before a Reset runs
	w.slots.Close()
}

// drop is the finalizer of a Worker that was dropped. It leaves reclaiming to
// those who use the pool: a Reset has no business on the collector's goroutine,
// where a panic would end the program.
func (w *Worker[T]) drop() {
	if w.pool == nil {
		return
	}
	w.pool.collected.Add(1)
	if debugging {
		w.mark.dropped(w.pool.records.workers, collected)
	}
	w.slots.CloseQuietly()
	w.pool.workers.Add(-1) // last: where no Worker is open, all slots are back
}
