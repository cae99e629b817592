package pending_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/pending"
)

var (
	errFailed = errors.New("failed")
	errLost   = errors.New("lost")
	errShut   = errors.New("shut")
)

// record is what the model knows of a call.
type record struct {
	call  pending.Call[int]
	open  bool  // outstanding
	value int   // what Wait returns once it has ended
	err   error //
	dones []<-chan struct{}
}

// matchModel does drawn operations, on one goroutine, and requires of each what the model
// says. Waits are by contexts that are done, and of no length, so that none blocks.
func matchModel(t testing.TB, which int, choose func(n int) int, more func() bool) map[string]int {
	capacity, ages := []int{0, 1, 3}[which], which == 2
	calls := pending.Must[int](&pending.Options{Capacity: capacity, Ages: ages})
	var all []*record
	var shut error
	open, done := 0, map[string]int{}
	end := func(r *record, v int, err error) (was bool) {
		if was = r.open; was {
			r.open, r.value, r.err = false, v, err
			open--
		}
		return was
	}
	failAll := func(err error) (n int) {
		for _, r := range all {
			if end(r, 0, err) {
				n++
			}
		}
		return n
	}
	for more() {
		r := &record{err: pending.ErrEnded} // the zero Call
		if n := choose(len(all) + 1); n < len(all) {
			r = all[n]
		}
		switch what := choose(64); {
		case what < 24:
			start := calls.Start
			if choose(3) == 0 {
				start = func() (pending.Call[int], error) { return calls.StartWait(testkit.Done()) }
			}
			call, err := start()
			switch {
			case open == capacity && capacity > 0:
				require.ErrorIs(t, err, pool.ErrFull)
				done["full"]++
			case shut != nil:
				require.Equal(t, shut, err)
			default:
				require.NoError(t, err)
				all = append(all, &record{call: call, open: true})
				open++
			}
		case what < 34:
			v := choose(1000)
			require.Equal(t, end(r, v, nil), calls.Deliver(r.call.ID(), v))
		case what < 38: // an error that is missing must not look like an answer
			err := []error{nil, errFailed}[choose(2)]
			require.Equal(t, end(r, 0, cmp.Or(err, pending.ErrClosed)), calls.Fail(r.call.ID(), err))
		case what < 40: // a generation that no slot has reached
			require.False(t, calls.Deliver(r.call.ID()^1<<63, 0), "forged")
		case what < 45:
			require.Equal(t, end(r, 0, pending.ErrEnded), r.call.Cancel())
		case what < 60:
			late := context.Canceled
			wait := func() (int, error) { return r.call.Wait(testkit.Done()) }
			if choose(2) == 0 {
				late = context.DeadlineExceeded
				wait = func() (int, error) { return r.call.WaitTimeout(0) }
			}
			if end(r, 0, late) {
				done["late"]++
			} else if r.err == nil {
				done["answered"]++
			}
			v, err := wait()
			require.Equal(t, r.err, err)
			require.Equal(t, r.value, v)
			r.value, r.err = 0, pending.ErrEnded // for the next Wait
		case what < 61:
			require.Equal(t, failAll(errLost), calls.FailAll(errLost))
		case what == 61 && choose(8) == 0:
			err := []error{nil, errShut}[choose(2)]
			shut = cmp.Or(shut, err, pending.ErrClosed)
			failAll(shut)
			calls.Close(err)
			done["shut"]++
		}
		require.Equal(t, open, calls.Len())
		require.Equal(t, open, calls.Stats().Live)
		yielded, most := 0, time.Duration(0)
		for k, age := range calls.All() {
			r := slices.IndexFunc(all, func(r *record) bool { return r.call == k })
			require.True(t, r >= 0 && all[r].open && (age == 0 || ages && age > 0), "All yields %x, of age %v", k.ID(), age)
			yielded++
			most = max(most, age)
		}
		require.Equal(t, open, yielded)
		oldest, ok := calls.OldestAge()
		require.Equal(t, ages && open > 0, ok)
		require.True(t, oldest >= most && (ok || oldest == 0), "the oldest has the age %v, and All yielded %v", oldest, most)
		for _, r := range all {
			if choose(16) == 0 {
				require.Equal(t, !r.open, testkit.IsClosed(r.call.Done()))
				done["asked"]++
			}
			for _, c := range r.dones {
				require.Equal(t, !r.open, testkit.IsClosed(c))
			}
			if choose(32) == 0 && len(r.dones) < 2 {
				r.dones = append(r.dones, r.call.Done())
			}
		}
	}
	return done
}

func TestOperationsMatchModel(t *testing.T) {
	testkit.MatchModel(t, 3, testkit.Long(160), 200, matchModel, 3, "full", "late", "answered", "shut", "asked")
}

func FuzzOps(f *testing.F) { testkit.FuzzModel(f, 3, 512, matchModel) }
