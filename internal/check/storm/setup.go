package storm

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"coatcheck/pool"
)

// Options are the options of a pool whose T the storm chooses.
type Options = pool.Options[Plain]

// options returns o for values of another type.
func options[T any](o Options, reset func(*T)) *pool.Options[T] {
	return &pool.Options[T]{
		Capacity: o.Capacity, Preallocate: o.Preallocate, Reuse: o.Reuse, MinFree: o.MinFree,
		MaxLimbo: o.MaxLimbo, Shards: o.Shards, Origin: o.Origin, Reset: reset,
	}
}

// Setup describes a storm over a pool.
type Setup struct {
	Name    string
	Options // but Reset
	Hands   int
	Workers int // how many of the hands act through Workers
	Shown   int // handles that all of them reach for; 0: 4
	Procs   int // GOMAXPROCS; 0: as it is. More than there are processors has the system preempt anywhere
}

// unlimited is how many slots of a pool without Capacity have owners.
const unlimited = 1 << 16

// Raise makes the world that set describes.
func Raise[T any](t testing.TB, set Setup, kind Kind[T], reset func(*T)) *World[T] {
	t.Helper()
	p, err := pool.New(options(set.Options, reset))
	require.NoError(t, err)
	slots := unlimited
	if set.Capacity > 0 {
		slots = set.Capacity
		if set.Reuse == pool.FIFO {
			slots += max(set.MinFree, pool.DefaultMinFree) + set.Capacity // a dummy a shard
		}
	}
	if set.Procs > 0 {
		old := runtime.GOMAXPROCS(set.Procs)
		t.Cleanup(func() { runtime.GOMAXPROCS(old) })
	}
	shown := set.Shown
	if shown == 0 {
		shown = 4
	}
	return NewWorld(New(t), p, kind, slots, shown)
}

// Crew provides the hands of set. Each takes steps, through a Worker if it is one
// of those, which is closed or dropped and replaced now and then.
func (w *World[T]) Crew(set Setup, step func(a *Actor[T])) {
	w.Go(set.Hands-set.Workers, func(h *Hand) {
		a := w.Actor(h, w.Pool)
		defer a.Ended()
		for h.Running() {
			step(a)
		}
	})
	w.Go(set.Workers, func(h *Hand) {
		for h.Running() {
			worker := w.Pool.Worker()
			a := w.Actor(h, worker)
			for range 1 + h.IntN(1000) {
				if h.Running() {
					step(a)
				}
			}
			a.Ended()
			if !h.Chance(4) {
				worker.Close()
			}
		}
	})
}

// Churn is the storm that set describes, with every verb.
func Churn[T any](t testing.TB, set Setup, kind Kind[T]) {
	t.Helper()
	w := Raise(t, set, kind, nil)
	w.Crew(set, (*Actor[T]).Step)
	w.Run(Least{Inserted: 2000, Removed: 2000, Read: 200, Refused: 200, Burned: 200})
	w.Finish()
}

// Loosely is Churn without owners, for who removes values that he does not know:
// two more goroutines sweep.
func Loosely[T any](t testing.TB, set Setup, kind Kind[T], least Least) {
	t.Helper()
	w := Raise(t, set, kind, nil).Unowned()
	w.Crew(set, (*Actor[T]).Step)
	w.Go(2, func(h *Hand) {
		for a := w.Actor(h, w.Pool); h.Running(); {
			a.Sweep()
		}
	})
	w.Run(least)
	w.Finish()
}
