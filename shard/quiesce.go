package shard

import (
	"context"

	"coatcheck/epoch"
)

// Quiescence: when everything has been reclaimed that was removed before a moment.

// goal seals what waits, and returns the number up to which all batches must be finished
// for everything to be reclaimed that was retired before the call. It is not known while
// there is no batch for the seal. A seal gets its number before it takes what waits, so
// that the number is counted when limbo is found empty.
func (s *shard[T]) goal() (number uint32, known bool) {
	known = s.sealNow()
	return s.seals.Load(), known
}

// reclaimedAll reclaims what it can, and reports whether all batches are finished up to that
// with the given number.
func (s *shard[T]) reclaimedAll(number uint32) bool {
	for more := true; more && !s.finished(number); {
		_, more = s.reclaim(s, effortWait)
	}
	return s.finished(number)
}

// resetsGoal returns the number that resetsDone is to be asked for about the Resets
// that are under way. The next flip may have looked already; the two after it look at both
// counts.
func (s *shard[T]) resetsGoal() uint64 { return s.resets.flips.Load() + 3 }

// resetsDone reports whether the Resets are over that were under way when resetsGoal
// returned goal.
func (s *shard[T]) resetsDone(goal uint64) bool {
	return s.resets.flips.Load() >= goal || s.underReset() == 0
}

// Wait returns once everything that was removed before the call has been reclaimed, save
// what magazines and holds keep, or with ctx's error when ctx is done before.
func (a *Arena[T]) Wait(ctx context.Context) error {
	for i := range a.shards {
		s := &a.shards[i]
		s.sealNow() // so that all grace periods run at once
		s.reclaim(s, effortAll)
	}
	for i := range a.shards {
		if err := a.shards[i].wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wait is Wait for one shard. What a Reset that failed has sent back to limbo was removed
// before, too, and is waited for once more.
func (s *shard[T]) wait(ctx context.Context) error {
	for {
		failed := s.resets.failed.Load()
		number, known := s.goal()
		err := epoch.Wait(ctx, func() bool {
			if !known {
				s.reclaim(s, effortWait) // a batch may come to be empty
				number, known = s.goal()
			}
			return known && s.reclaimedAll(number)
		})
		if err != nil || s.arena.Reset == nil {
			return err
		}
		// All these slots have been taken. Others may yet call Reset for some.
		goal := s.resetsGoal()
		err = epoch.Wait(ctx, func() bool {
			s.resets.flip()
			return s.resetsDone(goal)
		})
		if err != nil || s.resets.failed.Load() == failed {
			return err
		}
	}
}

// LetGo reclaims everything, if no guard is pinned. Where one is, somebody uses the
// arena, and will reclaim.
func (a *Arena[T]) LetGo() {
	if guards, _ := a.Domain.Pinned(); guards > 0 {
		return
	}
	for i := range a.shards {
		s := &a.shards[i]
		for more := s.waiting() > 0; more; {
			_, more = s.reclaim(s, effortWait)
		}
	}
}
