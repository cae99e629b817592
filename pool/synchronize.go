package pool

import "context"

// Synchronize waits until everything that was removed before the call has been reclaimed: zeroed or
// Reset, and free. It waits for the guards that were pinned before, and may wait for later ones. It
// does not wait for what open Workers and Refs keep.
//
// If there is nothing to wait for, Synchronize returns nil, even if ctx is done. Otherwise it
// returns ctx's error, once it has looked at ctx, which it does after every few hundred slots. A
// goroutine that waits under its own guard, or in a Reset, waits until ctx is done.
func (p *Pool[T]) Synchronize(ctx context.Context) error { return p.synchronize(ctx) }

func (c *core) synchronize(ctx context.Context) error {
	c.pages()
	return c.arena.Synchronize(ctx)
}
