package ordinary_test

import (
	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// The values of most tests. Each further type would have all methods of a pool compiled once
// more.
type (
	// plain has no pointers.
	plain = [2]uint64

	// stamp tells when its slot was given to another value.
	stamp struct {
		id   uint64
		self *stamp // zeroed with it
	}

	// bulky is so large that no page of 2^31 can be had.
	bulky [1 << 17]byte
)

// remover removes values of hs, through the pool or the Worker.
type remover[T any] func(p *pool.Pool[T], w *pool.Worker[T], hs []pool.Handle[T])

// removers are the verbs that remove. Clear, Drain and DeleteFunc remove all values.
func removers[T any]() map[string]remover[T] {
	each := func(verb func(p *pool.Pool[T], w *pool.Worker[T], h pool.Handle[T])) remover[T] {
		return func(p *pool.Pool[T], w *pool.Worker[T], hs []pool.Handle[T]) {
			testkit.Each(hs, func(h pool.Handle[T]) { verb(p, w, h) })
		}
	}
	return map[string]remover[T]{
		"Remove":        each(func(p *pool.Pool[T], _ *pool.Worker[T], h pool.Handle[T]) { p.Remove(h) }),
		"Take":          each(func(p *pool.Pool[T], _ *pool.Worker[T], h pool.Handle[T]) { p.Take(h) }),
		"Ptr.Remove":    each(func(p *pool.Pool[T], _ *pool.Worker[T], h pool.Handle[T]) { p.Ptr(h).Remove() }),
		"Worker.Remove": each(func(_ *pool.Pool[T], w *pool.Worker[T], h pool.Handle[T]) { w.Remove(h) }),
		"Worker.Take":   each(func(_ *pool.Pool[T], w *pool.Worker[T], h pool.Handle[T]) { w.Take(h) }),
		"RemoveBatch":   func(p *pool.Pool[T], _ *pool.Worker[T], hs []pool.Handle[T]) { p.RemoveBatch(hs) },
		"Clear":         func(p *pool.Pool[T], _ *pool.Worker[T], _ []pool.Handle[T]) { p.Clear() },
		"Drain": func(p *pool.Pool[T], _ *pool.Worker[T], _ []pool.Handle[T]) {
			for range p.Drain() {
			}
		},
		"DeleteFunc": func(p *pool.Pool[T], _ *pool.Worker[T], _ []pool.Handle[T]) {
			p.DeleteFunc(func(pool.Handle[T], *T) bool { return true })
		},
	}
}
