package shard

import (
	"context"
	"slices"

	"coatcheck/epoch"
)

// goal is what Synchronize waits for in one shard: that all slots have been reclaimed that were in
// limbo, or sealed, when its first step began. That step seals what is in limbo. Seals are numbered. A batch has
// the least number of a seal that had one of its slots, and so has a run of Resets. While the goal is set, no later
// batch joins one of these (batches.closed), and the step ends the epoch. So slots that are removed later come into
// other batches, with other stamps, and do not put the goal off (L13).
//
// The naive goal is that nothing waits any more. Other goroutines go on removing. Nor can a goal be a number of
// slots, since some leave from the middle, or come back from a Reset that failed; nor a stamp, since others go on
// removing in the same epoch.
type goal struct {
	shard  *shard
	set    bool   // and not ended
	number uint64 // the last seal that it waits for
}

// Synchronize waits until everything that was removed before the call has been reclaimed, except
// what magazines and holds keep. If ctx is done before, it returns ctx's error.
func (a *Arena) Synchronize(ctx context.Context) error {
	var goals []goal // those that were not reached at once
	defer func() {
		for i := range goals {
			goals[i].end()
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

// reached reclaims what it can, and reports whether the goal is reached. It ends where only others can
// bring the goal nearer, whatever they remove meanwhile. When ctx is done, it stops after as much as
// one call reclaims.
func (g *goal) reached(ctx context.Context) (reached bool) {
	returned := false
	defer func() {
		if !returned {
			g.end() // a Reset has panicked or exited
		}
	}()
	for work := 0; ; {
		r, ok := g.step()
		work += r.visits + int(r.resets.n)
		if r.resets.n > 0 {
			r.resets.call()
		}
		if ok || !r.unfinished || work >= reclaimMost && ctx.Err() != nil {
			returned = true
			return ok
		}
	}
}

// step is a round, after which the goal may be reached, and has ended then. The first one sets the goal.
// r.unfinished is whether another one would bring the goal nearer at once.
func (g *goal) step() (r round, reached bool) {
	s := g.shard
	s.lock()
	defer s.unlock()
	if !g.set {
		g.set, g.number = true, s.backlog.setGoal(s)
	}
	r.reclaim(s, nil)
	if reached = s.backlog.reached(g.number); reached {
		g.endLocked()
	}
	return r, reached
}

// end ends a goal that nobody waits for any longer, if it was set and has not ended.
func (g *goal) end() {
	g.shard.lock()
	defer g.shard.unlock()
	g.endLocked()
}

func (g *goal) endLocked() {
	if g.set {
		g.set = false
		g.shard.backlog.endGoal()
	}
}

// What a backlog knows of goals.

// setGoal seals what was removed to s, for a Synchronize, and ends the epoch. It returns the number of the last
// seal.
func (b *backlog) setGoal(s *shard) (number uint64) {
	b.seal(s)
	b.arena.Domain.EndEpoch()
	b.waiting.setGoal(b.seals)
	return b.seals
}

// endGoal is the end of a goal that was set.
func (b *backlog) endGoal() { b.waiting.endGoal() }

// reached reports whether every slot of the seal with that number and of those before has been
// reclaimed, except what holds keep.
func (b *backlog) reached(number uint64) bool {
	return !b.waiting.upTo(number) && !slices.ContainsFunc(b.runs, func(run uint64) bool { return run <= number })
}
