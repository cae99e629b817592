package command_test

import (
	"sync"

	"coatcheck/pool"
)

// The baselines of the benchmarks are what programmers write to defer changes of a pool.
// Neither gives a handle before the end of the frame, nor allows a removal of what the
// frame inserts.

// closures is a list of functions under a mutex.
type closures struct {
	mu   sync.Mutex
	todo []func()
}

func (c *closures) later(f func()) {
	c.mu.Lock()
	c.todo = append(c.todo, f)
	c.mu.Unlock()
}

func (c *closures) run() {
	c.mu.Lock()
	todo := c.todo
	c.todo = nil
	c.mu.Unlock()
	for _, f := range todo {
		f()
	}
	clear(todo)
	c.mu.Lock()
	c.todo = todo[:0]
	c.mu.Unlock()
}

// lists are values to be inserted and handles to be removed, under a mutex.
type lists[T any] struct {
	mu       sync.Mutex
	values   []T
	handles  []pool.Handle[T]
	inserted []pool.Handle[T] // by the last run
}

func (l *lists[T]) insert(v T) {
	l.mu.Lock()
	l.values = append(l.values, v)
	l.mu.Unlock()
}

func (l *lists[T]) remove(h pool.Handle[T]) {
	l.mu.Lock()
	l.handles = append(l.handles, h)
	l.mu.Unlock()
}

func (l *lists[T]) run(p *pool.Pool[T]) {
	l.inserted, _ = p.InsertBatch(l.values, l.inserted[:0])
	p.RemoveBatch(l.handles)
	l.values, l.handles = l.values[:0], l.handles[:0]
}
