package command

import (
	"fmt"
	"iter"

	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// Buffer records insertions into a pool and removals from it, which [Apply] does later.
//
// It is safe for concurrent use. Goroutines may share one, or have one each so that none waits
// for another. If a Buffer is dropped, the garbage collector gives back the slots that it has
// reserved, and its removals are forgotten.
//
// [New] returns a Buffer; a zero Buffer panics, and so does a copy. A Buffer in a value of its
// own pool is not dropped before the pool.
type Buffer[T any] struct {
	// mu guards the fields down to lists, and spare. Its holder runs no user code. The only locks that it
	// waits for are the mu of other buffers, in the order of their numbers.
	mu   atom.Mutex
	self *Buffer[T] // this Buffer, unless it is zero or a copy
	pool *pool.Pool[T]

	// busy is 0 if no command waits, and all that were taken are done: then Apply and Discard have nothing to
	// do and nothing to wait for.
	//
	//	writers  recorders and recycle, under mu
	//	readers  Apply and Discard
	//	moves    0 → 1 by a command, 1 → 0 when all that was taken is recycled and no command waits
	//	orders   a goroutine that has recorded a command, or knows of one, loads 1 until it is live
	//
	// After a panic of an Apply or a Discard it stays 1, and the locks are taken each time.
	busy  atom.Uint32
	taken int // how many Applys have taken commands and not recycled their lists yet
	lists[T]

	// A frame uses the following fields once. They lie between the words that recorders write and the next
	// Buffer in memory, which another goroutine may use.

	spare lists[T] // empty, with memory for the next frame

	// applying is held from before an Apply takes this Buffer's commands until the values
	// that it inserts are live (see apply.go). It is locked before mu.
	applying atom.Mutex

	// number is unique to each Buffer. Both locks are taken in the order of numbers.
	number uint64
}

// lists has the commands of a Buffer. An insertion is a Reservation, so a dropped Buffer loses no slot.
type lists[T any] struct {
	insertions []*pool.Reservation[T]
	removals   []pool.Handle[T]
	functions  []function
}

// function is a function that Do has recorded.
type function struct {
	call     func()
	removals int // how many removals were recorded before it
}

// numbered counts Buffers, of all types and pools.
var numbered atom.Uint64

// New returns an empty Buffer for p. It panics if p is nil or a zero Pool.
func New[T any](p *pool.Pool[T]) *Buffer[T] {
	if p == nil {
		panic("command: New of a nil Pool")
	}
	p.Cap() // panics here for a zero Pool, rather than during a frame
	b := &Buffer[T]{
		pool:   p,
		number: numbered.Add(1),
	}
	b.self = b
	return b
}

// Insert records the insertion of v and returns the handle that the value will have. The handle
// is live from the next Apply on. If the Buffer is discarded or dropped before, the handle never
// becomes live. Until Apply, the pool's Remove returns false for it and changes nothing: to end the
// value's life, record a Remove.
//
// Insert copies v into its slot at once. It costs one pool.Reserve. If there is no slot, the
// error is pool.ErrFull or wraps it. If a Reset panics while the pool searches for a slot, the
// panic continues. In both cases nothing is recorded.
func (b *Buffer[T]) Insert(v T) (pool.Handle[T], error) {
	b.usable()
	r, err := b.pool.Reserve() // without mu, since it may call Reset
	if err != nil {
		return 0, err
	}
	*r.Pointer() = v
	b.record(r)
	return r.Handle(), nil
}

// InsertFunc is like Insert but builds the value in its slot. It calls init at once, with the
// handle and a pointer to the value, which is zero or as Options.Reset left it. It records the
// insertion when init returns. If init panics or exits, the slot goes back, nothing is recorded,
// and the panic continues. init may use the Buffer and the pool.
func (b *Buffer[T]) InsertFunc(init func(h pool.Handle[T], v *T)) (pool.Handle[T], error) {
	b.usable()
	r, err := b.pool.Reserve() // without mu, since it may call Reset
	if err != nil {
		return 0, err
	}
	built := false
	defer func() {
		if !built {
			r.Cancel()
		}
	}()
	init(r.Handle(), r.Pointer())
	built = true
	b.record(r)
	return r.Handle(), nil
}

// record records an insertion. r is new, and only an Apply or a Discard of this Buffer will commit or cancel
// it.
func (b *Buffer[T]) record(r *pool.Reservation[T]) {
	b.mu.Lock()
	b.wait()
	b.insertions = append(b.insertions, r)
	b.mu.Unlock()
}

// wait notes that a command will wait. The caller holds mu.
func (b *Buffer[T]) wait() {
	if b.busy.Load() == 0 {
		b.busy.Store(1)
	}
}

// Remove records the removal of the value that h names, which stays live until the next Apply. h
// may come from an Insert into this Buffer, or into another that is applied together with it. If
// h is not live when Apply comes to it, the removal has no effect and does not count.
func (b *Buffer[T]) Remove(h pool.Handle[T]) {
	b.usable()
	b.mu.Lock()
	b.wait()
	b.removals = append(b.removals, h)
	b.mu.Unlock()
}

// Do records f. Apply calls f once, when all insertions are live, in its place among the
// removals. It does so on its own goroutine and under no lock, so f may use the pool, record, and
// apply. Discard forgets f. Do panics if f is nil.
//
// Use Do for what belongs to a command but is not in the pool, such as a node's links:
//
//	h, err := b.Insert(node)
//	b.Do(func() { err = forest.Append(parent, h) })
//	b.Do(func() { forest.Remove(old) })
//
// The same frame may insert the parent. Apply does not count what f removes.
func (b *Buffer[T]) Do(f func()) {
	b.usable()
	if f == nil {
		panic("command: Do of a nil function")
	}
	b.mu.Lock()
	b.wait()
	b.functions = append(b.functions, function{f, len(b.removals)})
	b.mu.Unlock()
}

// String returns the type of b and how many commands wait for Apply, in a text for people.
func (b *Buffer[T]) String() string {
	if b.self != b {
		return fmt.Sprintf("%T: a zero Buffer, or a copy", b)
	}
	return fmt.Sprintf("%T: %d commands", b, b.Len())
}

// Len returns how many commands wait for Apply: insertions, removals and functions. A removal
// counts as often as it is recorded.
func (b *Buffer[T]) Len() int {
	b.usable()
	b.mu.Lock()
	n := len(b.insertions) + len(b.removals) + len(b.functions)
	b.mu.Unlock()
	return n
}

// Insertions returns an iterator over the insertions that wait for Apply, in the order of
// recording, with pointers to their values. Use it to look at values, to complete them, or to
// make them refer to each other.
//
// The body may record commands; the loop visits these insertions too. If several goroutines range
// over the insertions, they share the pointers. A pointer is valid until an Apply or a Discard
// takes the insertion. If the body calls one of these, the loop ends, or goes on with what has
// been recorded since.
func (b *Buffer[T]) Insertions() iter.Seq2[pool.Handle[T], *T] {
	b.usable()
	return func(yield func(pool.Handle[T], *T) bool) {
		for i := 0; ; i++ {
			b.mu.Lock()
			if i >= len(b.insertions) {
				b.mu.Unlock()
				return
			}
			r := b.insertions[i] // not settled while mu is held
			h, v := r.Handle(), r.Pointer()
			b.mu.Unlock()
			if !yield(h, v) {
				return
			}
		}
	}
}

// Removals returns an iterator over the removals that wait for Apply, in the order of recording
// and as often as recorded. Some may turn out to have no effect. The body may record commands;
// the loop visits these removals too.
func (b *Buffer[T]) Removals() iter.Seq[pool.Handle[T]] {
	b.usable()
	return func(yield func(pool.Handle[T]) bool) {
		for i := 0; ; i++ {
			b.mu.Lock()
			if i >= len(b.removals) {
				b.mu.Unlock()
				return
			}
			h := b.removals[i]
			b.mu.Unlock()
			if !yield(h) {
				return
			}
		}
	}
}

// usable panics unless b was made by New and is not a copy.
func (b *Buffer[T]) usable() {
	if b == nil || b.self != b {
		b.unusable()
	}
}

func (b *Buffer[T]) unusable() {
	switch {
	case b == nil:
		panic("command: nil Buffer; make one with New")
	case b.self == nil:
		panic("command: zero Buffer; make one with New")
	}
	panic("command: a Buffer was copied; pass a pointer to the one that New made")
}
