package pending

import (
	"context"
	"errors"
	"sync"
	"time"

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
func (k Call[T]) Wait(ctx context.Context) (T, error) {
	if !k.claim() {
		return *new(T), ErrEnded
	}
	select {
	case a := <-k.w.answer:
		return k.recycle(a)
	case <-ctx.Done():
		return k.giveUp(cause.Of(ctx))
	}
}

// WaitTimeout is like Wait, but after the timeout it ends the call and returns
// context.DeadlineExceeded.
func (k Call[T]) WaitTimeout(d time.Duration) (T, error) {
	if !k.claim() {
		return *new(T), ErrEnded
	}
	if k.w.timer == nil {
		k.w.timer = time.NewTimer(d)
	} else {
		k.w.timer.Reset(d)
	}
	select {
	case a := <-k.w.answer:
		if !k.w.timer.Stop() {
			k.w.timer = nil // with GODEBUG=asynctimerchan=1 its tick may come later, in another call
		}
		return k.recycle(a)
	case <-k.w.timer.C:
		return k.giveUp(context.DeadlineExceeded)
	}
}

// Done returns a channel that is closed when the call has ended. Wait then returns at once. So a
// goroutine can select on several calls, or on a call and something else. A call also ends when
// ctx ends another goroutine's Wait for it. The first Done of a call allocates the channel.
func (k Call[T]) Done() <-chan struct{} {
	if k.w == nil {
		return closed
	}
	for {
		d := k.w.done.Load()
		if d == nil || d.id != k.id {
			if !k.live() {
				return closed // and the waiter may serve another call
			}
			// It was this call's when d was loaded. Success: it has had no other Done since.
			// Failure: another Done of this call was faster, or the call is over.
			fresh := &done{id: k.id, c: make(chan struct{})}
			if !k.w.done.CompareAndSwap(d, fresh) {
				continue
			}
			d = fresh
		}
		// Who ends the call takes the handle and then looks for d. So either that goroutine finds d, or
		// this one finds the handle taken.
		if !k.live() {
			d.end()
		}
		return d.c
	}
}

// done is what Done has returned for a call.
type done struct {
	id   uint64
	once sync.Once
	c    chan struct{}
}

func (d *done) end() { d.once.Do(func() { close(d.c) }) }

// closed is the channel of calls that had ended before their first Done.
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
		k.w.answer <- answer[T]{err: ErrEnded}
	}
	return true
}

// claim makes the caller the waiting side. It returns false if there was one before: a
// waiter that serves another call has another id.
func (k Call[T]) claim() bool { return k.w != nil && k.w.id.CompareAndSwap(k.id, 0) }

// live reports whether the call is outstanding.
func (k Call[T]) live() bool { return k.w.calls.live.Contains(pool.Handle[*waiter[T]](k.id)) }

// remove takes the handle. Then no other goroutine sends.
func (k Call[T]) remove() bool {
	ok := k.w.calls.live.Remove(pool.Handle[*waiter[T]](k.id))
	if ok {
		k.w.ended(k.id)
	}
	return ok
}

// giveUp ends the call with err. If another has taken the handle, its answer is there or on
// its way, and is returned instead.
func (k Call[T]) giveUp(err error) (T, error) {
	if k.remove() {
		return k.recycle(answer[T]{err: err})
	}
	return k.recycle(<-k.w.answer)
}

// recycle returns what a says. The waiter's channel is empty, and nothing will be sent to it.
func (k Call[T]) recycle(a answer[T]) (T, error) {
	k.w.calls.waiters.Put(k.w)
	return a.value, a.err
}
