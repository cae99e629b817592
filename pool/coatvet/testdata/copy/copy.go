// Package copy has copies of values in a pool.
package copy

import (
	"sync"
	"sync/atomic"

	"coatcheck/pool"
)

type locked struct {
	mu sync.Mutex
	n  atomic.Int64
}

type nested struct {
	parts [2]struct{ hits atomic.Int32 }
}

type plain struct{ N int }

func copied(p *pool.Pool[locked], h pool.Handle[locked], n *pool.Pool[nested], w *pool.Worker[locked], q pool.Ptr[locked]) {
	_, _ = p.Get(h)       // want `coatcopy: Get copies a value with .mu, a sync.Mutex without synchronization: use View, a Guard or Hold, or keep pointers in the pool`
	_, _ = p.Take(h)      // want `coatcopy: Take copies`
	_, _ = w.Take(h)      // want `Take copies`
	_, _ = q.Get()        // want `Get copies`
	_ = n.MustGet(0)      // want `MustGet copies a value with .parts.hits, a sync/atomic.Int32`
	for range p.Drain() { // want `Drain copies`
	}
}

func changed(p *pool.Pool[plain], h pool.Handle[plain]) {
	v, _ := p.Get(h)
	v.N = 2 // want `coatcopy: v is a copy, so this does not change the value in the pool: use View or a Guard`
	w := p.MustGet(h)
	w.N++ // want `w is a copy`
}

func right(p *pool.Pool[plain], q *pool.Pool[*locked], h pool.Handle[plain]) plain {
	_, _ = q.Get(0) // a pointer
	v, _ := p.Get(h)
	v.N = 2
	return v
}
