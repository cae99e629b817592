package pool

import (
	"fmt"
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/shard/slots"
)

// Look-ups load the table of pages, find the slot, and compare its word with the handle.
//
// Contains and the two Pointers are inlined into the caller's loop, which halves their cost. The
// compiler's budget for inlining has no room for a call, and hardly any for an accessor. So
// they compute the slot's address as slots.At does (unsafe register, U2), and panic with a
// constant. TestLookupsInline checks it. Pool.Get loads the word twice and exceeds the
// budget; of it, only the check for a zero Pool is inlined.

// Get returns a shallow copy of the value that h names, and reports whether h is live. It never
// waits, and the copy is never a mixture of two values. The copy is yours; only with
// [Options].Reset do its slices still belong to the slot. If a field changes after the insertion,
// even by an atomic, Get is a data race: use View, a Guard or Hold, or keep pointers in the pool.
// Get writes nothing shared on amd64, 386 and arm64; elsewhere, and under the race detector, it
// pins the pool.
func (p *Pool[T]) Get(h Handle[T]) (v T, ok bool) {
	if p.arena.Domain == nil {
		panic(zeroPool)
	}
	v, ok = p.get(h) // not in one statement with return, which exceeds the budget
	return
}

// get is Get without the check for a zero Pool. On amd64 it calls no function, and so has neither
// a frame nor a check of the stack.
//
//go:noinline
func (p *Pool[T]) get(h Handle[T]) (v T, ok bool) {
	if debugging {
		warnOfCopy[T]()
	}
	if !atom.CopiesWithoutPin {
		return p.getPinned(h)
	}
	t := p.arena.Table.Current.Load() // observes (P2)
	i := uint32(h)
	if i < t.Limit {
		s := (*slots.Slot[T])(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(t.Array, uint64(i)*t.Inverse>>32*pointerSize)),
			uintptr(i&t.Mask)*unsafe.Sizeof(slots.Slot[T]{})-unsafe.Offsetof(slots.Slot[T]{}.Hook)))
		if s.Word.Load() == uint64(h) { // observes (P1)
			atom.Between()
			// Until the second load of the word, v may be torn, and must not be used (L12). The collector may see
			// it on the stack. Each pointer in it was in the slot when it was loaded: if the collector was marking
			// then, the write that overwrote the slot has shaded it, and else the next marking finds it here.
			// The load returns h only if the slot was h's all the while. With one look, or if the second asks
			// only whether the slot is live, v may be of another life.
			v = s.Value
			atom.FenceLoads()
			if s.Word.Load() == uint64(h) {
				return v, true
			}
			var zero T
			return zero, false
		}
	}
	if debugging {
		p.refused(uint64(h))
	}
	return
}

// Contains reports whether h is live. It writes nothing, and costs what [Guard.Pointer] costs.
func (p *Pool[T]) Contains(h Handle[T]) (live bool) {
	t := p.arena.Table.Current.Load()
	if t == nil {
		panic(zeroPool)
	}
	i := uint32(h)
	if i < t.Limit {
		s := (*slots.Slot[T])(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(t.Array, uint64(i)*t.Inverse>>32*pointerSize)),
			uintptr(i&t.Mask)*unsafe.Sizeof(slots.Slot[T]{})-unsafe.Offsetof(slots.Slot[T]{}.Hook)))
		live = s.Word.Load() == uint64(h)
	}
	if debugging {
		if !live {
			p.refused(uint64(h))
		}
	}
	return
}

// Pointer returns a pointer to the value that h names, and reports whether h is live. It pins
// nothing, so use it only where no other goroutine can remove h meanwhile: in the goroutine that
// runs a job, or in a phase of a frame. Otherwise the slot may have another value by the time the
// pointer is used, and nothing tells: there use [Pool.View], a Guard or [Pool.Hold]. Pointer writes
// nothing, and costs what [Pool.Contains] costs.
func (p *Pool[T]) Pointer(h Handle[T]) (v *T, ok bool) {
	t := p.arena.Table.Current.Load() // observes (P2)
	if t == nil {
		panic(zeroPool)
	}
	i := uint32(h)
	if i < t.Limit {
		s := (*slots.Slot[T])(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(t.Array, uint64(i)*t.Inverse>>32*pointerSize)),
			uintptr(i&t.Mask)*unsafe.Sizeof(slots.Slot[T]{})-unsafe.Offsetof(slots.Slot[T]{}.Hook)))
		if s.Word.Load() == uint64(h) { // observes (P1)
			return &s.Value, true
		}
	}
	if debugging {
		p.refused(uint64(h))
	}
	return
}

// At returns the handle of the live value in the slot of an index, and reports whether there is
// one. An index has no generation: after reuse it names the new value. So use it for names of 16 or
// 32 bits only if the other side cannot name a removed value, or keep the handle beside. In a pool
// with a Capacity each index is below Capacity + [Stats].Exhausted. At writes nothing, and costs
// little more than [Pool.Contains].
func (p *Pool[T]) At(index uint32) (Handle[T], bool) {
	h := p.at(index)
	return Handle[T](h), h != 0
}

// at returns the handle of the live value in a slot, or 0.
func (c *core) at(index uint32) uint64 {
	t := c.pages() // observes (P2)
	if index >= t.Limit {
		return 0
	}
	if word := t.At(index).Word.Load(); slots.IsLive(word) { // observes (P1)
		return word // a live slot's word is its handle
	}
	return 0
}

// IndexBound returns a number that is greater than [Handle.Index] of every handle issued before the
// call, and never falls. With At it walks the values in the order of their indexes, also in parts:
// a cursor is an index, and stays valid whatever comes and goes.
func (p *Pool[T]) IndexBound() uint32 { return p.indexBound() }

// indexBound is Pool.IndexBound.
func (c *core) indexBound() uint32 {
	c.pages()
	return uint32(c.arena.Table.Allocated())
}

// MustGet is like [Pool.Get], but panics if h is not live; with the build tag coatcheck_debug, by
// the text of [Pool.Explain].
func (p *Pool[T]) MustGet(h Handle[T]) T {
	v, ok := p.Get(h)
	if !ok {
		if debugging {
			panic(fmt.Sprintf("pool: MustGet: handle %v is not live; %s: %s", h, nameOf[T](), p.Explain(h)))
		}
		panic(fmt.Sprintf("pool: MustGet: handle %v is not live; %s", h, nameOf[T]()))
	}
	return v
}

// View calls f with a pointer to the value that h names, and reports whether h is live. The pointer
// is valid until f returns. Several goroutines may view one value at once, so f must change it
// under a mutex or by atomics. View pins a Guard for each call.
func (p *Pool[T]) View(h Handle[T], f func(*T)) bool {
	t := p.pages() // observes (P2)
	if h.Index() >= t.Limit {
		return false
	}
	k := &slots.At[T](t, h.Index()).Hook
	if k.Word.Load() != uint64(h) {
		if debugging {
			p.refused(uint64(h))
		}
		return false // without a pin
	}
	pin := p.domain.Pin()
	defer pin.ReleaseLast()
	// The table is from before the pin. If it shows a page that has gone since, the word there is
	// never h again (L7).
	if k.Word.Load() != uint64(h) { // observes (P1)
		return false
	}
	f(slots.ValueOf[T](k))
	return true
}

// Pointer returns a pointer to the value that h names, and reports whether h is live. The pointer
// is valid until Unpin, even if the value is removed meanwhile. Pointer writes nothing and costs
// little more than indexing a slice.
func (g *Guard[T]) Pointer(h Handle[T]) (v *T, ok bool) {
	if g.pool == nil {
		if debugging {
			panic(misuse(unpinned, &g.pin))
		}
		panic(unpinned)
	}
	t := g.pool.arena.Table.Current.Load() // observes (P2)
	i := uint32(h)
	if i < t.Limit {
		s := (*slots.Slot[T])(unsafe.Add(*(*unsafe.Pointer)(unsafe.Add(t.Array, uint64(i)*t.Inverse>>32*pointerSize)),
			uintptr(i&t.Mask)*unsafe.Sizeof(slots.Slot[T]{})-unsafe.Offsetof(slots.Slot[T]{}.Hook)))
		if s.Word.Load() == uint64(h) { // observes (P1)
			return &s.Value, true
		}
	}
	if debugging {
		g.pool.refused(uint64(h))
	}
	return
}

// getPinned is Get where two loads of the word do not prove that the copy is whole (L12):
// the pin prevents the slot's reuse during the copy (L3).
func (p *Pool[T]) getPinned(h Handle[T]) (v T, ok bool) {
	g := p.domain.PinTransient()
	if t := p.arena.Table.Current.Load(); h.Index() < t.Limit {
		if slot := slots.At[T](t, h.Index()); slot.Word.Load() == uint64(h) { // observes (P1)
			v, ok = slot.Value, true
		}
	}
	g.Unpin()
	if debugging {
		if !ok {
			p.refused(uint64(h))
		}
	}
	return v, ok
}

const pointerSize = uint64(unsafe.Sizeof(unsafe.Pointer(nil)))
