package command

import (
	"cmp"
	"slices"

	"coatcheck/pool"
)

// An Apply takes what its buffers hold, makes the insertions live, and then does the
// removals. Meanwhile goroutines may record, other Applys may run, and a Reset that a
// removal calls may record or apply. A removal must not be done before the insertion of
// its value: it would find nothing, and the value would stay. Two rules prevent
// that.
//
// The cut. Commands are taken with the mu of all buffers held. If they were taken one
// buffer after the other, there would be a gap:
//
//	Apply(a, b)               another goroutine
//	takes a
//	                          h := a.Insert(v)
//	                          b.Remove(h)
//	takes b: Remove(h) and nothing to be removed
//
// With all of them held, a call that records in a after the cut returns after it, and a
// Remove that follows that call is not in the cut either. So a cut that has a Remove has
// the Insert before it, or an earlier cut of that buffer has.
//
// The earlier cut. Its Apply may not have reached the insertion when a second Apply does
// the removal. Therefore an Apply holds applying, of all its buffers, from before its cut
// until its insertions are live. A later cut of any of these buffers, and everything that
// follows from it, comes after that.
//
// Both locks are taken in the order of the buffers' numbers, each once, and all applying
// before any mu. So Applys that are given the same buffers in different orders do not
// deadlock. No user code runs under either lock: Commit is a compare-and-swap and a
// store. The removals, which may call Reset, run under no lock. A tempting simplification
// is to hold applying to the end, so that frames never overlap; then a Reset that applies
// would wait for itself.

// taken is the commands taken from one Buffer.
type taken[T any] struct {
	from       *Buffer[T]
	insertions []*pool.Reservation[T]
	removals   []pool.Handle[T]
}

// Apply does what is recorded in b; see the function Apply.
func (b *Buffer[T]) Apply() (inserted, removed int) { return Apply(b) }

// Apply does what is recorded in the buffers: all insertions, in the order of the buffers
// and in each in the order of recording, and then all removals, in the same order. It
// returns how many values went live, and how many values these removals removed. It
// leaves the buffers empty, with their memory.
//
// Meanwhile other goroutines may use the pool, record for the next Apply, and apply: each
// command is done exactly once, by one Apply. Applys with a buffer in common make their
// insertions one after the other, in no particular order; their removals may overlap. A
// Buffer that is given twice is taken at its first place. Buffers may be of different
// pools: each command goes to its own. A nil Buffer, a zero one or a copy panics before
// anything is done.
//
// If Options.Reset panics, or exits, while removals reclaim slots, the panic continues to
// the caller. By then all insertions are live. The removals that were not made are
// recorded again, each in its Buffer and before what was recorded meanwhile, so the next
// Apply makes them. The counts of such an Apply are lost.
//
// It costs a Commit for each insertion, a RemoveBatch of the removals, and six lock
// operations for each buffer. It allocates two small lists of the buffers.
func Apply[T any](buffers ...*Buffer[T]) (inserted, removed int) {
	for _, b := range buffers {
		b.usable()
	}
	locked := slices.Clone(buffers) // each once, in the order of numbers
	slices.SortFunc(locked, func(a, b *Buffer[T]) int { return cmp.Compare(a.number, b.number) })
	locked = slices.Compact(locked)
	for _, b := range locked {
		b.applying.Lock()
	}
	f := cut(buffers, locked)
	inserted = f.commit()
	for _, b := range locked {
		b.applying.Unlock()
	}
	removed = f.remove()
	for _, t := range f {
		t.from.recycle(t.insertions, t.removals)
	}
	return inserted, removed
}

// frame is the commands that one Apply has taken, in the order of the buffers given.
type frame[T any] []taken[T]

// cut takes all commands of all buffers at one moment.
func cut[T any](buffers, locked []*Buffer[T]) frame[T] {
	f := make(frame[T], len(buffers))
	for _, b := range locked {
		b.mu.Lock()
	}
	for i, b := range buffers { // a buffer given twice is empty the second time
		f[i] = taken[T]{b, take(&b.insertions, &b.spareInsertions), take(&b.removals, &b.spareRemovals)}
	}
	for _, b := range locked {
		b.mu.Unlock()
	}
	return f
}

// commit makes the insertions live and returns how many there were.
func (f frame[T]) commit() (n int) {
	for _, t := range f {
		for _, r := range t.insertions {
			r.Commit()
		}
		n += len(t.insertions)
	}
	return n
}

// remove does the removals and returns how many took effect. It may call a Reset, so it
// first prepares for a panic.
func (f frame[T]) remove() (n int) {
	k := 0
	defer func() {
		if k < len(f) {
			f.putBack(k)
		}
	}()
	for ; k < len(f); k++ {
		if t := &f[k]; len(t.removals) > 0 {
			n += t.from.pool.RemoveBatch(t.removals)
		}
	}
	return n
}

// putBack records again the removals that a panic prevented, in the k-th list and those
// after it. The pool tells how far the k-th list was done: a live value was not removed. One
// that was not live, and is now, seems not to have been removed either.
func (f frame[T]) putBack(k int) {
	t := &f[k]
	t.removals = slices.DeleteFunc(t.removals, func(h pool.Handle[T]) bool { return !t.from.pool.Contains(h) })
	for _, t := range f[k:] {
		t.from.mu.Lock()
		t.from.removals = append(t.removals, t.from.removals...)
		t.from.mu.Unlock()
	}
}

// recycle returns the memory of lists that were taken.
func (b *Buffer[T]) recycle(insertions []*pool.Reservation[T], removals []pool.Handle[T]) {
	clear(insertions) // settled: must not be kept alive
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

// reuse keeps the memory of a list that was taken. If nothing was recorded meanwhile it
// is used at once, so frames that do not overlap need one list; otherwise the next frame
// uses it. Of more than two lists it drops the smallest.
func reuse[E any](recorded, spare *[]E, list []E) {
	list = list[:0]
	if len(*recorded) == 0 && cap(*recorded) < cap(list) {
		*recorded, list = list, *recorded
	}
	if cap(*spare) < cap(list) {
		*spare = list
	}
}
