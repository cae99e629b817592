package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"

	"github.com/stretchr/testify/require"
)

func TestScheduleRunsEveryJobOnceInOrder(t *testing.T) {
	for seed := range uint64(3) {
		for _, workers := range []int{1, 2, 8, 64} {
			units := tangle(rand.New(rand.NewPCG(seed, 0)), 400)
			j := newJudge(t, units)
			var out outcome
			testkit.Within(t, func() {
				var err error
				out, err = schedule(t.Context(), units, workers, j)
				require.NoError(t, err, "seed %d, %d workers", seed, workers)
			})
			j.requireDone()
			jobs := len(units) + filesOf(units)
			require.Greater(t, jobs, 1_000)
			require.Equal(t, jobs, out.inserted)
			require.Equal(t, jobs, out.removed)
			require.GreaterOrEqual(t, out.peakLive, len(units))
			require.LessOrEqual(t, out.peakLive, out.slots())
			require.LessOrEqual(t, out.slots(), out.allocated)
			if workers == 1 {
				require.Zero(t, out.elsewhere)
			}
		}
	}
}

// TestScheduleReusesSlots: in a chain one package and its files are in work at a time, so
// far fewer slots than jobs are needed.
func TestScheduleReusesSlots(t *testing.T) {
	units := chain(100, 50)
	for _, workers := range []int{1, 4} {
		reuses := 0
		for range 20 { // a worker that is preempted with its guard delays the reuse of all slots
			j := newJudge(t, units)
			out, err := schedule(t.Context(), units, workers, j)
			require.NoError(t, err)
			j.requireDone()
			require.Equal(t, 5_100, out.inserted)
			require.LessOrEqual(t, out.peakLive, 151)
			if reuses = out.reuses; reuses > out.inserted/2 {
				break
			}
		}
		require.Greater(t, reuses, 5_100/2, "%d workers", workers)
	}
}

func TestScheduleStopsOnError(t *testing.T) {
	failure := errors.New("no")
	for _, workers := range []int{1, 8} {
		units := chain(100, 3)
		j := newJudge(t, units)
		j.onCheck = func(u *unit) error {
			if u.index == 10 {
				return failure
			}
			return nil
		}
		testkit.Within(t, func() {
			_, err := schedule(t.Context(), units, workers, j)
			require.ErrorIs(t, err, failure)
		})
		require.EqualValues(t, 11, j.checks.Load())
	}
}

func TestScheduleStopsOnParseError(t *testing.T) {
	failure := errors.New("no")
	units := chain(100, 3)
	j := newJudge(t, units)
	j.onParse = func(u *unit, file int) error {
		if u.index == 10 && file == 2 {
			return failure
		}
		return nil
	}
	testkit.Within(t, func() {
		_, err := schedule(t.Context(), units, 4, j)
		require.ErrorIs(t, err, failure)
	})
	require.EqualValues(t, 10, j.checks.Load())
}

// TestScheduleEndsWithItsContext: only the chain's head has work, so the cancelled
// context must reach parked workers and the busy one.
func TestScheduleEndsWithItsContext(t *testing.T) {
	reason := errors.New("enough")
	for _, workers := range []int{1, 8} {
		ctx, cancel := context.WithCancelCause(t.Context())
		units := chain(20_000, 1)
		j := newJudge(t, units)
		j.onCheck = func(u *unit) error {
			if u.index >= 10 {
				cancel(reason)
				time.Sleep(time.Millisecond)
			}
			return nil
		}
		testkit.Within(t, func() {
			_, err := schedule(ctx, units, workers, j)
			require.ErrorIs(t, err, reason)
		})
		require.GreaterOrEqual(t, j.checks.Load(), int32(11))
		require.Less(t, j.checks.Load(), int32(10_000))
	}
}

func TestScheduleLetsPanicComeUp(t *testing.T) {
	failure := errors.New("broken job")
	for _, workers := range []int{1, 8} {
		units := chain(100, 3)
		j := newJudge(t, units)
		j.onParse = func(u *unit, file int) error {
			if u.index == 50 {
				breakJob(failure)
			}
			return nil
		}
		var up any
		testkit.Within(t, func() {
			defer func() { up = recover() }()
			_, _ = schedule(t.Context(), units, workers, j)
		})
		p, ok := up.(*jobPanic)
		require.True(t, ok, "%v", up)
		require.ErrorIs(t, p, failure)
		require.Contains(t, p.Error(), "broken job")
		require.Contains(t, p.Error(), "breakJob", "the stack of the job")
		require.EqualValues(t, 50, j.checks.Load())
	}
}

// TestScheduleLetsPanicComeUpAfterError: the error comes first and would end the run; the
// later panic must not be lost.
func TestScheduleLetsPanicComeUpAfterError(t *testing.T) {
	units := []*unit{{path: "panics"}, {index: 1, path: "fails"}}
	j := newJudge(t, units)
	began, failed := make(chan struct{}), make(chan struct{})
	j.onCheck = func(u *unit) error {
		if u.index == 0 {
			close(began)
			<-failed
			time.Sleep(10 * time.Millisecond) // for the error to arrive
			breakJob(io.ErrUnexpectedEOF)
		}
		<-began
		close(failed)
		return io.EOF
	}
	var up any
	testkit.Within(t, func() {
		defer func() { up = recover() }()
		_, _ = schedule(t.Context(), units, 2, j)
	})
	p, ok := up.(*jobPanic)
	require.True(t, ok, "%v", up)
	require.ErrorIs(t, p, io.ErrUnexpectedEOF)
}

func breakJob(err error) { panic(err) }

func TestScheduleSurvivesGoexit(t *testing.T) {
	for _, workers := range []int{1, 8} {
		units := chain(100, 3)
		j := newJudge(t, units)
		j.onCheck = func(u *unit) error {
			if u.index == 50 {
				runtime.Goexit()
			}
			return nil
		}
		testkit.Within(t, func() {
			_, err := schedule(t.Context(), units, workers, j)
			require.ErrorIs(t, err, errGoexit)
		})
		require.EqualValues(t, 51, j.checks.Load())
	}
}

// TestScheduleEndsWhenStuck: an undetected cycle must end in an error. Workers that wait
// for a number of jobs would wait for ever.
func TestScheduleEndsWhenStuck(t *testing.T) {
	for _, workers := range []int{1, 8} {
		units := chain(10, 2)
		units[4].imports = append(units[4].imports, units[7])
		j := newJudge(t, units)
		testkit.Within(t, func() {
			_, err := schedule(t.Context(), units, workers, j)
			require.ErrorContains(t, err, "6 jobs can never start")
		})
		require.EqualValues(t, 4, j.checks.Load())
	}
}

func TestWorkerRefusesStaleJob(t *testing.T) {
	nodes := pool.Must[node](nil)
	w := &worker{scheduler: &scheduler{nodes: nodes}, slots: nodes.Worker()}
	h, err := w.insert(func(n *node) { n.kind = parseTask })
	require.NoError(t, err)
	got, err := w.look(h)
	require.NoError(t, err)
	require.Equal(t, parseTask, got.kind)
	_, err = w.take(h)
	require.NoError(t, err)

	_, err = w.take(h)
	require.ErrorContains(t, err, h.String())
	_, err = w.look(h)
	require.ErrorContains(t, err, h.String())
	_, err = w.fileDone(h)
	require.ErrorContains(t, err, h.String())
	_, err = w.importDone([]handle{h})
	require.ErrorContains(t, err, h.String())
	require.Equal(t, tally{inserted: 1, removed: 1}, w.tally)
}

func TestSettleFindsWhatIsLeft(t *testing.T) {
	s := &scheduler{nodes: pool.Must[node](nil)}
	w := &worker{scheduler: s, slots: s.nodes.Worker()}
	h, err := w.insert(func(n *node) { n.kind = parseTask })
	require.NoError(t, err)
	require.ErrorContains(t, s.settle(t.Context()), "not empty at the end: 1 nodes live")
	_, err = w.take(h)
	require.NoError(t, err)
	w.slots.Close()
	require.NoError(t, s.settle(t.Context()))
}

func TestHighWaterKeepsTheMost(t *testing.T) {
	var w highWater
	for _, delta := range []int32{1, 1, 1, -2, 1, 1, -3} {
		w.add(delta)
	}
	require.Equal(t, 3, w.most())
}
