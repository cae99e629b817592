package pending_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
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
	end    func() // ends the caller's patience, or returns when it is about to end
	over   atomic.Bool
	err    error // of Wait

	mu   sync.Mutex
	told []error // what ended the call, as the answerers were told; nil is an answer
}

func (r *request) tell(ended bool, err error) {
	if ended {
		r.mu.Lock()
		r.told = append(r.told, err)
		r.mu.Unlock()
	}
}

// answer answers r: a third of all too late, a third at the moment at which the caller gives up,
// and a third in time.
func (r *request) answer(t *testing.T, calls *pending.Calls[uint64], rnd *rand.Rand) {
	deliver := func() { r.tell(calls.Deliver(r.call.ID(), r.number), nil) }
	switch rnd.IntN(9) {
	case 0, 1, 2:
		for r.end(); !r.over.Load(); {
			runtime.Gosched()
		}
		if calls.Deliver(r.call.ID(), r.number) {
			t.Error("an answer was taken after Wait had returned")
		}
	case 3, 4, 5:
		r.end()
		deliver()
	case 6:
		r.tell(calls.Fail(r.call.ID(), errFailed), errFailed)
	case 7:
		r.tell(r.call.Cancel(), pending.ErrEnded)
	default:
		deliver()
		deliver()
	}
}

// start starts a call, and returns its request and its Wait.
func start(t *testing.T, calls *pending.Calls[uint64], rnd *rand.Rand) (*request, func() (uint64, error)) {
	call, err := calls.Start()
	for errors.Is(err, pool.ErrFull) {
		runtime.Gosched()
		call, err = calls.Start()
	}
	if err != nil {
		t.Error(err)
	}
	r := &request{call: call, number: rnd.Uint64()}
	if rnd.IntN(2) == 0 {
		ctx, cancel := context.WithCancel(context.Background())
		r.end = cancel
		return r, func() (uint64, error) { return call.Wait(ctx) }
	}
	d := time.Duration(rnd.IntN(40)) * time.Microsecond
	until := time.Now().Add(d)
	r.end = func() {
		for time.Now().Before(until) {
			runtime.Gosched()
		}
	}
	return r, func() (uint64, error) { return call.WaitTimeout(d) }
}

// TestStormEndsEachCallOnce: each call ends once, as both sides are told, and no
// caller gets the answer of another.
func TestStormEndsEachCallOnce(t *testing.T) {
	for _, capacity := range []int{0, 3} {
		const callers, answerers = 6, 2
		seed, each := testkit.Seed(t), testkit.Long(6000)
		calls := pending.New[uint64](&pending.Options{Capacity: capacity})
		requests, all := make(chan *request, callers), make([][]*request, callers)
		var busy, lost atomic.Int64
		busy.Store(callers)
		testkit.Together(callers+answerers, func(g int) {
			rnd := rand.New(rand.NewPCG(seed, uint64(g)))
			if g >= callers {
				for r := range requests {
					r.answer(t, calls, rnd)
					if rnd.IntN(100) == 0 {
						lost.Add(int64(calls.FailAll(errLost)))
					}
				}
				return
			}
			for range each {
				r, wait := start(t, calls, rnd)
				all[g] = append(all[g], r)
				requests <- r
				v, err := wait()
				if r.err = err; err == nil && v != r.number {
					t.Errorf("the answer is %d, want %d", v, r.number)
				}
				r.over.Store(true)
			}
			if busy.Add(-1) == 0 {
				close(requests)
			}
		})
		ended := map[error]int{}
		for _, rs := range all {
			for _, r := range rs {
				ended[r.err]++
				if r.err == errLost || r.err == context.Canceled || r.err == context.DeadlineExceeded {
					require.Empty(t, r.told, "Wait returned %v", r.err)
				} else {
					require.Equal(t, []error{r.err}, r.told)
				}
			}
		}
		require.EqualValues(t, lost.Load(), ended[errLost])
		require.Len(t, ended, 6, "each end happened: %v", ended)
		require.Greater(t, ended[context.Canceled]+ended[context.DeadlineExceeded], callers*each/4)
		require.Zero(t, calls.Len())
	}
}
