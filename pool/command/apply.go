package command

import (
	"cmp"
	"slices"

	"coatcheck/pool"
)

// An Apply takes what its buffers hold, makes the insertions live, and then
// does the removals. Recorders go on meanwhile, other Applys may run, and a
// Reset that a removal calls may record, or apply. What must not happen is that
// a removal is done before the insertion that it means: it would find nothing,
// and the value would stay for ever. Two rules see to that.
//
// The cut. Commands are taken with the mu of all buffers held. Taken one buffer
// after the other, there is a gap:
//
//	Apply(a, b)               somebody
//	takes a
//	                          h := a.Insert(v)
//	                          b.Remove(h)
//	takes b: Remove(h) and nothing to be removed
//
// With all of them held, whoever records in a after the cut returns after it,
// and a Remove that comes after that is not in the cut either. So a cut that
// has a Remove has the Insert before it, or an earlier cut of that buffer has.
//
// The earlier cut. Its Apply may not have come to the insertion when a second
// one does the removal. Therefore an Apply holds applying, of all its buffers,
// from before its cut until its insertions are live: a later cut of any of
// these buffers, and all that follows from it, comes after that.
//
// Both locks are taken in the order of the buffers' numbers, each once, all
// applying before any mu, so that Applys given the same buffers in any order do
// not wait for each other in a circle. Nothing that runs under either of them
// is the user's code: Commit is a compare-and-swap and a store. The removals,
// which may call Reset, run under none. A tempting simplification is to hold
// applying to the end, so that frames never overlap; a Reset that applies would
// then wait for itself.

// frame is what one Apply works on. It is kept from one Apply to the next.
type frame[T any] struct {
	home    *Buffer[T]   // keeps it in between
	taken   []taken[T]   // in the order of the buffers given
	buffers []*Buffer[T] // each once, in the order of numbers
}

// taken is what was recorded in one Buffer.
type taken[T any] struct {
	from       *Buffer[T]
	insertions []*pool.Reservation[T]
	removals   []pool.Handle[T]
}

// Apply does what is recorded in b: [Apply] of this one Buffer.
func (b *Buffer[T]) Apply() (inserted, removed int) { return Apply(b) }

// Apply does what is recorded in the buffers: all insertions, in the order of
// the buffers and in each in the order of recording, and then all removals, in
// the same order. It returns how many values went live, and how many values
// these removals have removed. The buffers are empty after that, and keep their
// memory.
//
// Others may use the pool meanwhile, record, which goes to the next Apply, and
// apply: every command is done exactly once, by one of them. Applys that have a
// buffer in common make their insertions one after the other, and take turns in
// no particular order; their removals may overlap. A Buffer that is given twice
// is taken at its first place. Buffers may be of different pools: each command
// goes to its own. A nil Buffer, a zero one or a copy panics before anything is
// done.
//
// If Options.Reset panics, or exits, while removals reclaim slots, that goes on
// up. By then all insertions are live; the removals that were not made are
// recorded again, each in its Buffer and before what was recorded meanwhile, so
// that the next Apply makes them. The counts of such an Apply are lost.
//
// It costs a Commit for each insertion, what RemoveBatch does for the removals,
// and a handful of locks for each buffer. It allocates nothing, once the lists
// have grown.
func Apply[T any](buffers ...*Buffer[T]) (inserted, removed int) {
	return ApplyFunc(nil, nil, buffers...)
}

// ApplyFunc is [Apply] that also tells what it does, for indexes and counts that are
// kept beside the pool. Either function may be nil.
//
// onInsert gets the handle of each value that went live. It is called when all of them
// are live, and before the first removal. onRemove gets each value that a removal
// has ended, moved out as by Pool.Take, so that Options.Reset never sees it. It is
// called after each such removal: a removal that had no effect calls nothing, and one
// that is recorded twice calls it once. Both are called in the order of [Apply], by the
// caller's goroutine and under no lock: they may use the pool, record, and apply.
//
// If one of them panics, or exits, the caller sees it, as from a Reset, and the removals
// that were not made are recorded again. Insertions that were not told by then are told
// no more, nor is a value whose Take a Reset interrupts.
//
// With onRemove a removal costs a locked instruction more than in Apply, and a copy of
// the value. An onInsert costs a call for each insertion.
func ApplyFunc[T any](onInsert func(h pool.Handle[T]), onRemove func(h pool.Handle[T], v T), buffers ...*Buffer[T]) (inserted, removed int) {
	for _, b := range buffers {
		b.usable()
	}
	if len(buffers) == 0 {
		return 0, 0
	}
	f := frameFor(buffers)
	for _, b := range f.buffers {
		b.applying.Lock()
	}
	f.cut(buffers)
	inserted = f.commit()
	for _, b := range f.buffers {
		b.applying.Unlock()
	}
	removed = f.remove(onInsert, onRemove)
	f.recycle()
	return inserted, removed
}

// frameFor returns a frame that knows the order in which to lock.
func frameFor[T any](buffers []*Buffer[T]) *frame[T] {
	home := buffers[0]
	home.mu.Lock()
	f := home.spareFrame
	home.spareFrame = nil
	home.mu.Unlock()
	if f == nil {
		f = &frame[T]{home: home}
	}
	f.buffers = append(f.buffers, buffers...)
	slices.SortFunc(f.buffers, func(a, b *Buffer[T]) int { return cmp.Compare(a.number, b.number) })
	f.buffers = slices.Compact(f.buffers)
	return f
}

// cut takes what is recorded, in all buffers at one moment.
func (f *frame[T]) cut(buffers []*Buffer[T]) {
	for _, b := range f.buffers {
		b.mu.Lock()
	}
	for _, b := range buffers { // given a second time, it is empty
		f.taken = append(f.taken, taken[T]{
			b,
			take(&b.insertions, &b.spareInsertions),
			take(&b.removals, &b.spareRemovals),
		})
	}
	for _, b := range f.buffers {
		b.mu.Unlock()
	}
}

// commit makes the insertions live and returns how many there were.
func (f *frame[T]) commit() (n int) {
	for _, t := range f.taken {
		for _, r := range t.insertions {
			r.Commit()
		}
		n += len(t.insertions)
	}
	return n
}

// remove does the removals and returns how many took effect. It runs whatever is the
// user's, so it begins with what a panic there needs.
func (f *frame[T]) remove(onInsert func(pool.Handle[T]), onRemove func(pool.Handle[T], T)) (n int) {
	k := 0
	defer func() {
		if k < len(f.taken) {
			f.putBack(k)
		}
	}()
	if onInsert != nil {
		for _, t := range f.taken {
			for _, r := range t.insertions {
				onInsert(r.Handle())
			}
		}
	}
	for ; k < len(f.taken); k++ {
		if t := &f.taken[k]; onRemove != nil {
			n += t.take(onRemove)
		} else if len(t.removals) > 0 {
			n += t.from.pool.RemoveBatch(t.removals)
		}
	}
	return n
}

// take does the removals of one Buffer one by one, and hands over what they removed.
func (t *taken[T]) take(onRemove func(pool.Handle[T], T)) (n int) {
	for _, h := range t.removals {
		if v, ok := t.from.pool.Take(h); ok {
			n++
			onRemove(h, v)
		}
	}
	return n
}

// putBack records again what a panic has kept from being done, in the k-th list
// and those after it. How far the k-th has come is told by the pool: what it
// names and is live was not removed, and to remove what is not live would do
// nothing.
func (f *frame[T]) putBack(k int) {
	t := &f.taken[k]
	t.removals = slices.DeleteFunc(t.removals, func(h pool.Handle[T]) bool { return !t.from.pool.Contains(h) })
	for _, t := range f.taken[k:] {
		t.from.mu.Lock()
		t.from.removals = append(t.removals, t.from.removals...)
		t.from.mu.Unlock()
	}
}

// recycle gives the lists back to their buffers, and the frame to its home.
func (f *frame[T]) recycle() {
	for _, t := range f.taken {
		t.from.recycle(t.insertions, t.removals)
	}
	// What the frame refers to between two Applys would be kept alive by it.
	clear(f.taken)
	clear(f.buffers)
	f.taken, f.buffers = f.taken[:0], f.buffers[:0]
	f.home.mu.Lock()
	f.home.spareFrame = f
	f.home.mu.Unlock()
}

// recycle gives lists that were taken back for the commands to come.
func (b *Buffer[T]) recycle(insertions []*pool.Reservation[T], removals []pool.Handle[T]) {
	clear(insertions) // settled ones, which nobody needs any more
	b.mu.Lock()
	reuse(&b.insertions, &b.spareInsertions, insertions)
	reuse(&b.removals, &b.spareRemovals, removals)
	b.mu.Unlock()
}

// take returns what is recorded and leaves an empty list.
func take[E any](recorded, spare *[]E) []E {
	if len(*recorded) == 0 {
		return nil
	}
	list := *recorded
	*recorded, *spare = *spare, nil
	return list
}

// reuse keeps the memory of a list that was taken: at once if nothing was
// recorded meanwhile, so that frames that do not overlap need one list, and for
// the next frame otherwise. Of more than two lists it drops the smallest.
func reuse[E any](recorded, spare *[]E, list []E) {
	list = list[:0]
	if len(*recorded) == 0 && cap(*recorded) < cap(list) {
		*recorded, list = list, *recorded
	}
	if cap(*spare) < cap(list) {
		*spare = list
	}
}
