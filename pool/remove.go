package pool

import (
	"iter"
	"slices"

	"coatcheck/internal/hint"
	"coatcheck/shard/slots"
)

// Remove ends the life of the value that h names. It returns true for exactly one caller per
// handle, and false if h is not live. It takes constant time, and waits for no lock.
//
// Guards that are pinned now, and Refs, keep the value. After they end, an insertion that finds no
// vacant slot, Synchronize or Trim zeroes or Resets the value and frees its slot; what a Worker
// removed waits for that Worker's next call. Without a Reset or an Origin, the garbage collector can
// free what it refers to within two cycles, even without such a call.
func (p *Pool[T]) Remove(h Handle[T]) bool {
	if debugging {
		return p.ended(uint64(h), p.arena.Remove(hint.Frame(), uint64(h)))
	}
	return p.arena.Remove(hint.Frame(), uint64(h))
}

// Take is like [Pool.Remove] but also returns a shallow copy of the value. If another goroutine may
// change a field meanwhile, even by an atomic, that is a data race: keep pointers in the pool, or
// Hold the value before. With a Reset, what the copy refers to belongs to the caller, and is not
// Reset.
func (p *Pool[T]) Take(h Handle[T]) (v T, ok bool) {
	if debugging {
		warnOfCopy[T]()
	}
	s, k, seen := p.arena.Unlink(hint.Frame(), uint64(h))
	if k != nil {
		v, ok = *slots.ValueOf[T](k), true
		s.Retire(k, uint64(h), seen)
	}
	p.ended(uint64(h), ok)
	return v, ok
}

// RemoveBatch removes the values that hs names and returns how many it removed. Each removal costs
// one locked instruction, or what Remove costs if there is an Options.OnRemove.
func (p *Pool[T]) RemoveBatch(hs []Handle[T]) int { return p.removeBatch(words(hs)) }

func (c *core) removeBatch(hs []uint64) int {
	c.pages()
	if c.arena.OnRemove != nil {
		return c.removeEach(slices.Values(hs))
	}
	r := c.arena.Removals()
	defer r.End()
	for _, h := range hs {
		c.ended(h, r.Remove(h))
	}
	return r.N
}

// removeEach removes the values one by one, where there is an OnRemove: user code runs between two of
// them, so it gathers no slots. It returns how many it removed.
//
//go:noinline
func (c *core) removeEach(hs iter.Seq[uint64]) (n int) {
	frame := hint.Frame()
	for h := range hs {
		if c.ended(h, c.arena.Remove(frame, h)) {
			n++
		}
	}
	return n
}

// Drain returns an iterator that removes the live values, and yields shallow copies, as Take does.
// If several Drains run at once, each value is yielded by one. Drain holds no pin. If
// Options.OnRemove panics, the loop first gets that value.
func (p *Pool[T]) Drain() iter.Seq2[Handle[T], T] {
	if debugging {
		warnOfCopy[T]()
	}
	return func(yield func(Handle[T], T) bool) {
		t := p.pages()
		for h := range liveSlots[T](t, 0, t.Limit) {
			if !p.drain(h, yield) {
				return
			}
		}
	}
}

// drain takes the value of h, if there is one, and yields it, also if the removal calls an OnRemove
// that does not return: nobody else could get the value. It reports whether the loop goes on. In a
// function literal, a deferred call would allocate.
func (p *Pool[T]) drain(h Handle[T], yield func(Handle[T], T) bool) (unfinished bool) {
	var v T
	moved, removed := false, false
	defer func() {
		if moved && !removed {
			yield(h, v)
		}
	}()
	s, k, seen := p.arena.Unlink(hint.Frame(), uint64(h))
	if k != nil {
		v, moved = *slots.ValueOf[T](k), true
		s.Retire(k, uint64(h), seen)
	}
	removed = true
	p.ended(uint64(h), moved)
	return !moved || yield(h, v)
}

// DeleteFunc removes the values for which del returns true, and returns how many it removed. It
// reads every slot that has memory, and holds a pin while it runs. If del panics, what was removed
// before stays removed. Between the test and the removal, another goroutine may use or change the
// value.
func (p *Pool[T]) DeleteFunc(del func(Handle[T], *T) bool) (n int) {
	g := p.Pin()
	defer g.Unpin()
	for h, v := range g.All() {
		// Each slot is retired at once: del may use the pool, and must find every slot in
		// its place (I3).
		if del(h, v) && p.Remove(h) {
			n++
		}
	}
	return n
}

// Clear removes all values and returns how many it removed. A value that is inserted meanwhile may
// stay.
func (p *Pool[T]) Clear() int { return p.clear() }

func (c *core) clear() int {
	t := c.pages()
	if c.arena.OnRemove != nil {
		return c.removeEach(liveWords(t))
	}
	r := c.arena.Removals()
	defer r.End()
	for h := range liveWords(t) {
		c.ended(h, r.Remove(h))
	}
	return r.N
}

// liveWords ranges over the handles of the live slots of t. It is inlined into the loop, as liveSlots is.
func liveWords(t *slots.PageTable) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for first := uint32(0); first < t.Limit; {
			block := t.Strip(first, t.Limit)
			for j := range block.N {
				// A word with the slot's own index is live (I4).
				if h := block.Slot(j).Word.Load(); slots.Low(h) == block.First+j && !yield(h) {
					return
				}
			}
			first = block.First + block.N
		}
	}
}
