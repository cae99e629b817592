package pool

import "context"

// Synchronize waits until the pool has reclaimed every slot that was removed before the call: its
// value is zeroed or Reset, and it is free. It waits for guards that were pinned before the call,
// and perhaps for later ones. It does not wait for what open Workers and Refs keep, nor, in a pool
// that replays, for the value that a WriteTo is reading.
//
// If there is nothing to wait for, Synchronize returns nil, even if ctx is done. Otherwise it
// returns ctx's error when ctx is done; it looks at ctx after every few hundred slots. A
// goroutine that waits under its own guard, or in a Reset, waits until ctx is done.
func (p *Pool[T]) Synchronize(ctx context.Context) error { return p.synchronize(ctx) }

func (c *core) synchronize(ctx context.Context) error {
	c.pages()
	return c.arena.Synchronize(ctx)
}
