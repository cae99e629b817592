package pool

import (
	"context"
	"errors"
	"runtime"

	"go.uber.org/atomic"
	"golang.org/x/sync/errgroup"

	"coatcheck/internal/atom"
	"coatcheck/shard"
)

// errGoexit is what Each returns when f left its goroutine.
var errGoexit = errors.New("pool: Each: f called runtime.Goexit")

const (
	// eachShares is how many pieces of work Each makes for a worker. More even
	// out values that cost differently, and cost a pin and a look at ctx each.
	eachShares = 16

	// eachLeast is the least number of slots in a piece.
	eachLeast = 8

	// eachCalls is how many calls of f a worker makes under one pin, and after one
	// look at ctx. More of them hold back reclaiming, and a cancellation, for
	// longer. Fewer cost more: the two are 15 ns, a call that does nothing 2 ns.
	eachCalls = 32
)

// Each calls f for the live values, on up to workers goroutines at once; workers
// ≤ 0 means GOMAXPROCS. Each is weakly consistent, as [Pool.All] is. A pointer is
// good until the call of f that got it returns.
//
// The first error, or ctx's, stops it and is returned; calls that are under way
// end first. When ctx is done, each worker begins at most 32 more calls. A panic
// in f comes up in the caller of Each, with its value. If f calls
// runtime.Goexit, Each stops and returns an error. A ctx that is done is an
// error even if there is nothing to do.
//
// A pin of Each lasts for 32 calls at most: what is removed meanwhile is
// reclaimed while Each goes on.
func (p *Pool[T]) Each(ctx context.Context, workers int, f func(Handle[T], *T) error) error {
	t := p.pages()
	if err := ctx.Err(); err != nil {
		return err
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	size := min(max(uint64(t.Limit)/uint64(workers)/eachShares, eachLeast), blockSlots)
	workers = int(min(uint64(workers), (uint64(t.Limit)+size-1)/size))

	e := each[T]{pool: p, ctx: ctx, pages: t, size: size, f: f}
	// The workers look at ctx themselves, but not before each call: that would cost
	// as much as the rest. This stops a slow f earlier, which leaves a processor to
	// the goroutine that context starts.
	stop := context.AfterFunc(ctx, func() { e.fail(ctx.Err()) })
	defer stop()
	var g errgroup.Group
	for range workers {
		g.Go(e.work)
	}
	if err := g.Wait(); err != nil {
		return err // cannot be: work reports through fail
	}
	if e.panicked.Load() {
		panic(e.panic)
	}
	return e.err.Load()
}

// each is one call of Each.
type each[T any] struct {
	pool  *Pool[T]
	ctx   context.Context
	pages *shard.Pages
	size  uint64 // slots in a piece of work
	f     func(Handle[T], *T) error

	next    atom.Uint64 // the first index that nobody has taken; aligns itself on 32 bits
	stopped atomic.Bool
	err     atomic.Error // the first one

	panicked atomic.Bool
	panic    any // plain: written by who sets panicked first, read after Wait
}

// fail stops the work. The first error is kept.
func (e *each[T]) fail(err error) {
	e.err.CompareAndSwap(nil, err)
	e.stopped.Store(true)
}

// work takes pieces until there are none. Whatever f does, errgroup sees the
// goroutine end.
func (e *each[T]) work() error {
	returned := false
	defer func() {
		if returned {
			return
		}
		if v := recover(); v == nil {
			e.fail(errGoexit)
		} else if e.panicked.CompareAndSwap(false, true) {
			e.panic = v
			e.stopped.Store(true)
		}
	}()
	for !e.stopped.Load() {
		first := e.next.Add(e.size) - e.size
		if first >= uint64(e.pages.Limit) {
			break
		}
		if err := e.piece(uint32(first), uint32(min(first+e.size, uint64(e.pages.Limit)))); err != nil {
			e.fail(err)
		}
	}
	returned = true
	return nil
}

// piece calls f for the live values with first ≤ index < end. It pins the pool
// anew after every eachCalls calls: a slow f would otherwise keep all that is
// removed meanwhile from being reclaimed.
//
// The loop is All's, written out: with an iterator in between, a look at a slot
// costs twice as much.
func (e *each[T]) piece(first, end uint32) error {
	if err := e.ctx.Err(); err != nil {
		return err
	}
	g := e.pool.Pin()
	defer g.Unpin()
	for calls := 0; first < end; {
		block := shard.Block[T](e.pages, first, end-first)
		for j := range block {
			// Loaded under the pin that the call relies on. Observes (P1).
			w := block[j].Word.Load()
			if uint32(w) != first+uint32(j) {
				continue
			}
			if e.stopped.Load() {
				return nil
			}
			if err := e.f(Handle[T](w), &block[j].Value); err != nil {
				return err
			}
			if calls++; calls == eachCalls {
				calls = 0
				if err := e.ctx.Err(); err != nil {
					return err
				}
				g.Unpin()
				g = e.pool.Pin()
			}
		}
		first += uint32(len(block))
	}
	return nil
}
