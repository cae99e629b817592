package command

import (
	"iter"

	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// Buffer records insertions into a pool and removals from it, to be done by Apply.
//
// It is safe for concurrent use. Goroutines may share one, or have one each to avoid
// waiting for each other. A Buffer that is dropped loses no slot: the garbage collector
// gives back the slots it has reserved, and its removals are forgotten.
//
// The zero Buffer panics, as does a copy: make one with New. In a value of its own pool it
// is not dropped as long as the pool is reachable.
type Buffer[T any] struct {
	// mu guards the fields down to lists, and the spare ones. While it is held no user
	// code runs, and no lock is waited for but the mu of other buffers, in the order of
	// their numbers.
	mu   atom.Mutex
	self *Buffer[T] // this Buffer, unless it is zero or a copy
	pool *pool.Pool[T]
	lists[T]

	// The following fields are used once a frame. They also keep the words that recorders
	// write away from the next Buffer in memory, which another goroutine may use.

	spare lists[T] // empty, with memory for the next frame

	// applying is held from before an Apply takes this Buffer's commands until the values
	// that it inserts are live (see apply.go). It is locked before mu.
	applying atom.Mutex

	// number is unique to each Buffer. Both locks are taken in the order of numbers.
	number uint64
}

// lists are the commands of a Buffer.
type lists[T any] struct {
	insertions []*pool.Reservation[T]
	removals   []pool.Handle[T]
	functions  []function
}

// function is a function that was given to Do when so many removals were recorded.
type function struct {
	call   func()
	behind int
}

// numbered counts Buffers, of all types and pools.
var numbered atom.Uint64

// New returns an empty Buffer for p. A nil pool, or a zero one, panics.
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

// Insert records the insertion of v and returns the handle that the value will have. The
// handle is live from the next Apply on, and never if the Buffer is discarded or dropped
// before.
//
// v is copied into its slot at once. The error is pool.ErrFull, or one that wraps it;
// nothing is recorded then. A Reset that panics while the pool searches for a slot panics
// out of Insert, and nothing is recorded either. It costs one pool.Reserve.
func (b *Buffer[T]) Insert(v T) (pool.Handle[T], error) {
	b.usable()
	r, err := b.pool.Reserve() // without mu, since it may call Reset
	if err != nil {
		return 0, err
	}
	*r.Value() = v
	b.record(r)
	return r.Handle(), nil
}

// InsertFunc is like Insert but builds the value in its slot. It calls init at once, with
// the handle and a pointer to the value, which is zero or as Options.Reset left it. The
// insertion is recorded when init returns. If init panics, or exits, the slot is given
// back, nothing is recorded, and the panic continues to the caller. init may use the
// Buffer and the pool.
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
	init(r.Handle(), r.Value())
	built = true
	b.record(r)
	return r.Handle(), nil
}

// record adds an insertion. r is new, and only an Apply or a Discard of this Buffer
// settles it.
func (b *Buffer[T]) record(r *pool.Reservation[T]) {
	b.mu.Lock()
	b.insertions = append(b.insertions, r)
	b.mu.Unlock()
}

// Remove records the removal of the value that h names, which stays live until the next
// Apply. h may be the result of an Insert into this Buffer, or into another that is
// applied together with it. Apply looks h up; if it is not live then, the removal has no
// effect and is not counted.
func (b *Buffer[T]) Remove(h pool.Handle[T]) {
	b.usable()
	b.mu.Lock()
	b.removals = append(b.removals, h)
	b.mu.Unlock()
}

// Do records f, which Apply calls when all insertions are live, in its place among the
// removals: after those recorded before it. It is called once, on the goroutine of that Apply
// and under no lock, so it may use the pool, record, and apply. Discard forgets it.
//
// It is for what belongs to a command, and is not in the pool. A node of a tree is linked and
// removed by its forest:
//
//	h, err := b.Insert(node)
//	b.Do(func() { err = forest.Append(parent, h) })
//	b.Do(func() { forest.Remove(old) })
//
// The parent may be one that this frame inserts. What f removes is not counted by Apply. A
// nil f panics.
func (b *Buffer[T]) Do(f func()) {
	b.usable()
	if f == nil {
		panic("command: Do of a nil function")
	}
	b.mu.Lock()
	b.functions = append(b.functions, function{f, len(b.removals)})
	b.mu.Unlock()
}

// Len returns how many commands wait for Apply: insertions, removals as often as recorded, and
// functions.
func (b *Buffer[T]) Len() int {
	b.usable()
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.insertions) + len(b.removals) + len(b.functions)
}

// Insertions ranges over the insertions that wait for Apply, in the order of recording, with
// pointers to their values: to look at them, to complete them, or to make values refer to each
// other.
//
// Commands may be recorded during the loop, which visits insertions as well. The pointer is
// the body's alone if no other goroutine ranges over the insertions. It is valid until an
// Apply or a Discard takes the insertion. One of these in the body ends the loop, or else
// lets it go on with what has been recorded since.
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
			h, v := r.Handle(), r.Value()
			b.mu.Unlock()
			if !yield(h, v) {
				return
			}
		}
	}
}

// Removals ranges over the removals that wait for Apply, in the order of recording and as
// often as recorded. Some may turn out to have no effect. Commands may be recorded during
// the loop, which visits them as well.
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
