//go:build linux

package main

import "coatcheck/pool"

// handles has the operators in a pool. A word is a handle, which the pool refuses once
// the connection has ended.
type handles struct{ pool *pool.Pool[operator] }

func newHandles() operators {
	return handles{pool.Must(&pool.Options[operator]{Reset: recycle})}
}

func (t handles) add(fd int, init func(o *operator) error) error {
	_, err := t.pool.TryInsertFunc(func(h pool.Handle[operator], o *operator) error {
		o.word, o.fd = uint64(h), fd
		return init(o)
	})
	return err
}

func (t handles) remove(o *operator) { t.pool.Remove(pool.Handle[operator](o.word)) }

func (t handles) each(f func(o *operator)) {
	for _, o := range t.pool.All() {
		o.mu.Lock()
		if o.fd >= 0 { // it has not ended during the wait for the lock
			f(o)
		}
		o.mu.Unlock()
	}
}

func (t handles) batches() batch { return &pinned{pool: t.pool} }

// pinned is a batch under a guard.
type pinned struct {
	pool  *pool.Pool[operator]
	guard pool.Guard[operator]
}

func (b *pinned) begin() { b.guard = b.pool.Pin() }
func (b *pinned) end()   { b.guard.Unpin() }

func (b *pinned) find(word uint64) *operator {
	o, ok := b.guard.Pointer(pool.Handle[operator](word))
	if !ok {
		return nil
	}
	o.mu.Lock()
	if o.fd < 0 { // it ended during the wait for the lock
		o.mu.Unlock()
		return nil
	}
	return o
}
