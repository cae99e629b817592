package storm

import (
	"go.uber.org/atomic"

	"coatcheck/pool"
)

// heard is what events tell of a pool's slots. Whether OnInsert and OnRemove come in turn is asked of each slot by
// itself, so that goroutines do not wait for each other.
type heard[T any] struct {
	w     *World[T]
	slots []atomic.Uint64 // by slot: the handle between its two events, or 0
	began atomic.Int64    // OnInserts
	ended atomic.Int64    // OnRemoves
}

// onInsert fails if h is live, or if another life of its slot has not ended. It writes the value, plainly.
func (e *heard[T]) onInsert(h pool.Handle[T], v *T) {
	n := e.w.Kind.Number(v)
	if n == 0 || e.w.Pool.Contains(h) || !e.slots[h.Index()].CompareAndSwap(0, uint64(h)) {
		e.w.Failf("OnInsert of %v, with value %d; live: %v, and its slot is %v's", h, n, e.w.Pool.Contains(h), pool.Handle[T](e.slots[h.Index()].Load()))
		return
	}
	*v = e.w.Kind.Make(n)
	e.began.Inc()
}

// onRemove fails if h is live, or its life had not begun, or has ended before. It reads the value, plainly.
func (e *heard[T]) onRemove(h pool.Handle[T], v *T) {
	n := e.w.Kind.Number(v)
	if n == 0 || e.w.Pool.Contains(h) || !e.slots[h.Index()].CompareAndSwap(uint64(h), 0) {
		e.w.Failf("OnRemove of %v, with value %d; live: %v, and its slot is %v's", h, n, e.w.Pool.Contains(h), pool.Handle[T](e.slots[h.Index()].Load()))
		return
	}
	e.ended.Inc()
}

// told requires, at rest, that events told of what was inserted and removed, and that no life is left.
func (w *World[T]) told() {
	if w.heard == nil {
		return
	}
	in, out := w.Done(Inserted), w.Done(Removed)+w.Done(Swept)
	if began, ended := w.heard.began.Load(), w.heard.ended.Load(); began != in || ended != out {
		w.Failf("events told of %d insertions and %d removals; want %d and %d", began, ended, in, out)
	}
	for i := range w.heard.slots {
		if h := pool.Handle[T](w.heard.slots[i].Load()); h != 0 {
			w.Failf("no event told of the end of %v", h)
		}
	}
}
