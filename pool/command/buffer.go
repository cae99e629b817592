package command

import (
	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// Buffer records insertions into a pool and removals from it, to be done by
// Apply.
//
// It is safe for concurrent use: goroutines may share one, or have one each,
// which spares them waiting for each other. A Buffer that is dropped loses no
// slot: the garbage collector gives back what it has reserved, and its removals
// are forgotten.
//
// The zero Buffer panics, as does a copy: make one with New. It must not be
// kept in a value of its own pool, where the collector would never find it
// dropped.
type Buffer[T any] struct {
	// mu guards the fields down to removals, and the spare ones. No user code
	// runs and no other lock is waited for while it is held, but for the mu of
	// other buffers, in the order of their numbers.
	mu         atom.Mutex
	self       *Buffer[T] // this Buffer: in a zero one and in a copy it is not
	pool       *pool.Pool[T]
	reserver   *pool.Reserver[T] // of pool; needs no mu, and is used without: it may call Reset
	insertions []*pool.Reservation[T]
	removals   []pool.Handle[T]

	// What follows is used once a frame. It also keeps what recorders write to
	// away from the next Buffer in memory, which may be another goroutine's.

	spareInsertions []*pool.Reservation[T]
	spareRemovals   []pool.Handle[T]
	spareFrame      *frame[T]

	// applying is held from the moment an Apply takes this Buffer's commands
	// until the values that it inserts are live (see Apply). It comes before
	// mu.
	applying atom.Mutex

	// number is another in each Buffer, and the order in which both locks are
	// taken.
	number uint64
}

// numbered counts Buffers, of all types and pools.
var numbered atom.Uint64

// New returns an empty Buffer for p. A nil pool, or a zero one, panics.
func New[T any](p *pool.Pool[T]) *Buffer[T] {
	if p == nil {
		panic("command: New of a nil Pool")
	}
	b := &Buffer[T]{
		pool:     p,
		reserver: p.Reserver(), // a zero Pool panics here, rather than in the middle of a frame
		number:   numbered.Add(1),
	}
	b.self = b
	return b
}

// Insert records the insertion of v and returns the handle that the value will
// have. The handle is live from the next Apply on, and never if the Buffer is
// discarded or dropped before.
//
// v is copied into its slot right away. The error is pool.ErrFull, or one that
// wraps it; nothing is recorded then. A Reset that panics while the pool looks
// for a slot comes up here, with the same result. It costs one Reserve of a
// pool.Reserver, which allocates three objects for each 63 insertions.
func (b *Buffer[T]) Insert(v T) (pool.Handle[T], error) {
	b.usable()
	r, err := b.reserver.Reserve()
	if err != nil {
		return 0, err
	}
	*r.Value() = v
	b.record(r)
	return r.Handle(), nil
}

// InsertFunc is Insert for a value that is built where it will live. init is
// called at once, by the caller's goroutine: it gets the value, zero or as
// Options.Reset left it, and the handle. The insertion is recorded when init
// returns; a panic in init, or runtime.Goexit, gives the slot back and goes on
// up, and nothing is recorded. init may use the Buffer and the pool.
func (b *Buffer[T]) InsertFunc(init func(h pool.Handle[T], v *T)) (pool.Handle[T], error) {
	b.usable()
	r, err := b.reserver.Reserve()
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

// record adds an insertion. Nobody has used r before, and nobody but an Apply
// or a Discard of this Buffer settles it.
func (b *Buffer[T]) record(r *pool.Reservation[T]) {
	b.mu.Lock()
	b.insertions = append(b.insertions, r)
	b.mu.Unlock()
}

// Remove records the removal of the value that h names, which stays live until
// the next Apply. h may be a handle that Insert has just given, by this Buffer
// or by another that is applied together with it. What h names is looked up in
// Apply: whatever is not live then, counts nothing.
func (b *Buffer[T]) Remove(h pool.Handle[T]) {
	b.usable()
	b.mu.Lock()
	b.removals = append(b.removals, h)
	b.mu.Unlock()
}

// Len returns how many commands wait for Apply: insertions, and removals as
// they were recorded, those that will count nothing included.
func (b *Buffer[T]) Len() (insertions, removals int) {
	b.usable()
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.insertions), len(b.removals)
}

// usable panics unless b was made by New, and is not a copy.
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
