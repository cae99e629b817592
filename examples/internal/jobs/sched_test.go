package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"

	"github.com/stretchr/testify/require"
	"go.uber.org/atomic"
)

// chain is a graph in which every unit imports the one before it, each with that many
// files. At most one package is ready at a time, so all workers but one park.
func chain(n, files int) []*Unit {
	units := make([]*Unit, n)
	for i := range units {
		units[i] = &Unit{Index: i, Path: fmt.Sprintf("u%d", i), Files: make([]string, files)}
		if i > 0 {
			units[i].Imports = []*Unit{units[i-1]}
		}
	}
	return units
}

// tangle is a random graph without cycles: up to four imports and up to six
// files for each unit, some without any.
func tangle(r *rand.Rand, n int) []*Unit {
	units := chain(n, 0)
	for i, u := range units {
		u.Files, u.Imports = make([]string, r.IntN(7)), nil
		for _, j := range r.Perm(i)[:r.IntN(min(i, 4)+1)] {
			u.Imports = append(u.Imports, units[j])
		}
	}
	return units
}

// judge is work that takes no time and checks what the scheduler promises. Its marks are
// plain, so that the race detector finds a missing happens-before.
type judge struct {
	t       *testing.T
	parsed  [][]int
	checked []int
	checks  atomic.Int32
	on      func(u *Unit, file int) error // after each; the file of a check is −1
}

func newJudge(t *testing.T, units []*Unit) *judge {
	j := &judge{t: t, parsed: make([][]int, len(units)), checked: make([]int, len(units)), on: func(*Unit, int) error { return nil }}
	for i, u := range units {
		j.parsed[i] = make([]int, len(u.Files))
	}
	return j
}

func (j *judge) Parse(u *Unit, file int) error {
	j.parsed[u.Index][file]++
	for _, v := range u.Imports {
		if j.checked[v.Index] != 1 {
			j.t.Errorf("file %d of %s is parsed before %s is checked", file, u.Path, v.Path)
		}
	}
	return j.on(u, file)
}

func (j *judge) Check(_ context.Context, u *Unit) error {
	for file, n := range j.parsed[u.Index] {
		if n != 1 {
			j.t.Errorf("%s is checked when its file %d was parsed %d times", u.Path, file, n)
		}
	}
	for _, v := range u.Imports {
		if j.checked[v.Index] != 1 {
			j.t.Errorf("%s is checked before %s", u.Path, v.Path)
		}
	}
	j.checked[u.Index]++
	j.checks.Inc()
	return j.on(u, -1)
}

// requireDone requires that every job was done once.
func (j *judge) requireDone() {
	j.t.Helper()
	for i, n := range j.checked {
		require.Equal(j.t, 1, n, "checks of unit %d", i)
	}
}

func TestScheduleRunsEveryJobOnceInOrder(t *testing.T) {
	for seed := range uint64(3) {
		for _, workers := range []int{1, 2, 8, 64} {
			units := tangle(rand.New(rand.NewPCG(seed, 0)), 400)
			jobs := len(units)
			for _, u := range units {
				jobs += len(u.Files)
			}
			j := newJudge(t, units)
			var out Outcome
			testkit.Within(t, func() {
				var err error
				out, err = Schedule(t.Context(), units, workers, j)
				require.NoError(t, err, "seed %d, %d workers", seed, workers)
			})
			j.requireDone()
			require.Equal(t, jobs, out.Inserted)
			require.Equal(t, jobs, out.Removed)
			require.LessOrEqual(t, out.Inserted-out.Reuses, out.Allocated)
			if workers == 1 {
				require.Zero(t, out.Elsewhere)
			}
		}
	}
}

// An error of a job ends the run, and so does the end of the context. Only one job of the
// chain is ready at a time, so parked workers must be reached as well as the busy one.
func TestScheduleStops(t *testing.T) {
	failure := errors.New("no")
	failAt := func(index, which int) func(context.CancelCauseFunc, *Unit, int) error {
		return func(_ context.CancelCauseFunc, u *Unit, file int) error {
			if u.Index == index && file == which {
				return failure
			}
			return nil
		}
	}
	ends := map[string]func(cancel context.CancelCauseFunc, u *Unit, file int) error{
		"parse fails": failAt(11, 2),
		"check fails": failAt(10, -1),
		"context ends": func(cancel context.CancelCauseFunc, u *Unit, file int) error {
			if u.Index >= 10 && file < 0 {
				cancel(failure)
				time.Sleep(time.Millisecond)
			}
			return nil
		},
	}
	for name, end := range ends {
		for _, workers := range []int{1, 8} {
			t.Run(fmt.Sprint(name, "/", workers), func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				units := chain(20_000, 3)
				j := newJudge(t, units)
				j.on = func(u *Unit, file int) error { return end(cancel, u, file) }
				testkit.Within(t, func() {
					_, err := Schedule(ctx, units, workers, j)
					require.ErrorIs(t, err, failure)
				})
				require.GreaterOrEqual(t, j.checks.Load(), int32(11))
				if name == "context ends" {
					require.Less(t, j.checks.Load(), int32(10_000))
				} else {
					require.EqualValues(t, 11, j.checks.Load())
				}
			})
		}
	}
}

func TestWorkerRefusesStaleJob(t *testing.T) {
	s := &scheduler{nodes: pool.Must(&pool.Options[node]{Origin: firstGeneration})}
	w := &worker{scheduler: s, slots: s.nodes.Worker()}
	h, err := w.insert(task{file: 7}, 0)
	require.NoError(t, err)
	require.ErrorContains(t, s.settle(t.Context()), "not empty at the end: 1 nodes live")
	n, err := w.take(h)
	require.NoError(t, err)
	require.Equal(t, 7, n.file)

	_, err = w.take(h)
	require.ErrorContains(t, err, h.String())
	require.ErrorContains(t, w.run(t.Context(), h), h.String())
	require.ErrorContains(t, w.countDown(h), h.String())
	require.Equal(t, Outcome{Inserted: 1, Removed: 1}, w.did)

	w.slots.Close()
	require.NoError(t, s.settle(t.Context()))
}
