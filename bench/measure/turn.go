package measure

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"time"

	"coatcheck/bench/suite"
)

// contestant is a case that is being measured.
type contestant struct {
	name string // with GOMAXPROCS
	open func() (suite.Run, error)
	run  suite.Run // nil when it is not open

	n      int // operations that make a turn
	rounds []figures
	err    error // once there is one, the case has no more turns, and no figures
}

// figures are what one turn gave.
type figures struct {
	ops     int
	took    time.Duration
	objects uint64 // that were allocated
	bytes   uint64
	extra   map[string]float64
}

// perOp returns the duration of an operation in nanoseconds.
func (f *figures) perOp() float64 { return float64(f.took) / float64(f.ops) }

// fail notes the first error.
func (c *contestant) fail(err error) {
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("%s: %w", c.name, err)
	}
}

// start opens the case and finds out how many operations make a turn of that
// length; 0 leaves it at one operation, and does none.
func (c *contestant) start(turn time.Duration) {
	if c.err != nil {
		return
	}
	if _, err := safely(func() (_ int, err error) {
		c.run, err = c.open()
		return
	}); err != nil {
		c.run = nil
		c.fail(err)
		return
	}
	if c.n == 0 && turn > 0 {
		c.calibrate(turn)
	}
}

// end closes the case, which checks what it did.
func (c *contestant) end() {
	if c.run == nil {
		return
	}
	if m, ok := c.run.(suite.Metered); ok && c.err == nil && len(c.rounds) > 0 {
		c.rounds[len(c.rounds)-1].add(m.Metrics())
	}
	_, err := safely(func() (int, error) { return 0, c.run.Close() })
	c.run = nil
	c.fail(err)
}

func (f *figures) add(extra map[string]float64) {
	if f.extra == nil {
		f.extra = make(map[string]float64)
	}
	maps.Copy(f.extra, extra)
}

// once does n operations and times them.
func (c *contestant) once(n int) (did int, took time.Duration) {
	start := time.Now()
	did, err := safely(func() (int, error) { return c.run.Do(n) })
	took = time.Since(start)
	if t, ok := c.run.(suite.Timed); ok {
		took = t.Took()
	}
	if err == nil && did < 1 {
		err = fmt.Errorf("did %d operations of %d", did, n)
	}
	c.fail(err)
	return did, took
}

// calibrate finds n by doing more and more, a turn's length in all.
func (c *contestant) calibrate(turn time.Duration) {
	const most = 1 << 30
	for n := 16; c.err == nil; {
		did, took := c.once(n)
		if c.err != nil {
			return
		}
		if took >= turn/4 || did >= most {
			c.n = scale(did, turn, took)
			return
		}
		// Not more than a few times as many as before: the first operations are
		// the slowest, but a clock that is coarse may say otherwise.
		n = min(max(2*n, scale(did, turn/2, took)), 16*n)
	}
}

// scale returns how many operations would have taken that long.
func scale(n int, want, took time.Duration) int {
	return max(1, int(float64(n)*float64(want)/float64(max(took, 1))))
}

// turn has the case do n operations, and notes what they took. It returns how many
// bytes were allocated.
func (c *contestant) turn(n int) (bytes uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	did, took := c.once(n)
	runtime.ReadMemStats(&after)
	bytes = after.TotalAlloc - before.TotalAlloc
	if c.err != nil {
		return bytes
	}
	f := figures{ops: did, took: took, objects: after.Mallocs - before.Mallocs, bytes: bytes}
	if s, ok := c.run.(suite.Sampled); ok {
		f.add(s.Sample())
	}
	c.rounds = append(c.rounds, f)
	return bytes
}

// adjust sees to it that the next turn is about as long as it should be, when the
// last was not at all.
func (c *contestant) adjust(turn time.Duration) {
	if len(c.rounds) == 0 || c.err != nil {
		return
	}
	last := &c.rounds[len(c.rounds)-1]
	if last.took > 2*turn || last.took < turn/2 {
		c.n = scale(last.ops, turn, last.took)
	}
}

// errStopped says that the run was stopped from outside.
var errStopped = errors.New("measure: stopped")
