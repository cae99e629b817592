package pool

import (
	"fmt"

	"coatcheck/shard"
)

// getPinned is Get where two looks at the word do not prove the copy (L12): a pin
// keeps the slot out of everybody's hands while it is copied (L3).
func (p *Pool[T]) getPinned(h Handle[T]) (v T, ok bool) {
	g := p.domain.PinBrief()
	if t := p.arena.Table.Current.Load(); h.Index() < t.Limit {
		if slot := shard.At[T](t, h.Index()); slot.Word.Load() == uint64(h) { // observes (P1)
			v, ok = slot.Value, true
		}
	}
	g.UnpinBrief()
	return v, ok
}

// MustGet is Get for those to whom a stale handle is a bug: it panics, naming
// the handle; under the tag coatcheck_debug, with what [Pool.Explain] says.
func (p *Pool[T]) MustGet(h Handle[T]) T {
	v, ok := p.Get(h)
	if !ok {
		if debugging {
			panic(fmt.Sprintf("pool: MustGet: handle %v is not live: %s", h, p.Explain(h)))
		}
		panic(fmt.Sprintf("pool: MustGet: handle %v is not live", h))
	}
	return v
}

// View calls f with the value that h names, under a pin, and reports whether
// there was one. The pointer is good until f returns. A panic in f comes up, and
// the pin is given back.
func (p *Pool[T]) View(h Handle[T], f func(*T)) bool {
	if !p.Contains(h) {
		return false // without a pin
	}
	g := p.Pin()
	defer g.Unpin()
	v, ok := g.Get(h)
	if ok {
		f(v)
	}
	return ok
}
