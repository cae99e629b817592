package shard

import (
	"context"
	"slices"

	"coatcheck/epoch"
	"coatcheck/shard/slots"
)

// goal is what Synchronize waits for in one shard: that all slots have been reclaimed that were in
// limbo, or sealed, when its first step began. Seals are numbered. A batch has the least number of a
// seal that had one of its slots, and so has a run of Resets. When that seal is made, the goal ends the
// epoch. So slots that are removed later have other stamps, come into other batches, and do not put the
// goal off (L13).
//
// The naive goal is that nothing waits any more. Other goroutines go on removing. The wrong version
// sets the goal when nothing is sealed and not yet enqueued. Each round seals what has come into limbo
// meanwhile, so it is never set if a slot is removed between two steps.
type goal struct {
	shard  *shard
	set    bool
	number uint64 // the last seal that it waits for; perhaps it is yet to come
	ended  bool   // the epoch of that seal has ended
}

// Synchronize waits until everything that was removed before the call has been reclaimed, except
// what magazines and holds keep. If ctx is done before, it returns ctx's error.
func (a *Arena) Synchronize(ctx context.Context) error {
	var goals []goal // those that were not reached at once
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
func (g *goal) reached(ctx context.Context) bool {
	for work := 0; ; {
		r, reached := g.step()
		work += r.visits + int(r.resets.n)
		if r.resets.n > 0 {
			r.resets.run()
		}
		if reached {
			return true
		}
		if !r.unfinished || work >= reclaimMost && ctx.Err() != nil {
			return false
		}
	}
}

// step is a round, after which the goal may be reached. The first one sets the goal. r.unfinished is
// whether another one would bring the goal nearer at once.
func (g *goal) step() (r round, reached bool) {
	s := g.shard
	s.lock()
	defer s.unlock()
	if !g.set {
		g.set, g.number = true, s.backlog.setGoal(&s.limbo)
	}
	r.run(s, nil, s.fill())
	if !g.ended && s.backlog.isSealed(g.number) {
		s.arena.Domain.EndEpoch()
		g.ended = true
	}
	reached = s.backlog.reached(g.number)
	// What has passed lies before what waits for a guard. Nothing that is removed later comes there.
	r.unfinished = r.unfinished || s.backlog.unsortedOf(g.number)
	return r, reached
}

// What a backlog knows of goals.

// setGoal seals limbo if it can, for a Synchronize. It returns the number of the last seal that has a
// slot of those that were removed before. That is the next one, if the one before is not enqueued yet.
// Where magazines retire batches, which count as seals too, a seal is enqueued as a whole: then the round
// that follows under the same lock makes the next one.
func (b *backlog) setGoal(limbo *slots.Limbo) (number uint64) {
	if b.unsorted() > 0 && limbo.Size() > 0 {
		return b.seals + 1
	}
	b.seal(limbo)
	return b.seals
}

// isSealed reports whether the seal with that number was made.
func (b *backlog) isSealed(number uint64) bool { return b.seals >= number }

// unsortedOf reports whether slots of the seal with that number, or of one before, are not enqueued,
// or not even sealed.
func (b *backlog) unsortedOf(number uint64) bool {
	return b.seals < number || b.sealed.Body.number <= number && b.unsorted() > 0
}

// reached reports whether every slot of the seal with that number and of those before has been
// reclaimed, except what holds keep.
func (b *backlog) reached(number uint64) bool {
	if b.unsortedOf(number) || b.waiting.upTo(number) {
		return false
	}
	return !slices.ContainsFunc(b.runs, func(run uint64) bool { return run <= number })
}
