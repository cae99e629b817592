package pending_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
	"coatcheck/pool/pending"
)

// request is a call of the storm, and what both sides learned of it.
type request struct {
	call   pending.Call[uint64]
	number uint64 // the right answer
	giveUp func() // ends a Wait
	err    error  // of Wait, or of WaitTimeout
	told   error  // what ended the call, as its answerer was told; nil is an answer
	ends   int    // how often it was told
}

// answer answers r: in time, twice, or at the moment at which the caller gives up.
func (r *request) answer(calls *pending.Calls[uint64], rnd *rand.Rand) {
	tell := func(ended bool, err error) {
		if ended {
			r.told = err
			r.ends++
		}
	}
	for range rnd.IntN(4) {
		runtime.Gosched()
	}
	switch rnd.IntN(6) {
	case 0, 1:
		r.giveUp()
		runtime.Gosched()
	case 2:
		tell(calls.Fail(r.call.ID(), errFailed), errFailed)
	case 3:
		tell(r.call.Cancel(), pending.ErrEnded)
	}
	for range 2 {
		tell(calls.Deliver(r.call.ID(), r.number), nil)
	}
}

// TestStormEndsEachCallOnce: each call ends once, as both sides are told, and no
// caller gets the answer of another.
func TestStormEndsEachCallOnce(t *testing.T) {
	for _, capacity := range []int{0, 3} {
		const callers, answerers = 6, 2
		seed, each := testkit.Seed(t), testkit.Long(6000)
		calls := pending.Must[uint64](&pending.Options{Capacity: capacity, Ages: capacity > 0})
		requests, all := make(chan *request, callers), make([][]*request, callers)
		var busy, lost, canceled atomic.Int64
		busy.Store(callers)
		call := func(rnd *rand.Rand) *request {
			k, err := calls.Start()
			for ; errors.Is(err, pool.ErrFull); k, err = calls.Start() {
				runtime.Gosched()
			}
			ctx, cancel := context.WithCancel(context.Background())
			r, v := &request{call: k, number: rnd.Uint64(), giveUp: cancel}, uint64(0)
			requests <- r
			if rnd.IntN(2) == 0 {
				v, r.err = k.Wait(ctx)
			} else {
				v, r.err = k.WaitTimeout(time.Duration(rnd.IntN(40)) * time.Microsecond)
			}
			if err != nil || r.err == nil && v != r.number {
				t.Errorf("Start: %v; the answer is %d, want %d", err, v, r.number)
			}
			return r
		}
		testkit.Together(callers+answerers+1, func(g int) {
			rnd := rand.New(rand.NewPCG(seed, uint64(g)))
			if g == callers+answerers { // an operator
				for busy.Load() > 0 {
					seen := map[uint64]bool{}
					for k, age := range calls.All() {
						if k.ID() == 0 || seen[k.ID()] || age < 0 || capacity == 0 && age != 0 {
							t.Errorf("All yields call %x, of age %v; before: %v", k.ID(), age, seen[k.ID()])
						}
						if seen[k.ID()] = true; rnd.IntN(10) == 0 && k.Cancel() {
							canceled.Add(1)
						}
					}
					if st := calls.Stats(); capacity > 0 && st.Live > capacity {
						t.Errorf("%d calls are outstanding, of %d", st.Live, capacity)
					}
					runtime.Gosched() // or an answer would wait 10 ms for the processor, if there is one
				}
				return
			}
			if g >= callers {
				for r := range requests {
					if r.answer(calls, rnd); rnd.IntN(100) == 0 {
						lost.Add(int64(calls.FailAll(errLost)))
					}
				}
				return
			}
			for range each {
				all[g] = append(all[g], call(rnd))
			}
			if busy.Add(-1) == 0 {
				close(requests)
			}
		})
		ended := map[error]int{}
		for _, rs := range all {
			for _, r := range rs {
				ended[r.err]++
				if r.err == pending.ErrEnded && r.ends == 0 {
					canceled.Add(-1)
				} else if r.err == errLost || r.err == context.Canceled || r.err == context.DeadlineExceeded {
					require.Zero(t, r.ends, "Wait returned %v", r.err)
				} else {
					require.Equal(t, 1, r.ends)
					require.Equal(t, r.err, r.told)
				}
			}
		}
		require.EqualValues(t, lost.Load(), ended[errLost])
		require.Len(t, ended, 6, "each end happened: %v", ended)
		require.Zero(t, calls.Len())
		require.Zero(t, canceled.Load(), "each call that the operator canceled ended so, and no other")
	}
}
