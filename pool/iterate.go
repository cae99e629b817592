package pool

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"go.uber.org/atomic"
	"golang.org/x/sync/errgroup"

	"coatcheck/internal/atom"
	"coatcheck/internal/cause"
	"coatcheck/shard/slots"
)

// All returns an iterator over the live values. The loop is pinned until it ends, also by a panic
// or runtime.Goexit in its body, and each pointer is valid until then. So in the body, insertions
// into a full pool fail, and InsertWait and Synchronize wait until ctx is done. Do not block in the
// body: collect handles.
//
// A value that lives through the whole loop is yielded exactly once, and one that is inserted or
// removed meanwhile at most once. The loop ends even if its body inserts. It reads every slot that
// has memory, live or not. [Guard.All] is several times as fast, because the compiler inlines its
// body.
func (p *Pool[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) { p.rangeAll(yield) }
}

// rangeAll is the loop of All. In a function literal, a deferred call would allocate.
func (p *Pool[T]) rangeAll(yield func(Handle[T], *T) bool) {
	g := p.Pin()
	defer g.Unpin()
	t := g.pages()
	liveSlots[T](t, 0, t.Limit)(yield)
}

// All is like [Pool.All]; the pointers are valid until Unpin. If the body unpins the guard, it must
// then end the loop.
func (g *Guard[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		t := g.pages()
		liveSlots[T](t, 0, t.Limit)(yield)
	}
}

// liveSlots ranges over the live slots of t with start ≤ index < end. Loops over values hold a
// pin; those that only use the handles need none. It is inlined into each loop, and so is the
// loop's body.
func liveSlots[T any](t *slots.PageTable, start, end uint32) iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		for first := start; first < end; {
			var block []slots.Slot[T]
			first, block = slots.Block[T](t, first, end)
			for j := range block {
				// A word with the slot's own index is live (I4). Observes (P1).
				if w := block[j].Word.Load(); uint32(w) == first+uint32(j) {
					if !yield(Handle[T](w), &block[j].Value) {
						return
					}
				}
			}
			first += uint32(len(block))
		}
	}
}

// Each calls f for each live value, in up to workers goroutines at once, or GOMAXPROCS if workers ≤
// 0, and waits for all calls. It visits values as [Pool.All] does, under pins of at most 32 calls.
// A pointer is valid until its call of f returns.
//
// Each returns the first error of f, or ctx's error once ctx is done; each goroutine may first make
// up to 32 more calls. If f panics, Each panics with the same value. If f calls runtime.Goexit,
// Each returns an error.
func (p *Pool[T]) Each(ctx context.Context, workers int, f func(Handle[T], *T) error) error {
	return p.forEach(ctx, workers, callsOf(f))
}

// forEach is Each, where calls calls f.
func (c *core) forEach(ctx context.Context, workers int, calls callsFunc) error {
	e := c.newEach(ctx, workers, calls)
	e.caller = callerOf()
	if it := c.tracer.each(); it != nil {
		defer c.tracer.closeEach(it)
	}
	if ctx.Done() != nil && !slots.Exploring {
		defer context.AfterFunc(ctx, func() { e.fail(cause.Of(ctx)) })()
	}
	var g errgroup.Group
	for k := range e.shares {
		g.Go(func() error { e.work(&e.shares[k]); return nil })
	}
	_ = g.Wait() // nil: work reports through fail, also if f ends its goroutine
	return e.result()
}

// newEach returns an each that divides the slots among goroutines.
func (c *core) newEach(ctx context.Context, workers int, calls callsFunc) *eachCall {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	limit := c.arena.Table.Allocated() // before the pages, which have these slots then
	n := min(uint64(workers), limit)
	e := &eachCall{core: c, ctx: ctx, pages: c.pages(), calls: calls, shares: make([]share, n)}
	for k := range n {
		e.shares[k].set(uint32(limit*k/n), uint32(limit*(k+1)/n))
	}
	return e
}

// result returns the error of the whole, or panics as f did.
func (e *eachCall) result() error {
	if e.panicked.Load() {
		e.rethrow()
	}
	if err := e.err.Load(); err != nil || e.ctx.Err() == nil {
		return err
	}
	return cause.Of(e.ctx)
}

// rethrow panics as f did. The runtime prints all panics of a goroutine that dies, and recover returns
// the last: so the first has the stack of f, and the second its value.
func (e *eachCall) rethrow() {
	defer func() { panic(e.panic) }()
	panic("pool: Each: f panicked in a goroutine of its own:\n" + string(e.stack))
}

// eachCall is one call of Each. Each of its goroutines has a share of the slots. One that has come to
// the end of its own takes half of what another has left. So a few values of a large pool run side
// by side, and so do those of a slow f.
type eachCall struct {
	core   *core
	ctx    context.Context
	pages  *slots.PageTable
	calls  callsFunc
	shares []share
	moving sync.Mutex // slots move from one share to another
	caller caller

	stopped  atomic.Bool
	err      atomic.Error // the first one
	panicked atomic.Bool
	panic    any    // plain: written by the goroutine that sets panicked, read after Wait
	stack    []byte // of that goroutine, as panic
}

const (
	// eachMost is how many slots are visited under one pin, at most.
	eachMost = 4096

	// eachCalls is the number of calls of f under one pin, and after one check of ctx,
	// which cost 15 ns together. More calls delay reclaiming and cancellation.
	eachCalls = 32

	// A goroutine claims its slots one by one as long as f is slow, so that others can take those
	// behind. If a call of f takes less than eachQuick on average, it claims more at a time, up to
	// eachClaim: a claim costs a locked instruction. Then it looks at the clock less often too,
	// after eachClaim pins.
	eachQuick = time.Microsecond
	eachClaim = 64
)

// share is what a goroutine has not claimed yet: the slots from next on, below end.
//
//	writers  claim, by its goroutine, which raises next; halve, which lowers end; set, when it is
//	         empty or new
type share struct {
	word atom.Uint64 // next | end; aligns itself on 32 bits
	_    [120]byte
}

func (s *share) set(next, end uint32) { s.word.Store(slots.Pack(next, end)) }

func (s *share) bounds() (next, end uint32) {
	w := s.word.Load()
	return slots.Generation(w), slots.Low(w)
}

// claim claims up to n slots from i on, and gives up those before. It returns the first slot that is
// not claimed: i if others have taken it.
func (s *share) claim(i, n uint32) uint32 {
	for {
		next, end := s.bounds()
		if i >= end {
			return i
		}
		stop := i + min(n, end-i)
		if s.word.CompareAndSwap(slots.Pack(next, end), slots.Pack(stop, end)) {
			return stop
		}
	}
}

// halve takes the second half of the share, and of a single slot all.
func (s *share) halve() (first, end uint32) {
	for {
		next, end := s.bounds()
		if next >= end {
			return 0, 0
		}
		first = next + (end-next)/2
		if s.word.CompareAndSwap(slots.Pack(next, end), slots.Pack(next, first)) {
			return first, end
		}
	}
}

// fill moves half of another share into mine, which is empty. It returns an empty one if there is
// nothing left.
func (e *eachCall) fill(mine *share) (first, end uint32) {
	e.moving.Lock() // or slots on their way would be missed
	defer e.moving.Unlock()
	for k := range e.shares {
		if first, end = e.shares[k].halve(); first < end {
			mine.set(first, end)
			break
		}
	}
	return first, end
}

// errGoexit is the result of Each if f calls runtime.Goexit.
var errGoexit = errors.New("pool: Each: f called runtime.Goexit")

// fail stops the work and keeps the first error.
func (e *eachCall) fail(err error) {
	e.err.CompareAndSwap(nil, err)
	e.stopped.Store(true)
}

// work calls f for the values of a share, and then of what others have left. It recovers a panic
// of f, so that errgroup does not see it.
func (e *eachCall) work(mine *share) {
	w := eachWorker{eachCall: e, share: mine, limit: 1} // it lies in the heap, as callsFunc gets it
	returned := false
	defer func() {
		if returned {
			return
		}
		if v := recover(); v == nil {
			e.fail(errGoexit)
		} else if e.panicked.CompareAndSwap(false, true) {
			e.panic, e.stack = v, debug.Stack()
			e.stopped.Store(true)
		}
	}()
	for !e.stopped.Load() {
		first, end := mine.bounds()
		if first >= end {
			if first, end = e.fill(mine); first >= end {
				break
			}
		}
		if err := w.visit(first, end); err != nil {
			e.fail(err)
		}
	}
	returned = true
}

// eachWorker is one goroutine of Each.
type eachWorker struct {
	*eachCall
	share *share
	pin   tracedPin

	limit uint32 // how many slots it claims at a time
	pins  int    // how many it has had since began, each for eachCalls calls or more
	began time.Time
}

// visit calls f for the live values with first ≤ index < end that no other goroutine takes.
func (w *eachWorker) visit(first, end uint32) error {
	if w.ctx.Err() != nil {
		return cause.Of(w.ctx)
	}
	w.pins, w.began = 0, time.Now()
	w.setPin()
	defer w.pin.Unpin()
	err := w.eachCall.calls(w, first, end)
	w.share.set(0, 0)
	return err
}

// setPin pins. The stack here says nothing of the caller of Each, who is recorded instead.
func (w *eachWorker) setPin() { w.pin = pinFor(&w.core.domain, w.caller) }

// renew replaces the pin, so that what is removed meanwhile can be reclaimed.
func (w *eachWorker) renew() error {
	if w.ctx.Err() != nil {
		return cause.Of(w.ctx)
	}
	w.pin.Unpin()
	w.setPin()
	return nil
}

// called renews the pin after eachCalls calls, and adapts to how long they took.
func (w *eachWorker) called() error {
	if w.pins++; w.limit < eachClaim || w.pins == eachClaim {
		now := time.Now()
		if now.Sub(w.began) < time.Duration(w.pins)*eachCalls*eachQuick {
			w.limit = min(4*w.limit, eachClaim)
		} else {
			w.limit = 1
		}
		w.began, w.pins = now, 0
	}
	return w.renew()
}

// callsFunc calls f for the live values with first ≤ index < end that the worker can claim, under
// its pin, which it renews.
type callsFunc func(w *eachWorker, first, end uint32) error

// callsOf returns the callsFunc of f. Its loop is liveSlots, spelt out: through the iterator, it
// takes 1.4 times as long. callsOf is not inlined, or nothing would be inlined into the loop.
//
//go:noinline
func callsOf[T any](f func(Handle[T], *T) error) callsFunc {
	return func(w *eachWorker, first, end uint32) error {
		calls, claimed := 0, uint32(0)
		for first < end {
			var block []slots.Slot[T]
			first, block = slots.Block[T](w.pages, first, end)
			block = block[:min(len(block), eachMost)]
			for j := 0; j < len(block); {
				if i := first + uint32(j); i >= claimed {
					if uint32(block[j].Word.Load()) != i {
						j++
						continue
					}
					if claimed = w.share.claim(i, w.limit); claimed == i {
						return nil // others have the rest
					}
				}
				for mine := block[:min(len(block), int(claimed-first))]; j < len(mine); j++ {
					// Loaded under the pin that protects the call. Observes (P1).
					word := mine[j].Word.Load()
					if uint32(word) != first+uint32(j) {
						continue
					}
					if w.stopped.Load() {
						return nil
					}
					if err := f(Handle[T](word), &mine[j].Value); err != nil {
						return err
					}
					if calls++; calls == eachCalls {
						calls = 0
						if err := w.called(); err != nil {
							return err
						}
					}
				}
			}
			if first += uint32(len(block)); first < end {
				if err := w.renew(); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
