package shard

import (
	"context"
	"slices"

	"coatcheck/epoch"
	"coatcheck/shard/slots"
)

// goal is what Synchronize waits for in one shard: that all slots have been reclaimed that were in
// limbo, or sealed, when its first step began. Seals are numbered. A batch has the least number of a
// seal that had one of its slots, and so has a run of Resets. From the first step on, a batch with
// slots from before gets none from later seals (fences), so what is removed later does not put the
// goal off (L13).
//
// The naive goal is that nothing waits any more. Other goroutines go on removing. The wrong version
// sets the goal when nothing is sealed and not yet enqueued. Each round seals what has come into limbo
// meanwhile, so it is never set if a slot is removed between two steps.
type goal struct {
	shard  *shard
	set    bool
	number uint64 // the last seal that it waits for; perhaps it is yet to come
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

// reached reclaims what it can, and reports whether the goal is reached. It ends where only others can
// bring the goal nearer, whatever they remove meanwhile. When ctx is done, it stops after as much as
// one call reclaims.
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
		if !r.unfinished || work >= reclaimMost && ctx.Err() != nil {
			return false
		}
	}
}

// step is a round, after which the goal may be reached. The first one sets the goal. r.more is
// whether another one would bring the goal nearer at once.
func (g *goal) step() (r round, reached bool) {
	s := g.shard
	s.lock()
	defer s.unlock()
	if !g.set {
		g.set, g.number = true, s.backlog.setGoal(&s.limbo)
	}
	r.run(s, nil, s.fill())
	if reached = s.backlog.reached(g.number); reached {
		g.end()
	}
	// What has passed lies before what waits for a guard. Nothing that is removed later comes there.
	r.unfinished = r.unfinished || s.backlog.unsortedOf(g.number)
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
	g.shard.backlog.dropGoal(g.number)
	g.set = false
}

// What a backlog knows of goals.

// setGoal seals limbo if it can, for a Synchronize. It returns the number of the last seal that has a
// slot of those that were removed before. That is the next one, if the one before is not enqueued yet.
// Until dropGoal, batches up to that number get no slots of later seals.
func (b *backlog) setGoal(limbo *slots.Limbo) (number uint64) {
	if number = b.seals + 1; b.unsorted() == 0 || limbo.Size() == 0 {
		b.seal(limbo)
		number = b.seals
	}
	b.waiting.setFence(number)
	return number
}

func (b *backlog) dropGoal(number uint64) { b.waiting.dropFence(number) }

// hasGoal reports whether a goal is set.
func (b *backlog) hasGoal() bool { return b.waiting.hasFence() }

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
