// Package storm runs many goroutines on a structure at once and judges the results. It is
// for tests alone.
//
// The race detector finds neither a slot that was handed out twice nor one that was reused
// too early: every access is atomic, and the words' meaning is wrong. So a storm keeps its
// own records: which handle owns each slot, what was written into each value and
// who may still read it ([World]), and how much was done of each kind ([Work]).
package storm

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"go.uber.org/atomic"

	"coatcheck/internal/check/testkit"
)

var (
	lengthFlag = flag.Duration("storm", 0, "length of a test's storms together, spread evenly over them, an eighth of it in -short; 0: each has 400 ms in the full programme, 100 ms in the gate, 50 ms there under the race detector, 40 ms in short tests")
	seedFlag   = flag.Uint64("stormseed", 0, "seed of the storms; 0 draws one for each")
)

// length returns the length of a storm, if share storms share the time of -storm.
func length(share int) time.Duration {
	if *lengthFlag > 0 {
		if testing.Short() {
			return *lengthFlag / 8 / time.Duration(share)
		}
		return *lengthFlag / time.Duration(share)
	}
	return testkit.Long(400 * time.Millisecond)
}

// A storm goes on until it has done the least work, however slow the machine is. It gives up only
// if a kind of work that is missing does not grow while the goroutines take so many steps, and so
// much time passes: then the structure does not let it happen. idleSteps counts calls of Running;
// idleTime is for work that has pauses of its own, such as stalls.
const (
	idleSteps = 1_000_000
	idleTime  = 20 * time.Second
)

// Storm is one run of many goroutines.
type Storm struct {
	t      testing.TB
	seed   uint64
	share  int // of the time of -storm, as in Setup
	stop   atomic.Bool
	failed atomic.Error                  // the first failure
	paused atomic.Pointer[chan struct{}] // while all goroutines are paused: closed when they continue
	hands  []*Hand
	steps  atomic.Int64 // calls of Running, by the block
	start  chan struct{}
	lasted time.Duration
	wg     sync.WaitGroup
}

// Hand is one goroutine of a storm.
type Hand struct {
	*rand.Rand
	ID    int
	storm *Storm
	calls int            // of Running
	done  []atomic.Int64 // by Work; a slice, for its alignment on 32 bits
}

func (s *Storm) hand() *Hand {
	h := &Hand{ID: len(s.hands) + 1, storm: s, done: make([]atomic.Int64, works)}
	h.Rand = rand.New(rand.NewPCG(s.seed, uint64(h.ID)))
	s.hands = append(s.hands, h)
	return h
}

// Go adds n goroutines that run f once the storm begins. f must return when Running
// returns false.
func (s *Storm) Go(n int, f func(h *Hand)) {
	for range n {
		h := s.hand()
		s.wg.Add(1)
		go func() {
			defer s.wg.Done()
			defer func() {
				if v := recover(); v != nil {
					s.Failf("goroutine %d: panic: %v\n%s", h.ID, v, debug.Stack())
				}
			}()
			<-s.start
			f(h)
		}()
	}
}

// Running reports whether the storm continues. It waits while all goroutines are paused.
// It yields at times: without preemption by signals, a loop whose calls are all inlined
// could not be stopped anywhere else.
func (h *Hand) Running() bool {
	if h.calls++; h.calls%stepBlock == 0 {
		h.storm.steps.Add(stepBlock)
		runtime.Gosched()
	}
	if paused := h.storm.paused.Load(); paused != nil {
		<-*paused
	}
	return !h.storm.stop.Load()
}

// stepBlock is how many calls of Running are counted at once.
const stepBlock = 256

// Did counts work.
func (h *Hand) Did(w Work, n int) { h.done[w].Add(int64(n)) }

// Chance returns true once in n times on average.
func (h *Hand) Chance(n int) bool { return h.IntN(n) == 0 }

// Failf ends the storm with an error. The first error is kept.
func (s *Storm) Failf(format string, args ...any) {
	s.failed.CompareAndSwap(nil, fmt.Errorf(format, args...))
	s.stop.Store(true)
}

// Done returns how much work of a kind was done.
func (s *Storm) Done(w Work) (n int64) {
	for _, h := range s.hands {
		n += h.done[w].Load()
	}
	return n
}

// Run starts the goroutines. It fails the test if they found an error, did too little or
// did not end.
func (s *Storm) Run(least Least) {
	s.t.Helper()
	s.Require(s.Try(length(s.share), least))
}

// Require fails the test with the storm's report unless err is nil.
func (s *Storm) Require(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.Report())
	}
}

// Try is Run that returns the error. The storm exceeds its length until it has done the least
// work.
func (s *Storm) Try(length time.Duration, least Least) error {
	begin := time.Now()
	defer func() { s.lasted = time.Since(begin) }()
	close(s.start)
	seen := progress{s: s}
	for !s.stop.Load() {
		jolt()
		if time.Since(begin) < length {
			continue
		}
		if kind, missing := s.lacks(least); missing == "" {
			s.stop.Store(true)
		} else if fault := seen.look(kind); fault != "" {
			s.Failf("%s: %s", fault, missing)
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.wg.Wait()
	}()
	wait := testkit.Patience()
	if s.failed.Load() != nil {
		wait = 2 * time.Second // a broken structure may block them forever
	}
	select {
	case <-ended:
	case <-time.After(wait):
		return fmt.Errorf("storm: stuck (%v):\n%s", s.failed.Load(), testkit.Dump())
	}
	return s.failed.Load()
}

// progress is when a kind of work that was missing was last seen to grow.
type progress struct {
	s     *Storm
	kind  Work
	done  int64
	steps int64 // taken until then
	grew  time.Time
	moved time.Time // when any step was last taken
	taken int64     // steps until then
}

// look returns "" if what is missing may still come.
func (p *progress) look(kind Work) string {
	now, steps, done := time.Now(), p.s.steps.Load(), p.s.Done(kind)
	if p.grew.IsZero() || kind != p.kind || done > p.done {
		p.kind, p.done, p.steps, p.grew = kind, done, steps, now
	}
	if p.moved.IsZero() || steps > p.taken {
		p.moved, p.taken = now, steps
	}
	switch {
	case now.Sub(p.grew) > idleTime && steps-p.steps > idleSteps:
		return fmt.Sprintf("%d steps in %v brought no more", steps-p.steps, now.Sub(p.grew).Round(time.Second))
	case now.Sub(p.moved) > testkit.Patience():
		return fmt.Sprintf("no step was taken in %v\n%s", testkit.Patience(), testkit.Dump())
	}
	return ""
}

// jolt stops the world for a moment, which deschedules goroutines wherever they are. So an
// operation is interrupted between two of its steps as often as elsewhere; otherwise it
// hardly ever is.
func jolt() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	time.Sleep(50 * time.Microsecond)
}
