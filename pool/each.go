package pool

import (
	"cmp"
	"context"
	"errors"
	"runtime"

	"go.uber.org/atomic"
	"golang.org/x/sync/errgroup"

	"coatcheck/internal/atom"
	"coatcheck/shard"
)

// Each calls f for the live values in up to workers goroutines at once, and waits for all
// calls to return. If workers ≤ 0, it uses GOMAXPROCS goroutines. Each is weakly
// consistent, as [Pool.All] is. A pointer is valid until the call of f that has it returns.
//
// Each stops at the first error of f and returns it. When ctx is done, each goroutine makes
// at most 32 more calls, and Each returns ctx's error, even if there is nothing to do. If f
// panics, Each stops and panics with the same value. If f calls runtime.Goexit, Each stops
// and returns an error.
//
// A pin of Each lasts for at most 32 calls, so slots that are removed meanwhile do not wait
// for its return.
func (p *Pool[T]) Each(ctx context.Context, workers int, f func(Handle[T], *T) error) error {
	return p.each(ctx, workers, callsOf(f))
}

// each is Each, where calls calls f.
func (c *core) each(ctx context.Context, workers int, calls callsFunc) error {
	t := c.pages()
	if err := ctx.Err(); err != nil {
		return err
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	size := min(max(uint64(t.Limit)/uint64(workers)/eachShares, eachLeast), eachMost)
	workers = int(min(uint64(workers), (uint64(t.Limit)+size-1)/size))

	e := each{core: c, ctx: ctx, pages: t, size: size, calls: calls}
	var g errgroup.Group
	for range workers {
		g.Go(e.work)
	}
	_ = g.Wait() // nil: work reports through fail, also if f ends its goroutine
	if e.panicked.Load() {
		panic(e.panic)
	}
	return cmp.Or(e.err.Load(), ctx.Err())
}

// each is one call of Each.
type each struct {
	core  *core
	ctx   context.Context
	pages *shard.PageTable
	size  uint64 // slots in a piece of work
	calls callsFunc

	next    atom.Uint64 // the first index of the next piece; aligns itself on 32 bits
	stopped atomic.Bool
	err     atomic.Error // the first one

	panicked atomic.Bool
	panic    any // plain: written by the goroutine that sets panicked, read after Wait
}

const (
	// eachShares is the number of pieces of work for each worker. More pieces spread
	// values of different cost more evenly; each costs a pin and a check of ctx.
	eachShares = 16

	// eachLeast is the least number of slots in a piece.
	eachLeast = 8

	// eachMost is the greatest number of slots in a piece. It is less than a page may have.
	eachMost = 4096

	// eachCalls is the number of calls of f under one pin, and after one check of ctx,
	// which cost 15 ns together. More calls delay reclaiming and cancellation.
	eachCalls = 32
)

// errGoexit is the result of Each if f calls runtime.Goexit.
var errGoexit = errors.New("pool: Each: f called runtime.Goexit")

// fail stops the work and keeps the first error.
func (e *each) fail(err error) {
	e.err.CompareAndSwap(nil, err)
	e.stopped.Store(true)
}

// work takes pieces until there are none left. It recovers a panic of f, so that errgroup
// does not see it.
func (e *each) work() error {
	var pin tracedPin // of each piece in turn: what callsFunc gets lies in the heap
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
		if err := e.piece(&pin, uint32(first), uint32(min(first+e.size, uint64(e.pages.Limit)))); err != nil {
			e.fail(err)
		}
	}
	returned = true
	return nil
}

// piece calls f for the live values with first ≤ index < end.
func (e *each) piece(pin *tracedPin, first, end uint32) error {
	if err := e.ctx.Err(); err != nil {
		return err
	}
	*pin = e.core.domain.Pin()
	defer pin.Unpin()
	return e.calls(e, pin, first, end)
}

// renew replaces the pin, so that a slow f does not delay reclaiming.
func (e *each) renew(pin *tracedPin) error {
	if err := e.ctx.Err(); err != nil {
		return err
	}
	pin.Unpin()
	*pin = e.core.domain.Pin()
	return nil
}

// callsFunc calls f for the live values with first ≤ index < end, under a pin that it renews
// every eachCalls calls.
type callsFunc func(e *each, pin *tracedPin, first, end uint32) error

// callsOf returns the callsFunc of f. Its loop is liveSlots, spelt out: through the iterator, it
// takes 1.4 times as long. callsOf is not inlined, or nothing would be inlined into the loop.
//
//go:noinline
func callsOf[T any](f func(Handle[T], *T) error) callsFunc {
	return func(e *each, pin *tracedPin, first, end uint32) error {
		for calls := 0; first < end; {
			block := shard.Block[T](e.pages, first, end-first)
			for j := range block {
				// Loaded under the pin that protects the call. Observes (P1).
				w := block[j].Word.Load()
				if uint32(w) != first+uint32(j) {
					continue
				}
				if e.stopped.Load() {
					return nil
				}
				if err := f(Handle[T](w), &block[j].Value); err != nil {
					return err
				}
				if calls++; calls == eachCalls {
					calls = 0
					if err := e.renew(pin); err != nil {
						return err
					}
				}
			}
			first += uint32(len(block))
		}
		return nil
	}
}
