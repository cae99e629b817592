package shard

import (
	"context"
	"slices"

	"coatcheck/epoch"
)

// goal is what Synchronize waits for in one shard: that all slots have been reclaimed that were in
// limbo, or sealed, at one moment after it began. Seals are numbered. A batch has the least number of
// a seal that had one of its slots, and so has a run of Resets. While the goal is set, a batch with
// slots from before gets none from later seals (fences), so what is removed later does not put the
// goal off (L13).
//
// The naive goal is that nothing waits any more. Other goroutines go on removing.
type goal struct {
	shard  *shard
	set    bool
	number uint64
}

// Synchronize waits until everything that was removed before the call has been reclaimed, except
// what magazines and holds keep. If ctx is done before, it returns ctx's error.
func (a *Arena) Synchronize(ctx context.Context) error {
	var goals []goal // those that were not reached at once
	defer func() {
		for i := range goals {
			goals[i].leave()
		}
	}()
	for _, s := range a.shards() {
		g := goal{shard: s}
		if !g.reached(ctx) {
			goals = append(goals, g)
		}
	}
	for i := range goals {
		g := &goals[i]
		if err := epoch.Wait(ctx, func() bool { return g.reached(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// reached reclaims what it can, and reports whether the goal is reached. When ctx is done, it
// stops after as much as one call reclaims.
func (g *goal) reached(ctx context.Context) bool {
	for work := 0; ; {
		r, reached := g.step()
		work += r.visits + int(r.resets.n)
		if r.resets.n > 0 {
			g.run(&r.resets)
		}
		if reached {
			return true
		}
		if !r.more || work >= reclaimMost && ctx.Err() != nil {
			return false
		}
	}
}

// step is a round, after which the goal may be reached. The goal is set as soon as all that was
// sealed before is enqueued.
func (g *goal) step() (r round, reached bool) {
	s := g.shard
	s.lock()
	defer s.unlock()
	if !g.set && s.unsorted() == 0 {
		s.seal()
		g.set, g.number = true, s.seals
		s.fences = append(s.fences, s.seals)
	}
	s.reclaimRound(&r, nil, s.fill())
	if reached = g.set && s.reached(g.number); reached {
		g.end()
	}
	return r, reached
}

// run runs Resets. If one does not return, nobody waits for the goal any more.
func (g *goal) run(r *resets) {
	returned := false
	defer func() {
		if !returned {
			g.leave()
		}
	}()
	r.run()
	returned = true
}

// leave ends a goal, if it is set, for a caller that waits for it no more. Its fence would keep
// batches apart.
func (g *goal) leave() {
	if g.set {
		g.shard.lock()
		defer g.shard.unlock()
		g.end()
	}
}

// end is leave under the lock.
func (g *goal) end() {
	s := g.shard
	k, _ := slices.BinarySearch(s.fences, g.number)
	s.fences = slices.Delete(s.fences, k, k+1)
	g.set = false
}
