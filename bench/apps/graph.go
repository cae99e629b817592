package apps

import (
	"math/rand/v2"
	"sync"

	"coatcheck/bench/peer"
)

// graph runs tasks that wait for up to three earlier ones, the most urgent first. Some are
// cancelled, with all that wait for them, by names that may be stale by then: the task may be
// running, done or cancelled. A mutex guards the graph. Tasks run outside it, and a task that runs
// cannot be cancelled, so the goroutine that runs it uses it without a guard.
var graph = App{
	ID:    "Graph",
	Title: "Graph of jobs: a job with dependencies, a priority and cancellation",
	Versions: []Version{
		{peer.NamePool, graphed(newPoolGraph)},
		{NamePoolPointers, graphed(newPoolPointersGraph)},
		{NamePointers, graphed(newPointerGraph)},
		{peer.NameMap, graphed(newMapGraph)},
	},
}

// task is what a task has on every contestant.
type task struct {
	id, urgency uint64
	input       [4]uint64
	waits       int // for how many tasks
	running     bool
}

// run does the task's work, and returns a word of its result.
func (t *task) run() uint64 {
	x := t.input[0]
	for i := range 24 {
		x = (x ^ x>>29 ^ t.input[i&3]) * 0xbf58476d1ce4e5b9
	}
	t.input[0] = x
	return x
}

// tasks is a graph on a contestant. All methods are called under the mutex. N is what names tasks.
type tasks[N any] interface {
	add(t task, after []N) N
	// cancel removes a task, unless it runs, and those that wait for it. It returns the sum of their
	// identities, 0 if the name is stale.
	cancel(N) (ids uint64)
	// take takes the most urgent task that is ready.
	take() (N, *task, bool)
	// done removes a task that was run.
	done(N)
	live() int
}

const (
	batch  = 16 // tasks that are added at once
	recent = 64 // names that a goroutine remembers
	grab   = 8  // tasks that a goroutine takes at once
)

func graphed[N any](open func() tasks[N]) func(Load) Outcome {
	return func(l Load) Outcome {
		g, mu := open(), sync.Mutex{}
		batches := max(l.share(480_000)/batch/l.Goroutines, 1)
		sum := each(l.Goroutines, func(goroutine int) (sum uint64) {
			random := rand.New(rand.NewPCG(1, uint64(goroutine)))
			var names [recent]N
			for i := range batches {
				first := uint64(goroutine*batches+i)*batch + 1
				mu.Lock()
				for id := first; id < first+batch; id++ {
					var after []N
					r := random.Uint64()
					if i >= recent/batch {
						after = append(make([]N, 0, 3), names[r%recent], names[r>>8%recent], names[r>>16%recent])[:r>>24&3]
					}
					names[id%recent] = g.add(task{id: id, urgency: r >> 32 & 7, input: [4]uint64{id, r}}, after)
				}
				if name := random.Uint64() % recent; i >= recent/batch {
					sum += g.cancel(names[name])
				}
				mu.Unlock()
				if i%4 == 3 || i == batches-1 {
					sum += runAll(g, &mu)
				}
			}
			return sum
		})
		n := uint64(batches * batch * l.Goroutines)
		check(sum == n*(n+1)/2, "the identities of tasks that were run or cancelled add up to %d, want %d", sum, n*(n+1)/2)
		check(g.live() == 0, "%d tasks are left", g.live())
		return Outcome{Ops: int(n), Sum: sum}
	}
}

// runAll runs tasks until none is ready, and returns the sum of their identities.
func runAll[N any](g tasks[N], mu *sync.Mutex) (sum uint64) {
	var names [grab]N
	var taken [grab]*task
	for n := 0; ; {
		mu.Lock()
		for _, name := range names[:n] {
			g.done(name)
		}
		for n = 0; n < grab; n++ {
			name, t, ok := g.take()
			if !ok {
				break
			}
			names[n], taken[n] = name, t
		}
		mu.Unlock()
		if n == 0 {
			return sum
		}
		for _, t := range taken[:n] {
			check(t.run() != 0 && t.waits == 0, "task %d was run while it waited", t.id)
			sum += t.id
		}
	}
}
