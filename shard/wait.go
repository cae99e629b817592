package shard

import (
	"context"
	"fmt"
	"time"

	"coatcheck/epoch"
	"coatcheck/internal/atom"
	"coatcheck/internal/hint"
)

// Wait returns once everything that was removed before the call has been reclaimed, except
// what magazines and holds keep. If ctx is done before, it returns ctx's error.
func (a *Arena[T]) Wait(ctx context.Context) error {
	type goal struct {
		s      *shard[T]
		number uint64
	}
	var goals []goal // those that were not reached at once
	for i := range a.shards {
		s := &a.shards[i]
		if g := (goal{s, s.sealNow()}); !s.reached(ctx, g.number) {
			goals = append(goals, g)
		}
	}
	for _, g := range goals {
		if err := epoch.Wait(ctx, func() bool { return g.s.reached(ctx, g.number) }); err != nil {
			return err
		}
	}
	return nil
}

// sealNow seals what is in limbo, and returns the number of the last seal.
func (s *shard[T]) sealNow() uint64 {
	s.mu.Lock()
	defer s.unlock()
	if c := s.seal(); c.chain.n > 0 {
		s.await(c)
	}
	return s.seals
}

// reached reclaims what it can, and reports whether all has been reclaimed up to the seal with
// that number. With a Reset, which may take long, it stops when ctx is done.
func (s *shard[T]) reached(ctx context.Context, number uint64) bool {
	for {
		if more, done := s.reclaim(nil); done >= number || !more || s.arena.Reset != nil && ctx.Err() != nil {
			return done >= number
		}
	}
}

// LetGo reclaims what it can in an arena without a Reset, and does not wait for locks. It visits
// hardly more slots than wait when it comes to a shard, whatever other goroutines do.
func (a *Arena[T]) LetGo() {
	for i := range a.shards {
		s := &a.shards[i]
		waiting, _ := s.pending()
		for more := true; more && waiting > 0 && s.mu.TryLock(); waiting -= reclaimMost {
			more = s.letGo()
		}
	}
}

func (s *shard[T]) letGo() (more bool) {
	defer s.unlock()
	return s.move(nil, atAll).more
}

// Insertions that wait for a slot form a queue. The first has the turn: it alone looks, and
// sleeps if it is refused.
//
// The naive call looks, and then says that it sleeps. What comes free between the two finds
// no sleeper to wake, and the call sleeps beside a free slot. So a call says that it sleeps, and
// then looks. Whatever makes a slot free first puts it where a look finds it, and then asks
// whether a call sleeps. One of the two sees the other (L15).
//
// The end of a guard wakes no call: Unpin would pay for it. A call that waits for guards looks
// again after pauses, and so does every one in an arena that is not exact, whose removals do not
// ask.
type queue struct {
	// asleep is 1 while the call that has the turn sleeps, or will unless it finds a slot.
	//
	//	writers  ClaimWait, before it looks; wakeSlow
	//	readers  wake
	//	moves    0 → 1 → 0; the goroutine that ends it rings
	//	orders   the swap to 1 announces the sleeper before it looks (P8)
	asleep atom.Uint64

	turn chan struct{} // has a token while no call has the turn; goes to those that wait in order
	bell chan struct{} // has a token if the sleeper must look again
}

func (q *queue) init() {
	q.turn, q.bell = make(chan struct{}, 1), make(chan struct{}, 1)
	q.turn <- struct{}{}
}

// The pauses of a call that waits for guards: it yields some times, for those that are about to
// be unpinned, and then sleeps, from 16 µs to 2 ms. A shorter end would keep a processor awake.
const (
	yields   = 4
	shortest = 16 * time.Microsecond
	doubled  = 7 // times
)

// ClaimWait is Claim that waits for a slot, behind the calls that came before. When ctx is done,
// it looks a last time, and returns an error that wraps the refusal and ctx's error.
func (a *Arena[T]) ClaimWait(ctx context.Context, frame uintptr) (*Slot[T], uint64, error) {
	if len(a.turn) > 0 { // no call waits
		if slot, h, err := a.seek(a.Local(hint.Of(frame))); err == nil || err == ErrExhausted {
			return slot, h, a.counted(err)
		}
	}
	done := sleep(ctx, a.turn, 0)
	if done == nil {
		defer func() { a.turn <- struct{}{} }() // also when a Reset panics
	}
	for round := 0; ; round++ {
		a.asleep.Swap(1) // publishes (P8)
		slot, h, err := a.seek(a.Local(hint.Of(frame)))
		switch {
		case err == nil || err == ErrExhausted:
			return slot, h, a.counted(err)
		case done != nil:
			return nil, 0, fmt.Errorf("%w: %w", a.counted(err), done)
		case err == ErrFull && a.exact:
			done = sleep(ctx, a.bell, 0)
			round = -1 // a guard that comes from now on may be short
		case round < yields:
			atom.Pause(0)
		default:
			done = sleep(ctx, a.bell, shortest<<min(round-yields, doubled))
		}
	}
}

// wake wakes the call that sleeps, if there is one. Before, its caller put slots where a look
// finds them, by an operation of full order, or exhausted one.
func (q *queue) wake() {
	if q.asleep.Load() != 0 { // observes (P8)
		q.wakeSlow()
	}
}

// wakeSlow withdraws the announcement, so that one of many removals rings. If bell has a token
// already, the sleeper has yet to take that, and then looks.
func (q *queue) wakeSlow() {
	if q.asleep.Swap(0) == 0 {
		return
	}
	select {
	case q.bell <- struct{}{}:
	default:
	}
}

// sleep takes a token out of c. It returns without one after a pause, if that is not 0, or when
// ctx is done, with ctx's error.
func sleep(ctx context.Context, c <-chan struct{}, pause time.Duration) error {
	for round := 0; Exploring; round++ { // a virtual thread must not block
		select {
		case <-c:
			return nil
		default:
		}
		if err := ctx.Err(); err != nil || pause > 0 && round > 0 {
			return err
		}
		atom.Pause(round)
	}
	var over <-chan time.Time
	if pause > 0 {
		over = time.After(pause)
	}
	select {
	case <-c:
	case <-over:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
