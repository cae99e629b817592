package pool

import (
	"fmt"
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/shard"
)

// The look-ups below are written so that the compiler puts them into the
// caller's loop, which halves what they cost. Its budget does not allow for a
// call and hardly for an accessor, so they find the slot themselves, as shard.At
// does (unsafe register, U2), and misuse panics with a constant.
// TestLookupsInline watches over the budget. Get, which looks twice, is beyond it, and
// does so to be short.

// Get returns the value that h names, and false if h is stale, zero or another
// pool's. The pointer is good until Unpin, even if the value is removed
// meanwhile. It writes nothing, and costs little more than indexing a slice. It
// panics if the guard is not pinned.
func (g *Guard[T]) Get(h Handle[T]) (v *T, ok bool) {
	if g.pool == nil {
		if debugging {
			panic(misuse(unpinned, &g.pin))
		}
		panic(unpinned)
	}
	t := g.pool.arena.Table.Current.Load() // observes (P2)
	i := uint32(h)
	if i < t.Limit {
		s := (*shard.Slot[T])(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(t.Array, uint64(i)*t.Inverse>>32*pointerSize)),
			uintptr(i&t.Mask)*unsafe.Sizeof(shard.Slot[T]{})))
		if s.Word.Load() == uint64(h) { // observes (P1)
			return &s.Value, true
		}
	}
	return
}

// GetBatch appends to dst a pointer for each of hs, nil for one that is not
// live. It looks at the words of many slots before it uses any, so that their
// cache misses overlap.
func (g *Guard[T]) GetBatch(hs []Handle[T], dst []*T) []*T {
	t := g.pages()
	for _, h := range hs {
		var v *T
		if h.Index() < t.Limit {
			if slot := shard.At[T](t, h.Index()); slot.Word.Load() == uint64(h) { // observes (P1)
				v = &slot.Value
			}
		}
		dst = append(dst, v)
	}
	return dst
}

// Contains reports whether h names a live value, which another goroutine may
// remove the moment after. It writes nothing, and costs what Guard.Get costs.
func (p *Pool[T]) Contains(h Handle[T]) (live bool) {
	t := p.arena.Table.Current.Load()
	if t == nil {
		panic(zeroPool)
	}
	i := uint32(h)
	if i < t.Limit {
		s := (*shard.Slot[T])(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(t.Array, uint64(i)*t.Inverse>>32*pointerSize)),
			uintptr(i&t.Mask)*unsafe.Sizeof(shard.Slot[T]{})))
		live = s.Word.Load() == uint64(h)
	}
	return
}

// Get returns a shallow copy of the value that h names, and false if h is not
// live. The copy is of one incarnation and never a mixture of two; a value that
// others write to meanwhile needs their synchronization all the same.
//
// On amd64 it writes nothing shared and costs a call, two loads of the slot's word
// and the copy. On other platforms, and under the race detector, it pins for as
// long as it copies, which is two locked instructions: for more than a few look-ups
// in a row, Pin and use [Guard.Get].
func (p *Pool[T]) Get(h Handle[T]) (v T, ok bool) {
	if !copiesWithoutPin {
		return p.getPinned(h)
	}
	t := p.arena.Table.Current.Load()
	if t == nil {
		panic(zeroPool)
	}
	i := uint32(h)
	if i < t.Limit {
		s := (*shard.Slot[T])(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(t.Array, uint64(i)*t.Inverse>>32*pointerSize)),
			uintptr(i&t.Mask)*unsafe.Sizeof(shard.Slot[T]{})))
		if s.Word.Load() == uint64(h) { // observes (P1)
			atom.Between()
			// Until the second look this may be torn, and nothing of it is used
			// (L12). The second look finds h only if the slot was h's all the while.
			v = s.Value
			if atom.Charges {
				atom.PlainRead(&s.Value)
			}
			if s.Word.Load() == uint64(h) {
				return v, true
			}
			var zero T
			return zero, false
		}
	}
	return
}

const pointerSize = uint64(unsafe.Sizeof(unsafe.Pointer(nil)))

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
