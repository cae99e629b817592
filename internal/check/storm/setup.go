package storm

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
	"coatcheck/internal/check/verbs"
	"coatcheck/pool"
)

// Options are the options of a pool whose T the storm chooses.
type Options = pool.Options[Plain]

// Setup describes a storm on a pool.
type Setup struct {
	Name    string
	Options      // Reset is for values of its type alone
	Hands   int  // goroutines that act
	Workers int  // how many of them act through Workers
	Shown   int  // room on the board; 0: 4
	Slots   int  // bound of the pool's slots; 0: by Capacity, or 65,536
	Unowned bool // a goroutine more sweeps: it removes values whose owners do not know it, and there is no table of owners
	Events  bool // OnInsert and OnRemove judge each life
	Torture bool // goroutines linger, and others stall, pause and end them (torture.go)
	Share   int  // number of storms that share the time of -storm; 0: those of a Churn, else one
	Procs   int  // GOMAXPROCS; 0: unchanged. With more than there are processors, the system preempts anywhere
}

// Raise returns the world that set describes. A test may put a wrapper around its Pool.
func Raise[T any](t testing.TB, set Setup, kind Kind[T], reset func(*T)) *World[T] {
	t.Helper()
	o := pool.Options[T]{
		Capacity: set.Capacity, Preallocate: set.Preallocate, Reuse: set.Reuse,
		MaxLimbo: set.MaxLimbo, Shards: set.Shards, Origin: set.Origin, Reset: reset,
	}
	slots := cmp.Or(max(set.Slots, set.Capacity), 1<<16)
	var e *heard[T]
	if set.Events {
		e = &heard[T]{slots: make([]atomic.Uint64, slots)}
		o.OnInsert, o.OnRemove = e.onInsert, e.onRemove
	}
	p, err := pool.New(&o)
	require.NoError(t, err)
	if set.Procs > 0 {
		old := runtime.GOMAXPROCS(set.Procs)
		t.Cleanup(func() { runtime.GOMAXPROCS(old) })
	}
	seed := cmp.Or(*seedFlag, rand.Uint64())
	testkit.Repeats(t, fmt.Sprintf("-stormseed %d", seed))
	w := &World[T]{
		Storm: &Storm{t: t, seed: seed, share: cmp.Or(set.Share, 1), start: make(chan struct{})},
		Pool:  p,
		Kind:  kind,
		verbs: verbs.Table[T](),
		lives: make([]atomic.Uint32, slots),
		board: make([]atomic.Pointer[Ticket[T]], cmp.Or(set.Shown, 4)),
		pins:  make(chan *pinned[T], 4),
		dead:  make(chan *Ticket[T], 1<<12),

		heard:    e,
		tortures: set.Torture,
	}
	if e != nil {
		e.w = w
	}
	if !set.Unowned {
		w.owners = make([]atomic.Uint64, slots)
	}
	return w
}

// Hands adds n goroutines that repeat step until the storm ends.
func (w *World[T]) Hands(n int, step func(a *Actor[T])) {
	w.Go(n, func(h *Hand) {
		a := w.Actor(h, w.Pool)
		defer a.Ended()
		for h.Running() {
			step(a)
		}
	})
}

// Crew adds the goroutines of set, which repeat step. Those that act through Workers close
// or drop them and open others at times.
func (w *World[T]) Crew(set Setup, step func(a *Actor[T])) {
	if set.Unowned {
		w.Hands(1, (*Actor[T]).Sweep)
	}
	if set.Torture {
		w.torture()
	}
	w.Hands(set.Hands-set.Workers, step)
	w.Go(set.Workers, func(h *Hand) {
		for h.Running() {
			worker := w.Pool.Worker()
			a := w.Actor(h, worker)
			for range 1 + h.IntN(1000) {
				if h.Running() {
					step(a)
				}
			}
			a.Did(Left, 1)
			a.Ended()
			if !h.Chance(4) {
				worker.Close()
			}
		}
	})
}

// Churn runs the storm of each of sets, with every verb on single values. others goroutines
// repeat step beside the crew.
func Churn[T any](t *testing.T, sets []Setup, kind Kind[T], others int, step func(a *Actor[T]), least Least) {
	for _, set := range sets {
		t.Run(set.Name, func(t *testing.T) {
			set.Share = cmp.Or(set.Share, len(sets))
			reset, _ := any(set.Reset).(func(*T))
			w := Raise(t, set, kind, reset)
			w.Crew(set, (*Actor[T]).Step)
			w.Hands(others, step)
			w.Run(least)
			w.Finish()
			t.Log(w.Report())
		})
	}
}
