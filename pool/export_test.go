package pool

import (
	"context"
	"reflect"
	"time"
	"unsafe"

	"coatcheck/internal/atom"
	"coatcheck/shard/slots"
)

// What tests need of the inside of a pool, in all builds. Fields that other packages do not
// export are reached by reflection, so those have no hooks for tests of this one.

const (
	// BlockCells is how many Reservations a block has.
	BlockCells = blockCells

	// RecordBytes is what remembering adds to a pool and to what is opened.
	RecordBytes = unsafe.Sizeof(records{}) + unsafe.Sizeof(mark{})

	// CoreBytes is what a pool takes besides what it points to.
	CoreBytes = unsafe.Sizeof(core{}) - unsafe.Sizeof(records{})
)

// Unused returns how many slots have memory and were never handed to a shard.
func Unused[T any](p *Pool[T]) int { return int(p.arena.Table.Unused()) }

// Stage returns how far the slot of h had come, from 1 in its first life: what tells lives of different slots apart.
func Stage[T any](p *Pool[T], h Handle[T]) uint32 {
	return p.arena.Table.Origins().Stage(h.Index(), h.Generation())
}

// Kept returns how many slots all open Workers together may keep.
func Kept[T any](p *Pool[T]) int {
	reach := reflect.ValueOf(&p.arena).Elem().FieldByName("magazines").FieldByName("reach")
	return int((*atom.Int64)(reach.Addr().UnsafePointer()).Load())
}

// CellOf returns the address of what outlives a Reservation. Those of one block lie CellSize apart.
func CellOf[T any](r *Reservation[T]) uintptr { return uintptr(unsafe.Pointer(r.open)) }

const CellSize = unsafe.Sizeof(reservation{})

// ClearExpired does what the sentinels do after each cycle of the garbage collector.
func ClearExpired[T any](p *Pool[T]) { p.arena.ClearExpired() }

// CellBytes returns the memory of a pool's pin cells.
func CellBytes[T any](p *Pool[T]) int64 { return p.domain.Bytes() }

// Image returns the words and the values of all slots that have memory, for tests that
// want to see that nothing was written.
func Image[T any](p *Pool[T]) (words []uint64, values []T) {
	t := p.pages()
	for i := range t.Limit {
		slot := slots.At[T](t, i)
		words = append(words, slot.Word.Load())
		values = append(values, slot.Value)
	}
	return words, values
}

// FailGrowth makes every growth of p fail, until the function that it returns is called. p
// must have no limit, no more than one page, and slots of more than 128 KiB: it is made to
// ask for pages of 2^31 of them, more than there are addresses. That is the one failure of
// an allocation that a program survives.
func FailGrowth[T any](p *Pool[T]) (restore func()) {
	t := p.pages()
	if t.Limit > t.Mask+1 {
		panic("FailGrowth: the pool has several pages already")
	}
	broken := *t
	broken.Mask = 1<<31 - 1 // all indices lie in page 0 and are what they were
	p.arena.Table.Current.Store(&broken)
	return func() { p.arena.Table.Current.Store(t) }
}

// GetPinned is Get where a second look at the slot does not prove that the copy is whole.
func GetPinned[T any](p *Pool[T], h Handle[T]) (v T, ok bool) { return p.getPinned(h) }

// ClaimedByEach calls f for each live value, as one goroutine of Each does, and returns the index behind the last slot
// that it has claimed.
func ClaimedByEach[T any](p *Pool[T], f func(Handle[T], *T) error) uint32 {
	e := p.newEach(context.Background(), 1, callsOf(f))
	w := eachWorker{eachCall: e, share: &e.shares[0], limit: 1}
	w.setPin()
	first, end := w.share.bounds()
	_ = e.calls(&w, first, end)
	w.pin.Unpin()
	next, _ := w.share.bounds()
	return next
}

// EachLimit returns how many slots a goroutine of Each claims at a time, after a limit, if the calls of f before each
// look at the clock took so long.
func EachLimit[T any](p *Pool[T], limit uint32, took ...time.Duration) uint32 {
	e := p.newEach(context.Background(), 1, nil)
	w := eachWorker{eachCall: e, limit: limit, began: time.Now()}
	w.setPin()
	for _, d := range took {
		w.began = w.began.Add(-d)
		_ = w.called()
	}
	w.pin.Unpin()
	return w.limit
}

// Wrapped tells the tracer of p that the sequence begins anew in the cell of the guard that was recorded first.
func Wrapped[T any](p *Pool[T]) { p.tracer.forget(p.tracer.pinned[0].guard) }

// Refresh lets the tracer of p forget the guards that are not pinned any more.
func Refresh[T any](p *Pool[T]) { p.tracer.refresh() }

// Traced returns how many guards the tracer of p has records of.
func Traced[T any](p *Pool[T]) int {
	p.tracer.mu.Lock()
	defer p.tracer.mu.Unlock()
	return len(p.tracer.pinned)
}

// LockTracer locks the tracer of p, until the function that it returns is called.
func LockTracer[T any](p *Pool[T]) (unlock func()) {
	p.tracer.mu.Lock()
	return p.tracer.mu.Unlock
}

// TracedRefs is the same of Refs.
func TracedRefs[T any](p *Pool[T]) int {
	p.tracer.mu.Lock()
	defer p.tracer.mu.Unlock()
	return len(p.tracer.held)
}
