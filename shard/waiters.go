package shard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coatcheck/internal/atom"
	"coatcheck/internal/bubble"
	"coatcheck/internal/cause"
	"coatcheck/internal/hint"
	"coatcheck/shard/slots"
)

// Waiters queue; only the head of the queue searches for a slot and sleeps.
//
// The naive call looks, and then says that it sleeps. What comes free between the two finds
// no sleeper to wake, and the call sleeps beside a free slot. So a call says that it sleeps, and
// then looks. Whatever makes a slot free first puts it where a look finds it, and then asks
// whether a call sleeps. One of the two sees the other (L15).
//
// The announcement has full order: a release store may be seen only after the look. And a call that leaves passes its
// turn on. In the naive queue each removal wakes one call, and a call that leaves with its wake-up leaves the next
// one asleep.
//
// The end of a guard wakes no call: Unpin would pay for it. A call that waits for guards looks
// again after pauses, and so does every one in an arena without stampPerSlot, whose removals do
// not ask.
//
// What a call sleeps on is its own (waiter). The naive queue keeps its channels. In a test by
// testing/synctest they belong to the bubble whose call was the first to wait, and a call of a later
// bubble ends the program.
type waiters struct {
	// asleep is 1 while the head of the queue sleeps, or will unless it finds a slot.
	//
	//	writers  ClaimWait, before it looks; wakeSlow
	//	readers  wake
	//	moves    0 → 1 → 0; the goroutine that ends it rings
	//	orders   the swap to 1 announces the sleeper before it looks (P8)
	asleep atom.Uint64

	// queue is nil before a call waits: most pools never need one.
	//
	//	writers  queueOf, by compare-and-swap from nil
	//	readers  ClaimWait, claimWait; wakeSlow, for a call that sleeps
	queue atom.Pointer[queue]
}

// queue has the calls that wait, in order.
type queue struct {
	mu   atom.Mutex
	last *waiter // guarded by mu, as next and previous of each are

	waiting, waited int           // under mu: the calls that wait, and all that ever did
	ended           time.Duration // under mu: how long those waited that wait no more

	// head is the first call, or nil.
	//
	//	writers  join and leave, under mu
	//	readers  all
	head atom.Pointer[waiter]
}

// waiter is a call that waits. It and its bell are all that a call allocates to wait.
type waiter struct {
	bell           chan struct{} // has a token if the call must look again: whether it is the head, and for a slot
	since          time.Time
	bubbled        bool // bell and since belong to a bubble of testing/synctest
	next, previous *waiter
}

// queueOf returns the queue, and makes it before.
func (q *waiters) queueOf() *queue {
	if current := q.queue.Load(); current != nil {
		return current
	}
	fresh := new(queue)
	if q.queue.CompareAndSwap(nil, fresh) {
		return fresh
	}
	return q.queue.Load() // another call has made it
}

// empty reports whether no call waits, as far as the caller can see.
func (q *waiters) empty() bool {
	current := q.queue.Load()
	return current == nil || current.head.Load() == nil
}

// join puts a new call behind the others.
func (q *queue) join() *waiter {
	w := &waiter{bell: make(chan struct{}, 1), since: time.Now()}
	w.bubbled = bubble.Read(w.since)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting++
	q.waited++
	if w.previous = q.last; w.previous != nil {
		w.previous.next = w
	} else {
		q.head.Store(w)
	}
	q.last = w
	return w
}

// leave takes w out. If it was the head, the next call is, and looks.
func (q *queue) leave(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting--
	q.ended += time.Since(w.since) // read under mu, as in count, so the sum never goes back
	if w.next != nil {
		w.next.previous = w.previous
	} else {
		q.last = w.previous
	}
	if w.previous != nil {
		w.previous.next = w.next
		return
	}
	q.head.Store(w.next)
	if w.next != nil {
		w.next.ring()
	}
}

// ring makes w look again. If bell has a token already, w has yet to take that, and then looks.
func (w *waiter) ring() {
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

// count returns how many calls wait, how many ever did, and how long they have waited together. It
// visits each call that waits, so that these count too. The clock of a bubble is another one than the
// reader's, perhaps; then a call counts when it ends.
func (q *waiters) count() (waiting, waited int, lasted time.Duration) {
	current := q.queue.Load()
	if current == nil {
		return 0, 0, 0
	}
	current.mu.Lock()
	defer current.mu.Unlock()
	now := time.Now()
	inBubble := bubble.Read(now)
	lasted = current.ended
	for w := current.head.Load(); w != nil; w = w.next {
		if w.bubbled == inBubble {
			lasted += now.Sub(w.since)
		}
	}
	return current.waiting, current.waited, lasted
}

// The pauses of a call that waits for guards: it yields some times, for those that are about to
// be unpinned, and then sleeps, first for the shortest pause (atom.Backoff).
const (
	yields   = 4
	shortest = 16 * time.Microsecond
)

// ClaimWait is like Claim, but waits for a slot, behind the calls that came before. When ctx is
// done, it tries once more, and then returns an error that wraps the refusal and the cause of
// ctx.
func (a *Arena) ClaimWait(ctx context.Context, frame uintptr) (*slots.Hook, uint64, error) {
	s := a.Local(hint.Of(frame))
	if slots.Poisons {
		reclaimAtOnce(a)
	}
	if a.waiters.empty() {
		if slot, h, err := s.claimSlow(); err == nil || errors.Is(err, ErrExhausted) {
			return slot, h, a.refusals.count(err)
		}
	}
	return s.claimWait(ctx)
}

// ClaimWait is like Claim, but waits for a slot as Arena.ClaimWait does. Before it waits, it
// gives back all that the magazine keeps.
func (m *Magazine) ClaimWait(ctx context.Context) (*slots.Hook, uint64, error) {
	m.mustBeOpen()
	s := m.shard // a Reset may close the magazine
	if slots.Poisons {
		if m.reclaimAtOnce(); m.arena == nil {
			return s.claimWait(ctx)
		}
	}
	slot, h, err := m.claim()
	if err == nil || errors.Is(err, ErrExhausted) {
		return slot, h, s.arena.refusals.count(err)
	}
	return s.claimWait(ctx)
}

// claimWait is ClaimWait after an insertion that was refused, or behind others that wait.
func (s *shard) claimWait(ctx context.Context) (*slots.Hook, uint64, error) {
	a := s.arena
	q := a.waiters.queueOf()
	w := q.join()
	defer q.leave(w) // also when a Reset panics
	var cancelled error
	for cancelled == nil && q.head.Load() != w {
		cancelled = sleep(ctx, w.bell, 0)
	}
	for round := 0; ; round++ {
		a.waiters.asleep.Swap(1) // publishes (P8)
		slot, h, err := s.claimSlow()
		switch {
		case err == nil || errors.Is(err, ErrExhausted):
			return slot, h, a.refusals.count(err)
		case cancelled != nil:
			return nil, 0, fmt.Errorf("%w: %w", a.refusals.count(err), cancelled)
		case a.stampPerSlot && !errors.Is(err, ErrStalled):
			cancelled = sleep(ctx, w.bell, 0)
			round = -1 // a guard that comes from now on may be short
		case round < yields:
			atom.Pause(0)
		default:
			cancelled = sleep(ctx, w.bell, atom.Backoff(round-yields, shortest))
		}
	}
}

// wake wakes the call that sleeps, if there is one. Before, its caller put slots where a look
// finds them, by an operation of full order, or exhausted one.
func (q *waiters) wake() {
	if q.asleep.Load() != 0 { // observes (P8)
		q.wakeSlow()
	}
}

// wakeAfter is wake after a retirement. The garbage collector's goroutines are
// in no bubble of testing/synctest, and must not wake a call within one: that ends the program. So
// what the collector gives back is found by the next look.
func (q *waiters) wakeAfter(who Retirer) {
	if who == Collector && q.asleep.Load() != 0 {
		if w := q.queue.Load().head.Load(); w != nil && w.bubbled {
			return
		}
	}
	q.wake()
}

// wakeSlow withdraws the announcement, so that one of many removals rings. The head is loaded
// later: if it is another call than the one that announced, that has left, and the other looks after
// it became the head. If there is none, no call sleeps.
func (q *waiters) wakeSlow() {
	if q.asleep.Swap(0) == 0 {
		return
	}
	if w := q.queue.Load().head.Load(); w != nil { // the call that sleeps has made the queue
		w.ring()
	}
}

// sleep takes a token out of c. It returns without one after a pause, if that is not 0, or when
// ctx is done, with the cause.
func sleep(ctx context.Context, c <-chan struct{}, pause time.Duration) error {
	for round := 0; slots.Exploring; round++ { // a virtual thread must not block
		select {
		case <-c:
			return nil
		default:
		}
		if ctx.Err() != nil {
			return cause.Of(ctx)
		}
		if pause > 0 && round > 0 {
			return nil
		}
		atom.Pause(round)
	}
	var timer <-chan time.Time
	if pause > 0 {
		timer = time.After(pause)
	}
	select {
	case <-c:
	case <-timer:
	case <-ctx.Done():
		return cause.Of(ctx)
	}
	return nil
}
