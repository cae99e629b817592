// Package inline instantiates a pool as a user's package does: without importing
// sync/atomic. TestLookupsInline reads what the compiler says about it.
package inline

import "coatcheck/pool"

type value struct{ a, b uint64 }

func sum(p *pool.Pool[value], hs []pool.Handle[value]) (total uint64) {
	g := p.Pin()
	for _, h := range hs {
		if v, ok := g.Pointer(h); ok {
			total += v.a
		}
	}
	g.Unpin()
	return total
}

func owned(p *pool.Pool[value], hs []pool.Handle[value]) (total uint64) {
	for _, h := range hs {
		if v, ok := p.Pointer(h); ok {
			total += v.a
		}
	}
	return total
}

func count(p *pool.Pool[value], hs []pool.Handle[value]) (n int) {
	for _, h := range hs {
		if p.Contains(h) {
			n++
		}
	}
	return n
}

func all(p *pool.Pool[value]) (total uint64) {
	g := p.Pin()
	for _, v := range g.All() {
		total += v.a
	}
	g.Unpin()
	return total
}

func get(p *pool.Pool[value], hs []pool.Handle[value]) (total uint64) {
	for _, h := range hs {
		if v, ok := p.Get(h); ok {
			total += v.a
		}
	}
	return total
}

func byPtr(q pool.Ptr[value]) uint64 {
	v, _ := q.Get()
	return v.a
}

func replace(p *pool.Pool[value], w *pool.Worker[value], h pool.Handle[value]) bool {
	h, _ = p.Insert(value{})
	return w.Remove(h) || p.Remove(h)
}

var _, _, _, _, _, _ = sum, count, all, get, byPtr, replace
