package pool

import "coatcheck/shard"

// inlined instantiates in this package the generic functions of it, and of package shard, that
// callers inline. So this package's export data has the bodies, for packages that instantiate it
// (see package atom). It is never called.
func inlined(p *Pool[uint64], w *Worker[uint64], g *Guard[uint64]) {
	h, _ := p.Insert(1)
	_, _ = shard.Insert(&p.arena, 0, h)
	p.Remove(h)
	p.get(h)
	p.Contains(h)
	p.Pointer(h)
	*g = p.Pin()
	g.Pointer(h)
	g.Unpin()
	_, _ = w.Insert(1)
	w.Remove(h)
	p.Take(h)
	w.Take(h)
}

var _ = inlined
