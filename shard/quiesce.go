package shard

import (
	"context"

	"coatcheck/epoch"
)

// Quiescence: when everything has been reclaimed that was removed before a moment.

// goal returns the number that done must reach for everything that was retired
// before the call to be reclaimed.
func (s *shard[T]) goal() uint64 {
	begun := s.seals.Load()
	if Low(s.limbo.Load()) != None {
		return begun + 1 // the next seal takes it
	}
	return s.seals.Load() // a seal counts before it takes
}

// reclaimedAll reclaims what it can, and reports whether done has reached goal.
func (s *shard[T]) reclaimedAll(goal uint64) bool {
	for more := s.done.Load() < goal; more; {
		_, more = s.reclaim(s, effortWait)
		more = more && s.done.Load() < goal
	}
	return s.done.Load() >= goal
}

// resetsGoal returns the number that resetsDone is to be asked for about the Resets
// that are under way.
func (s *shard[T]) resetsGoal() uint64 { return s.resets.flips.Load() + 2 }

// resetsDone reports whether the Resets are over that were under way when resetsGoal
// returned goal.
func (s *shard[T]) resetsDone(goal uint64) bool {
	return s.resets.flips.Load() >= goal || s.underReset() == 0
}

// Wait returns once everything that was removed before the call has been reclaimed, save
// what magazines and holds keep, or with ctx's error when ctx is done before.
func (a *Arena[T]) Wait(ctx context.Context) error {
	for i := range a.shards {
		a.shards[i].reclaim(&a.shards[i], effortWait) // seals, so that all grace periods run at once
	}
	// One shard after the other. Each goal is set late, and so covers what was
	// removed before the call all the more.
	for i := range a.shards {
		s := &a.shards[i]
		goal := s.goal()
		if err := epoch.Wait(ctx, func() bool { return s.reclaimedAll(goal) }); err != nil {
			return err
		}
		// All these slots have been taken. Others may yet call Reset for some.
		goal = s.resetsGoal()
		err := epoch.Wait(ctx, func() bool {
			if !s.resetsDone(goal) {
				s.reclaim(s, effortKnown) // lets the phase end
			}
			return s.resetsDone(goal)
		})
		if err != nil {
			return err
		}
	}
	return nil
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
