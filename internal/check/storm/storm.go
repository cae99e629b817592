// Package storm lets many goroutines loose on a structure and judges what comes
// of it. It is for tests alone.
//
// The race detector finds neither a slot that was handed out twice nor one that
// was reused too early: every access is atomic, and the damage is in what the
// words mean. So a storm keeps books of its own beside the structure: who owns
// which slot ([Owners]), what was written into each value and who may still be
// reading it ([World]), how much was done at all ([Work]).
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

	"coatcheck/internal/check/length"
)

var (
	lengthFlag = flag.Duration("storm", 0, "how long each storm lasts, an eighth of it in -short; 0: 350 ms in the full programme, 150 ms otherwise")
	seedFlag   = flag.Uint64("stormseed", 0, "seed of the storms; 0 draws one for each")
)

// Length returns how long a storm lasts.
func Length() time.Duration {
	return shorter(lasts(*lengthFlag, 350*time.Millisecond, 150*time.Millisecond))
}

// lasts returns what a flag says, and if it says nothing what is due in the full
// programme or usually.
func lasts(said, full, usually time.Duration) time.Duration {
	switch {
	case said > 0:
		return said
	case length.Full():
		return full
	}
	return usually
}

// Work is a kind of work that storms count.
type Work int

// What is counted.
const (
	Inserted Work = iota
	Removed       // by a verb that answered true
	Swept         // by Clear, Drain or DeleteFunc
	Read          // values looked at under a guard or a Ref
	Held          // Refs
	Refused       // stale handles that were refused
	Full          // insertions that found no slot
	Stalled       // those of them that were told of a guard
	Spent         // those that were told that generations are used up
	Burned        // slots that were handed out and never went live
	Trimmed       // pages' memory that was given back, a Trim each
	Lapsed        // guards and Refs that ended on another goroutine

	// In tortures alone.
	Pinned   // guards that gave a value
	Borrowed // values read under a pin that the call made for itself
	Late     // looks at a value that was removed
	Exited   // goroutines that ended by Goexit under a guard
	Panicked // those that panicked there
	LeftLoop // loops that were left by either
	Halted   // guards that held everything up, and what they held came back
	Stutter  // moments in which all stood still
	Flip     // of GOMAXPROCS
	Garbage  // phases of collection all the time
	works
)

var workNames = [works]string{
	"inserted", "removed", "swept", "read", "held", "refused", "full", "stalled", "spent", "burned", "trimmed", "lapsed",
	"guards", "borrowed", "late", "exits", "panics", "loops left", "stalls", "stutters", "flips", "GC phases",
}

// Least is the least work that a storm must have done, an eighth of it in
// -short. It goes on past its length until it has.
type Least map[Work]int64

// shorter returns n, or what -short makes of it.
func shorter[N ~int64](n N) N {
	if testing.Short() {
		return (n + 7) / 8
	}
	return n
}

// patience is how long a storm may go on past its length, and how long its
// goroutines may take to end.
const patience = 20 * time.Second

// Storm is one run of many goroutines.
type Storm struct {
	t      testing.TB
	seed   uint64
	stop   atomic.Bool
	failed atomic.Error // the first failure
	hands  []*Hand
	start  chan struct{}
	wg     sync.WaitGroup
}

// New returns a storm that reports to t.
func New(t testing.TB) *Storm {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	return &Storm{t: t, seed: seed, start: make(chan struct{})}
}

// Hand is one goroutine of a storm.
type Hand struct {
	*rand.Rand
	ID    int
	storm *Storm
	looks int
	done  []atomic.Int64 // by Work; a slice, for its alignment on 32 bits
}

// Go provides n goroutines that run f once the storm begins. f returns when
// Running answers false.
func (s *Storm) Go(n int, f func(h *Hand)) {
	for range n {
		h := &Hand{ID: len(s.hands) + 1, storm: s, done: make([]atomic.Int64, works)}
		h.Rand = rand.New(rand.NewPCG(s.seed, uint64(h.ID)))
		s.hands = append(s.hands, h)
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

// Running answers whether the storm goes on. Now and then it yields: a loop that
// is all put in line has no other point at which to be stopped when goroutines
// are not preempted by signals, and would hold up the world for ever.
func (h *Hand) Running() bool {
	if h.looks++; h.looks%256 == 0 {
		runtime.Gosched()
	}
	return !h.storm.stop.Load()
}

// Did counts work.
func (h *Hand) Did(w Work, n int) { h.done[w].Add(int64(n)) }

// Chance answers true once in n times.
func (h *Hand) Chance(n int) bool { return h.IntN(n) == 0 }

// Failf ends the storm with an error. The first one is kept.
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

// Run lets the goroutines loose, and fails the test if they found an error, did
// too little or did not end.
func (s *Storm) Run(least Least) {
	s.t.Helper()
	s.Require(s.Try(Length(), func() string {
		return s.short(func(w Work) int64 { return shorter(least[w]) })
	}))
}

// Require fails the test with the storm's seed unless err is nil.
func (s *Storm) Require(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%v\nrepeat with -stormseed %d; done: %s", err, s.seed, s.report())
	}
}

// Try is Run that returns the error. What is missing yet is for lacks to say, if that is
// not nil.
func (s *Storm) Try(length time.Duration, lacks func() string) error {
	close(s.start)
	begin := time.Now()
	for !s.stop.Load() {
		jolt()
		if time.Since(begin) < length {
			continue
		}
		short := ""
		if lacks != nil {
			short = lacks()
		}
		if short == "" {
			s.stop.Store(true)
		} else if time.Since(begin) > length+patience {
			s.Failf("too little was done: %s", short)
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.wg.Wait()
	}()
	wait := patience
	if s.failed.Load() != nil {
		wait = 2 * time.Second // a broken structure may well hold them for ever
	}
	select {
	case <-ended:
	case <-time.After(wait):
		buf := make([]byte, 1<<17)
		return fmt.Errorf("storm: stuck (%v):\n%s", s.failed.Load(), buf[:runtime.Stack(buf, true)])
	}
	return s.failed.Load()
}

// jolt stops the world for a moment. Goroutines that run are descheduled
// wherever they are and wait behind the others, so that an operation is as often
// interrupted between two of its steps as it is elsewhere; left to themselves
// they hardly ever are.
func jolt() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	time.Sleep(50 * time.Microsecond)
}

// short says which work is missing.
func (s *Storm) short(least func(Work) int64) string {
	for w := range works {
		if n := s.Done(w); n < least(w) {
			return fmt.Sprintf("%d of %d %s", n, least(w), workNames[w])
		}
	}
	return ""
}

func (s *Storm) report() (text string) {
	for w := range works {
		if n := s.Done(w); n > 0 {
			text += fmt.Sprintf("%d %s ", n, workNames[w])
		}
	}
	return text
}
