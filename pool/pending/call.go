package pending

import (
	"context"
	"errors"
	"sync"
	"time"

	"coatcheck/internal/atom"
	"coatcheck/internal/cause"
	"coatcheck/pool"
)

// ErrEnded is the error of a Wait for a call that was canceled, before the Wait or during it. It
// is also the error of a second Wait for the same call.
var ErrEnded = errors.New("pending: the call was canceled, or waited for before")

// Call is a call that has started. Any number of goroutines may use it and its copies at once,
// but only the first Wait returns the answer. The zero Call is a canceled one. A call for which
// nobody waits is outstanding until another goroutine ends it.
type Call[T any] struct {
	w  *waiter[T]
	id uint64
}

// ID returns the number to send with the request. Only the zero Call has the ID zero.
func (k Call[T]) ID() uint64 { return k.id }

// Wait waits until the call ends, and returns its answer or its error. If ctx is done first, Wait
// ends the call. It then returns ctx's error, and ctx's cause if that is another.
//
// A Wait that comes after the end allocates nothing. Another one allocates a channel of 112 bytes.
func (k Call[T]) Wait(ctx context.Context) (T, error) {
	if !k.claim() {
		return *new(T), ErrEnded
	}
	if ctx.Err() != nil {
		return k.giveUp(nil, cause.Of(ctx))
	}
	if bell := k.w.listen(); bell != nil {
		select {
		case <-bell:
		case <-ctx.Done():
			return k.giveUp(bell, cause.Of(ctx))
		}
	}
	return k.recycle()
}

// WaitTimeout is like Wait, but after the timeout it ends the call and returns
// context.DeadlineExceeded. If it has to wait, it allocates a timer too.
func (k Call[T]) WaitTimeout(d time.Duration) (T, error) {
	if !k.claim() {
		return *new(T), ErrEnded
	}
	if d <= 0 {
		return k.giveUp(nil, context.DeadlineExceeded)
	}
	if bell := k.w.listen(); bell != nil {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-bell:
		case <-timer.C:
			return k.giveUp(bell, context.DeadlineExceeded)
		}
	}
	return k.recycle()
}

// Done returns a channel that is closed when the call has ended. Wait then returns at once. So a
// goroutine can select on several calls, or on a call and something else. A call also ends when
// ctx ends another goroutine's Wait for it. The first Done of a call allocates the channel.
func (k Call[T]) Done() <-chan struct{} {
	if k.w == nil {
		return closed
	}
	for {
		d := k.w.signal.Load()
		if d == nil || d.id != k.id {
			if !k.live() {
				return closed // and the waiter may serve another call
			}
			// The waiter was this call's when d was loaded. Success proves that it has had no other Done since.
			// Failure means that another Done of this call was faster, or that the call is over.
			fresh := &signal{id: k.id, c: make(chan struct{})}
			if !k.w.signal.CompareAndSwap(d, fresh) {
				continue
			}
			d = fresh
		}
		// The goroutine that ends the call takes the handle and then looks for d. So it finds d, or this one
		// finds the handle taken.
		if !k.live() {
			d.end()
		}
		return d.c
	}
}

// signal is the channel that Done has returned for a call.
type signal struct {
	id   uint64
	once sync.Once
	c    chan struct{}
}

func (d *signal) end() { d.once.Do(func() { close(d.c) }) }

// closed is the channel of all calls that had ended before their first Done.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Cancel ends the call. It returns false if the call has ended already. Every Wait for the call
// then returns ErrEnded.
func (k Call[T]) Cancel() bool {
	if k.w == nil || !k.remove() {
		return false
	}
	if k.claim() {
		k.w.calls.waiters.Put(k.w) // no Wait has begun, and none will
	} else {
		k.w.put(answer[T]{err: ErrEnded})
	}
	return true
}

// claim makes the caller the waiting side. It returns false if there was one before. A waiter that serves
// another call by now has another id.
func (k Call[T]) claim() bool { return k.w != nil && k.w.id.CompareAndSwap(k.id, 0) }

// live reports whether the call is outstanding.
func (k Call[T]) live() bool { return k.w.calls.outstanding.Contains(pool.Handle[*waiter[T]](k.id)) }

// remove takes the call's handle, so that no other goroutine answers. It returns false if one has taken it
// before.
func (k Call[T]) remove() bool {
	ok := k.w.calls.outstanding.Remove(pool.Handle[*waiter[T]](k.id))
	if ok {
		k.w.ended(k.id)
	}
	return ok
}

// giveUp ends the call with err. If another goroutine has taken the handle, its answer is there or on its
// way, and giveUp returns it instead. bell is what listen has returned, or nil before listen.
func (k Call[T]) giveUp(bell chan struct{}, err error) (T, error) {
	switch {
	case k.remove():
		k.w.answer.err = err
	case bell != nil:
		<-bell
	default:
		for round := 0; k.w.state.Load() != answered; round++ {
			atom.Pause(round)
		}
	}
	return k.recycle()
}

// recycle returns the answer, and gives the waiter back. No other goroutine has it.
func (k Call[T]) recycle() (T, error) {
	w, a := k.w, k.w.answer
	w.answer, w.bell = answer[T]{}, nil
	w.state.Store(idle)
	w.calls.waiters.Put(w)
	return a.value, a.err
}
