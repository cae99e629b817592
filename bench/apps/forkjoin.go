package apps

import (
	"sync/atomic"

	"coatcheck/bench/peer"
	"coatcheck/pool"
)

// forkJoin counts the leaves of a tree of jobs. A job forks two, unless it is a leaf. The
// goroutine that ends the second of them goes on with their parent, and adds up the results.
// Only the goroutine that runs a job removes it, so it needs no guard. In our versions each goroutine
// has a Worker.
var forkJoin = App{
	ID:    "ForkJoin",
	Title: "Fork and join: a job of 64 bytes",
	Versions: []Version{
		{peer.NamePool, joined(joinPool)},
		{peer.NameGuard, joined(joinGuard)},
		{NamePoolPointers, joined(joinPoolPointers)},
		{NamePointers, joined(joinPointers)},
		{peer.NameMap, joined(func(leaves uint64, n int) uint64 { return joinNamed(newLocked[*namedJob](), leaves, n) })},
		{peer.NameXsync, joined(func(leaves uint64, n int) uint64 { return joinNamed(newXsync[*namedJob](), leaves, n) })},
	},
}

// joined runs a version, which returns the number of leaves, and checks it.
func joined(join func(leaves uint64, goroutines int) uint64) func(Load) Outcome {
	return func(l Load) Outcome {
		leaves := uint64(l.share(600_000))
		sum := join(leaves, l.Goroutines)
		check(sum == leaves, "there are %d leaves; want %d", sum, leaves)
		return Outcome{Ops: int(2*leaves - 1), Sum: sum}
	}
}

// work is a job without its link to the parent.
type work struct {
	leaves  uint64
	sum     atomic.Uint64
	waits   atomic.Uint32 // for how many halves
	padding [4]uint64
}

// halves returns the leaves of both halves.
func (w *work) halves() [2]uint64 { return [2]uint64{w.leaves / 2, w.leaves - w.leaves/2} }

// join adds a half's result. It reports whether it was the second, and then returns that of both. The
// wrong version returns what the addition does: the other half may come before this one is counted.
func (w *work) join(half uint64) (sum uint64, last bool) {
	w.sum.Add(half)
	if last = w.waits.Add(^uint32(0)) == 0; last {
		sum = w.sum.Load()
	}
	return sum, last
}

type poolJob struct {
	parent pool.Handle[poolJob]
	work
}

func (j *poolJob) begin(parent pool.Handle[poolJob], leaves uint64) {
	j.parent, j.leaves = parent, leaves
	j.waits.Store(2)
}

func joinPool(leaves uint64, goroutines int) uint64 {
	jobs := pool.Must[poolJob](nil)
	fork := func(w *pool.Worker[poolJob], parent pool.Handle[poolJob], leaves uint64) pool.Handle[poolJob] {
		return inserted(w.InsertFunc(func(_ pool.Handle[poolJob], j *poolJob) { j.begin(parent, leaves) }))
	}
	root := jobs.Worker()
	c := newCrew(goroutines, fork(root, 0, leaves))
	root.Close()
	return c.run(func(own []pool.Handle[poolJob]) {
		w := jobs.Worker()
		defer w.Close()
		for h, ok := c.next(&own); ok; h, ok = c.next(&own) {
			j, _ := jobs.Pointer(h)
			if j.leaves > 1 {
				for _, leaves := range j.halves() {
					own = append(own, fork(w, h, leaves))
				}
				continue
			}
			for sum, last := uint64(1), true; last; {
				parent := j.parent
				w.Remove(h)
				if h = parent; h.IsZero() {
					c.end(sum)
					break
				}
				j, _ = jobs.Pointer(h)
				sum, last = j.join(sum)
			}
		}
	})
}

// joinGuard holds a guard on each goroutine, pinned anew after 64 jobs and while it waits for one.
func joinGuard(leaves uint64, goroutines int) uint64 {
	jobs := pool.Must[poolJob](nil)
	fork := func(w *pool.Worker[poolJob], parent pool.Handle[poolJob], leaves uint64) pool.Handle[poolJob] {
		return inserted(w.InsertFunc(func(_ pool.Handle[poolJob], j *poolJob) { j.begin(parent, leaves) }))
	}
	root := jobs.Worker()
	c := newCrew(goroutines, fork(root, 0, leaves))
	root.Close()
	return c.run(func(own []pool.Handle[poolJob]) {
		w := jobs.Worker()
		defer w.Close()
		g := jobs.Pin()
		for runs := 1; ; runs++ {
			anew := runs%64 == 0 || len(own) == 0 // then it may wait, and a guard keeps what others remove
			if anew {
				g.Unpin()
			}
			h, ok := c.next(&own)
			if !ok {
				return
			}
			if anew {
				g = jobs.Pin()
			}
			j, _ := g.Pointer(h)
			if j.leaves > 1 {
				for _, leaves := range j.halves() {
					own = append(own, fork(w, h, leaves))
				}
				continue
			}
			for sum, last := uint64(1), true; last; {
				parent := j.parent
				w.Remove(h)
				if h = parent; h.IsZero() {
					c.end(sum)
					break
				}
				j, _ = g.Pointer(h)
				sum, last = j.join(sum)
			}
		}
	})
}

type ownedJob struct {
	parent pool.Handle[*ownedJob]
	work
}

func joinPoolPointers(leaves uint64, goroutines int) uint64 {
	jobs := pool.Must[*ownedJob](nil)
	fork := func(w *pool.Worker[*ownedJob], parent pool.Handle[*ownedJob], leaves uint64) pool.Handle[*ownedJob] {
		j := &ownedJob{parent: parent, work: work{leaves: leaves}}
		j.waits.Store(2)
		return inserted(w.Insert(j))
	}
	root := jobs.Worker()
	c := newCrew(goroutines, fork(root, 0, leaves))
	root.Close()
	return c.run(func(own []pool.Handle[*ownedJob]) {
		w := jobs.Worker()
		defer w.Close()
		for h, ok := c.next(&own); ok; h, ok = c.next(&own) {
			j, _ := jobs.Get(h)
			if j.leaves > 1 {
				for _, leaves := range j.halves() {
					own = append(own, fork(w, h, leaves))
				}
				continue
			}
			for sum, last := uint64(1), true; last; {
				w.Remove(h)
				if h = j.parent; h.IsZero() {
					c.end(sum)
					break
				}
				j, _ = jobs.Get(h)
				sum, last = j.join(sum)
			}
		}
	})
}
