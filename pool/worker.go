package pool

import (
	"runtime"

	"coatcheck/shard"
)

// workerReach is the most slots that a Worker has in reach.
const workerReach = 128

// Worker is the fast path of one goroutine at a time, a worker of a job system
// say. It keeps some vacant slots at hand and gathers what it removes, so that a
// removal costs one locked instruction and an insertion none, on amd64. The verbs
// mean the same as the pool's, and handles are the pool's.
//
// At most 128 slots are in its reach: fewer in a small bounded pool, none under
// FIFO. They are free, but nobody else can take them: Stats counts them as
// Cached. Flush gives them back; so does Close, and so does the garbage collector
// if the Worker is dropped.
//
// It must not be used by two goroutines at once; it may be handed from one to
// another, as any value may. The zero Worker panics. It must not be copied, nor
// kept in a value of its own pool, where the collector would never find it
// dropped.
//
// A locked instruction holds up every load after it, so what a fast path costs
// beyond it is the longest chain of loads that depend on each other. That
// is why a Worker keeps pointers to slots and its own copy of the page table.
type Worker[T any] struct {
	mark mark // noCopy

	// All fields are plain: the Worker's goroutine has them to itself, and the
	// finalizer runs when there is no such goroutine any more. Therefore every
	// method keeps the Worker alive to its end: its last mention may otherwise
	// lie before the last use of what it keeps, and a collection right there
	// would give the slots back under the method.

	// ready are the slots that Insert takes from, the last first; nil when
	// closed, as are all others then.
	ready []cached[T]

	// bag are the slots that were removed and not yet past their grace period,
	// with the handles that they had. Their words link them, each to the one
	// before, for the way to limbo; bagTop is the last one's index, or None.
	bag    []cached[T]
	bagTop uint32

	// tag is the greatest of the removals in the bag, where exact asks for it.
	tag   uint64
	exact bool // space.Exact, at hand

	// next ≤ index < end are slots that were never used.
	next, end uint32

	pages shard.Pages  // a copy of the current table
	table *shard.Pages // that table; nil when there is no copy

	pool     *Pool[T] // nil when closed
	shard    *shard.Shard[T]
	bagMost  int // the bag is full with so many; 0 when nothing is kept
	readyMax int // ready takes so many, those never used included
}

// cached is a vacant slot with the handle that it had, or will have.
type cached[T any] struct {
	slot *shard.Slot[T]
	h    uint64
}

// Worker returns a new Worker. It allocates; make one a goroutine, not one a
// call.
func (p *Pool[T]) Worker() *Worker[T] {
	pages := p.pages()
	w := &Worker[T]{
		pool:   p,
		shard:  &p.shards[p.dealt.Add(1)%uint64(len(p.shards))],
		pages:  *pages,
		table:  pages,
		bagTop: shard.None,
		exact:  p.space.Exact,
	}
	// In a bounded pool the Workers should not keep more than a fraction of the
	// slots out of the others' reach.
	reach := workerReach
	if p.capacity > 0 {
		reach = int(min(uint64(reach), p.capacity/16))
	}
	if !p.space.FIFO && reach >= 4 {
		w.bagMost = reach * 3 / 8
		w.readyMax = reach - w.bagMost
		w.ready = make([]cached[T], 0, w.readyMax)
		w.bag = make([]cached[T], 0, w.readyMax)
	}
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

// Insert is [Pool.Insert] by the fast path.
func (w *Worker[T]) Insert(v T) (Handle[T], error) {
	n := len(w.ready) - 1
	if n < 0 {
		return w.insertSlow(v)
	}
	c := w.ready[n]
	w.ready = w.ready[:n]
	c.slot.Value = v
	c.slot.Publish(c.h)
	if debugging {
		w.pool.records.lives.Began(c.h, inserted)
	}
	runtime.KeepAlive(w)
	return Handle[T](c.h), nil
}

func (w *Worker[T]) insertSlow(v T) (Handle[T], error) {
	w.open()
	slot, h, err := w.claimSlow()
	if err == nil {
		slot.Value = v
		slot.Publish(h)
		if debugging {
			w.pool.records.lives.Began(h, inserted)
		}
	}
	runtime.KeepAlive(w)
	return Handle[T](h), err
}

// InsertFunc is [Pool.InsertFunc] by the fast path. init may use the Worker.
func (w *Worker[T]) InsertFunc(init func(h Handle[T], v *T)) (Handle[T], error) {
	w.open()
	defer runtime.KeepAlive(w) // also when init panics
	slot, h, err := w.claim()
	if err != nil {
		return 0, err
	}
	return w.pool.build(w.shard, slot, h, init), nil
}

// Get is [Pool.Get].
func (w *Worker[T]) Get(h Handle[T]) (T, bool) {
	w.open()
	return w.pool.Get(h)
}

// Pin is [Pool.Pin].
func (w *Worker[T]) Pin() Guard[T] {
	w.open()
	return w.pool.Pin()
}

// Remove is [Pool.Remove] by the fast path. It costs one locked instruction.
func (w *Worker[T]) Remove(h Handle[T]) bool {
	n := len(w.bag)
	if n >= w.bagMost || w.pages.Now.Load() != w.table || h.Index() >= w.pages.Limit || shard.LastLife(uint64(h)) ||
		w.exact && n > 0 && w.pool.domain.Epoch() != w.tag {
		return w.removeSlow(h)
	}
	return w.unlink(h)
}

// unlink ends the life of what h names, and puts its slot into the bag, which has
// room.
func (w *Worker[T]) unlink(h Handle[T]) bool {
	n := len(w.bag)
	slot := shard.At[T](&w.pages, h.Index())
	// Success proves that this Worker ended the incarnation, and makes it the
	// slot's owner (I1). The link is not to the slot itself (I4): if it were in
	// the bag it would not be live, and nobody else takes it out.
	ok := slot.Word.CompareAndSwap(uint64(h), shard.Vacated(uint64(h), w.bagTop))
	if ok {
		w.bag = w.bag[:n+1]
		w.bag[n] = cached[T]{slot, uint64(h)}
		w.bagTop = h.Index()
		if w.exact {
			w.tag = w.pool.space.Domain.Stamp()
		}
		if debugging {
			w.pool.records.lives.Ended(uint64(h), removed)
		}
	}
	runtime.KeepAlive(w)
	return ok
}

// removeSlow is Remove when the bag is full, or there is none, or the index lies
// beyond the table at hand, or the slot has no life left, or the epoch has moved.
func (w *Worker[T]) removeSlow(h Handle[T]) (ok bool) {
	w.open()
	if n := len(w.bag); n > 0 && (n >= w.bagMost || w.parted()) {
		w.turn()
		w.open() // a Reset that ran in turn may have closed this Worker
	}
	// After turn: a Reset may also have flushed it, and with it the table at hand.
	if w.refresh(); h.Index() < w.pages.Limit {
		if len(w.bag) < w.bagMost && !shard.LastLife(uint64(h)) {
			return w.unlink(h)
		}
		p := w.pool
		ok = w.shard.Remove(shard.At[T](&w.pages, h.Index()), uint64(h))
		if debugging && ok {
			p.records.lives.Ended(uint64(h), removed)
		}
	}
	runtime.KeepAlive(w)
	return ok
}

// parted reports whether a guard was pinned since something came into the bag, that
// is still pinned: what is there need not wait for it, and what comes now must.
func (w *Worker[T]) parted() bool {
	if !w.exact {
		return false
	}
	d := w.pool.space.Domain
	e := d.Epoch()
	return e > w.tag && d.Separates(w.tag, e)
}

// Take is [Pool.Take] by the fast path. It costs one locked instruction.
func (w *Worker[T]) Take(h Handle[T]) (v T, ok bool) {
	w.open()
	if w.bagMost == 0 || w.pool.space.Reset != nil || shard.LastLife(uint64(h)) {
		// To limbo, which wants the value moved and marked before.
		if w.refresh(); h.Index() < w.pages.Limit {
			p := w.pool
			v, ok = w.shard.Take(shard.At[T](&w.pages, h.Index()), uint64(h))
			if debugging && ok {
				p.records.lives.Ended(uint64(h), removed)
			}
		}
	} else if ok = w.Remove(h); ok {
		// In the bag, as its last slot, it is this Worker's. The table from before the
		// removal might show the page as it was before it was given up.
		v = w.bag[len(w.bag)-1].slot.Value
	}
	runtime.KeepAlive(w)
	return v, ok
}

// Flush gives the Worker's slots back to the pool. The Worker may be used further.
func (w *Worker[T]) Flush() {
	w.open()
	w.returnReady()
	c := w.emptyBag()
	// Pointers to slots and a copy of the table would keep the memory of pages that
	// Trim gives up. They go before a Reset runs, which may use this Worker.
	clear(w.ready[:cap(w.ready)])
	clear(w.bag[:cap(w.bag)])
	w.pages, w.table = shard.Pages{Now: w.pages.Now}, nil
	w.shard.RetireChain(&c)
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
	// Closed before the slots go: a Reset that uses this Worker must not fill it
	// again.
	w.pool, w.bagMost = nil, 0
	w.returnReady()
	c := w.emptyBag()
	s := w.shard
	*w = Worker[T]{}
	s.RetireChain(&c)
}

// drop is the finalizer of a Worker that was dropped. It leaves reclaiming to
// those who use the pool: a Reset has no business on the collector's goroutine,
// where a panic would end the program.
func (w *Worker[T]) drop() {
	if w.pool == nil {
		return
	}
	w.pool.collected.Add(1) // first: who sees no open Worker sees this
	w.pool.workers.Add(-1)
	if debugging {
		w.mark.dropped(w.pool.records.workers, collected)
	}
	w.returnReady()
	c := w.emptyBag()
	w.shard.AbandonChain(&c)
}

// refresh copies the current table of pages, if it has changed.
func (w *Worker[T]) refresh() {
	if t := w.pool.pages(); t != w.table { // observes (P2)
		w.pages, w.table = *t, t
	}
}

func (w *Worker[T]) claim() (*shard.Slot[T], uint64, error) {
	if n := len(w.ready) - 1; n >= 0 {
		c := w.ready[n]
		w.ready = w.ready[:n]
		return c.slot, c.h, nil
	}
	return w.claimSlow()
}

// claimSlow finds a slot when none is ready: one that was never used, or the
// bag's if they may be turned already, or from the shard's freelist, or wherever
// the pool finds one.
func (w *Worker[T]) claimSlow() (*shard.Slot[T], uint64, error) {
	if w.next < w.end {
		i := w.next
		w.next++
		return w.fresh(i)
	}
	if w.bagMost == 0 {
		return w.pool.claim(w.shard)
	}
	if n := len(w.bag); n > 0 && n >= w.bagMost/2 {
		// A Reset that runs in turn may have used this Worker, and filled it.
		w.turn()
		w.open()
		if len(w.ready) > 0 || w.next < w.end {
			return w.claim()
		}
	}
	if i, n := w.shard.PopRun(w.readyMax / 2); n > 0 {
		w.fill(i, n)
		return w.claim()
	}
	if i, n := w.shard.FreshRun(w.readyMax / 2); n > 0 {
		w.next, w.end = i+1, i+uint32(n)
		return w.fresh(i)
	}
	p, s := w.pool, w.shard
	slot, h, err := p.claim(s)
	if err != nil && len(w.bag) > 0 {
		w.turn() // what the Worker keeps from itself
		w.open()
		if len(w.ready) > 0 {
			return w.claim()
		}
		slot, h, err = p.claim(s)
	}
	return slot, h, err
}

// fresh returns slot i, of a range, with the handle that it will have.
func (w *Worker[T]) fresh(i uint32) (*shard.Slot[T], uint64, error) {
	slot := w.pool.space.Slot(i)
	return slot, w.pool.space.FirstLife(slot, i), nil
}

// fill makes n linked slots from index i ready, the first to be taken first.
func (w *Worker[T]) fill(i uint32, n int) {
	w.refresh()
	w.ready = w.ready[:n]
	for n--; n >= 0; n-- {
		slot := shard.At[T](&w.pages, i)
		word := slot.Word.Load()
		w.ready[n] = cached[T]{slot, shard.Pack(shard.Generation(word)+1, i)}
		i = shard.Low(word)
	}
}

// turn makes the bag ready if nobody can be looking any more, and sends it to
// limbo otherwise. Also when there is a Reset: that may panic, or use this
// Worker, and limbo is prepared for it.
//
// A slot that goes round in one Worker is touched by nobody else; one scan of
// the pin cells serves the whole bag.
func (w *Worker[T]) turn() {
	sp := &w.pool.space
	unused := int(w.end - w.next)
	if sp.Reset != nil || len(w.ready)+unused+len(w.bag) > w.readyMax ||
		!sp.Domain.Over(w.sealTag()) {
		w.retireBag()
		return
	}
	if sp.Refs.Load() != 0 { // observes (P8): holds stood before their slots came into the bag
		bag := w.bag
		w.bag = bag[:0] // a slot that is parked is out of the Worker's hands at once
		for _, c := range bag {
			if !sp.Park(uint32(c.h)) {
				w.bag = append(w.bag, c)
			}
		}
	}
	if sp.Zero {
		var zero T
		for _, c := range w.bag {
			c.slot.Value = zero
		}
	}
	for i := range w.bag {
		w.bag[i].h = shard.Reborn(w.bag[i].h)
	}
	if len(w.ready) == 0 {
		w.ready, w.bag = w.bag, w.ready
	} else {
		w.ready = append(w.ready, w.bag...)
	}
	w.bag, w.bagTop = w.bag[:0], shard.None
}

// sealTag returns the tag of the bag. Its slots were unlinked before, and nothing is
// added meanwhile: it is a seal of its own.
func (w *Worker[T]) sealTag() uint64 {
	if w.exact {
		return w.tag
	}
	return w.pool.space.Domain.Retire()
}

// retireBag sends the bag to the shard's limbo.
func (w *Worker[T]) retireBag() {
	c := w.emptyBag()
	w.shard.RetireChain(&c)
}

// emptyBag takes everything out of the bag, as a chain.
func (w *Worker[T]) emptyBag() shard.Chain {
	n := len(w.bag)
	if n == 0 {
		return shard.Chain{}
	}
	c := shard.ChainOf(w.bag[0].h, w.bag[n-1].h, n)
	c.Tag, c.Stamped = w.tag, w.exact
	w.bag, w.bagTop = w.bag[:0], shard.None
	return c
}

// returnReady gives back to the shard's freelist what is ready and was not used.
func (w *Worker[T]) returnReady() {
	for _, c := range w.ready {
		w.shard.Return(c.slot, c.h)
	}
	w.ready = w.ready[:0]
	for ; w.next < w.end; w.next++ {
		w.shard.ReturnFresh(w.next)
	}
}
