package tree

import "coatcheck/pool"

// Reader is the reading verbs of a [Forest] under one pin: a look at a neighbour costs two
// look-ups of a handle, and a loop does not pin again. Its verbs mean what those of
// the Forest mean. Every pointer that it returned is valid until Unpin, as with a [pool.Guard].
//
// [Forest.Pin] and [Forest.Phase] return a Reader; a zero Reader panics. It must not be copied.
// While it is pinned, any number of goroutines may use it at once, and any of them may unpin it,
// once the others have finished.
type Reader[T any] struct {
	f     *Forest[T]    // nil after Unpin, and in a zero Reader
	pin   pool.Guard[T] // zero in a phase
	phase bool
}

// Pin pins the pool of the forest until [Reader.Unpin]. What it costs others is what
// [pool.Pool.Pin] costs them.
func (f *Forest[T]) Pin() (r Reader[T]) {
	r.pin = f.guard()
	r.f = f
	return
}

// Phase returns a Reader without a pin, for a phase of a frame in which one goroutine is alone: it uses
// the Reader, and no other goroutine inserts into the pool, removes from it or changes the forest
// before the last use. Others may read meanwhile. So do not mix a phase with a Worker, a Take or an
// Apply of another goroutine: a slot may be used again while the Reader looks at it.
//
// The goroutine itself may change the forest and the pool, also in the body of a loop, and the loop
// keeps its promise. But a pointer is valid only until its value is removed, by the body too.
func (f *Forest[T]) Phase() (r Reader[T]) {
	if f.pool == nil {
		panic(zeroForest)
	}
	r.f, r.phase = f, true
	return
}

// Unpin ends the pin, or the phase. No pointer that a pinned Reader returned may be used after it. A
// second Unpin panics, and so does any other use of the Reader. After a phase it may be left out.
func (r *Reader[T]) Unpin() {
	r.forest()
	if !r.phase {
		r.pin.Unpin()
	}
	r.f = nil
}

// forest returns the forest that is read.
func (r *Reader[T]) forest() *Forest[T] {
	if r.f == nil {
		panic(unpinnedReader)
	}
	return r.f
}
