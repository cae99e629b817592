package command

import (
	"cmp"
	"slices"

	"coatcheck/pool"
)

// An Apply takes the commands of its buffers, makes the insertions live, and then does the removals.
// Meanwhile goroutines may record, other Applys may run, and an OnRemove that a removal calls may record
// or apply. A removal must not be done before the insertion of its value: it would find nothing, and the
// value would stay. Two rules prevent that.
//
// The cut. An Apply takes the commands while it holds the mu of all buffers. If it took those of one buffer
// after the other, a removal could overtake its insertion:
//
//	Apply(a, b)               another goroutine
//	takes a
//	                          h := a.Insert(v)
//	                          b.Remove(h)
//	takes b: Remove(h) and nothing to be removed
//
// With the mu of both held, a call that records in a after the cut also returns after it, and so a Remove
// that follows that call is not in the cut either. So if a cut has a Remove, it has the Insert too, or an
// earlier cut of that buffer has.
//
// The earlier cut. When a second Apply does the removal, the Apply of the earlier cut may not have reached
// the insertion. So an Apply holds the lock applying of all its buffers from before its cut until its
// insertions are live. A later cut of any of these buffers, and all that follows from it, comes after that.
//
// An Apply takes both locks of each buffer in the order of the buffers' numbers, and all applying before any
// mu. So Applys that are given the same buffers in different orders do not deadlock. No user code
// runs under mu, and only the pool's OnInsert under applying: it may record, but an Apply there would
// wait for itself. The removals, which may call OnRemove, and the functions run under no lock.
// It would be simpler to hold applying to the end, so that frames never overlap. But then an OnRemove
// that applies would wait for itself too.
//
// If an OnInsert does not return, the insertions behind it are recorded again, with all removals, before
// applying is unlocked. So no removal overtakes its insertion that way either.

// taken has the commands that an Apply has taken from one Buffer.
//
// It counts what is done of each list. So after a panic of an event or a function nothing is done twice.
type taken[T any] struct {
	buffer     *Buffer[T]
	insertions []*pool.Reservation[T]
	removals   []pool.Handle[T]
	functions  []function

	live    int // how many insertions were made, or have an OnInsert that did not return
	removed int // how many removals were made
	batch   int // if it is more than removed, a RemoveBatch has the removals up to here
	called  int // how many functions were called
}

// Apply does what is recorded in b, as the function [Apply] does.
func (b *Buffer[T]) Apply() (inserted, removed int) { return Apply(b) }

// Apply does what is recorded in the buffers. First it makes all insertions, buffer by buffer in
// the order given, and in each in the order of recording. Then, in the same order, it makes all
// removals and calls the functions of [Buffer.Do]. It returns how many values it inserted, and
// how many its removals removed.
//
// Other goroutines may meanwhile use the pool, record for the next Apply, and apply. Each command
// is done once. Buffers may be of different pools; a nil one, a zero one or a copy panics first.
//
// If a function or the pool's OnRemove panics or exits, all insertions are live. If its OnInsert
// does, that value never is, and those behind it are not yet. What is not done is recorded again, before
// newer commands; the counts are lost. OnInsert may record, but must not apply. An Apply of buffers that have nothing to do is a
// load for each. Otherwise Apply costs a Commit an insertion, a
// RemoveBatch between functions, six lock operations a buffer, and two small lists.
func Apply[T any](buffers ...*Buffer[T]) (inserted, removed int) {
	return apply(nil, buffers)
}

// ApplyFunc does what is recorded in b, as the function [ApplyFunc] does.
func (b *Buffer[T]) ApplyFunc(tell func(h pool.Handle[T], v T)) (inserted, removed int) {
	return ApplyFunc(tell, b)
}

// ApplyFunc is like [Apply], but also calls tell with each value that a removal removed, right
// after that removal. Use it to close what the value has, or to keep an index in step. ApplyFunc
// does not call tell for a removal without effect, nor for what functions of [Buffer.Do] remove.
//
// Calls come in the order of the removals, on the caller's goroutine and under no lock. So tell
// may use the pool, record, and apply. If tell panics, the panic continues as from a
// function of [Buffer.Do]. If OnRemove panics out of a removal, tell is called first.
//
// ApplyFunc moves values out as [pool.Pool.Take] does, so Options.Reset never sees them. A
// removal costs a Get and a Take, instead of its part of a RemoveBatch. If the pool has an OnRemove, that
// is called first.
func ApplyFunc[T any](tell func(h pool.Handle[T], v T), buffers ...*Buffer[T]) (inserted, removed int) {
	if tell == nil {
		panic("command: ApplyFunc of a nil function")
	}
	return apply(tell, buffers)
}

// apply does what is recorded in the buffers, and calls tell, unless it is nil, with each value removed.
func apply[T any](tell func(pool.Handle[T], T), buffers []*Buffer[T]) (inserted, removed int) {
	idle := true
	for _, b := range buffers {
		b.usable()
		idle = idle && b.busy.Load() == 0
	}
	if idle {
		return 0, 0
	}
	locked := slices.Clone(buffers) // each once, in the order of numbers
	slices.SortFunc(locked, func(a, b *Buffer[T]) int { return cmp.Compare(a.number, b.number) })
	locked = slices.Compact(locked)
	for _, b := range locked {
		b.applying.Lock()
	}
	f := cut(buffers, locked)
	inserted = f.commitAndUnlock(locked)
	removed = f.remove(tell)
	for _, t := range f {
		t.buffer.recycle(t)
	}
	return inserted, removed
}

// frame has the commands that one Apply has taken, in the order of the buffers given.
type frame[T any] []taken[T]

// cut takes all commands of all buffers at one moment.
func cut[T any](buffers, locked []*Buffer[T]) frame[T] {
	f := make(frame[T], len(buffers))
	for _, b := range locked {
		b.mu.Lock()
	}
	for i, b := range buffers { // a buffer given twice is empty the second time
		f[i] = b.take()
	}
	for _, b := range locked {
		b.mu.Unlock()
	}
	return f
}

// commitAndUnlock makes the insertions live, and unlocks applying of the buffers. It returns how many
// insertions there were. If an OnInsert panics, what was not done is recorded again.
func (f frame[T]) commitAndUnlock(locked []*Buffer[T]) (n int) {
	k := 0
	defer func() {
		if k < len(f) {
			f.putBack(0)
		}
		for _, b := range locked {
			b.applying.Unlock()
		}
	}()
	for ; k < len(f); k++ {
		for t := &f[k]; t.live < len(t.insertions); n++ {
			r := t.insertions[t.live]
			t.live++ // a Commit that panics has given the slot back
			r.Commit()
		}
	}
	return n
}

// take takes all commands of b, whose mu is held.
func (b *Buffer[T]) take() taken[T] {
	b.taken++
	return taken[T]{
		buffer:     b,
		insertions: take(&b.insertions, &b.spare.insertions),
		removals:   take(&b.removals, &b.spare.removals),
		functions:  take(&b.functions, &b.spare.functions),
	}
}

// recycle gives the memory of lists that were taken back to the Buffer.
func (b *Buffer[T]) recycle(t taken[T]) {
	clear(t.insertions) // committed or canceled: must not be kept alive
	clear(t.functions)
	b.mu.Lock()
	reuse(&b.insertions, &b.spare.insertions, t.insertions)
	reuse(&b.removals, &b.spare.removals, t.removals)
	reuse(&b.functions, &b.spare.functions, t.functions)
	// Every Apply that has taken something has made it live before it comes here.
	if b.taken--; b.taken == 0 && len(b.insertions)+len(b.removals)+len(b.functions) == 0 {
		b.busy.Store(0)
	}
	b.mu.Unlock()
}

// take returns a list of what is recorded, and leaves an empty one.
func take[E any](recorded, spare *[]E) []E {
	if len(*recorded) == 0 {
		return nil
	}
	list := *recorded
	*recorded, *spare = *spare, nil
	return list
}

// reuse keeps the memory of a list that was taken. If nothing was recorded meanwhile, the next command goes
// there, so frames that do not overlap need one list. Otherwise the next frame gets it. If there are more
// than two lists, reuse drops the smallest.
func reuse[E any](recorded, spare *[]E, list []E) {
	list = list[:0]
	if len(*recorded) == 0 && cap(*recorded) < cap(list) {
		*recorded, list = list, *recorded
	}
	if cap(*spare) < cap(list) {
		*spare = list
	}
}
