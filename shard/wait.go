package shard

import (
	"context"

	"coatcheck/epoch"
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
		if g := (goal{s, s.sealNow()}); !s.reached(g.number) {
			goals = append(goals, g)
		}
	}
	for _, g := range goals {
		if err := epoch.Wait(ctx, func() bool { return g.s.reached(g.number) }); err != nil {
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
// that number.
func (s *shard[T]) reached(number uint64) bool {
	for {
		if more, done := s.reclaim(nil); done >= number || !more {
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
