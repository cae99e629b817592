package measure

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"time"

	"coatcheck/bench/suite"
	"coatcheck/internal/check/turns"
)

type contestant struct {
	name string // with GOMAXPROCS
	open func() (suite.Run, error)
	run  suite.Run // nil when it is not open

	n      int // operations that make a turn
	rounds []figures
	err    error // the first one, after which the case has no turns and no figures
}

// figures are those of one turn.
type figures struct {
	ops     int
	took    time.Duration
	objects uint64 // allocated
	bytes   uint64
	extra   map[string]float64
}

// perOp returns the time of an operation in nanoseconds.
func (f *figures) perOp() float64 { return float64(f.took) / float64(f.ops) }

// fail keeps the first error.
func (c *contestant) fail(err error) {
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("%s: %w", c.name, err)
	}
}

// start opens the case and finds the number of operations of a turn, unless its length
// is 0.
func (c *contestant) start(turn time.Duration) {
	if c.err != nil {
		return
	}
	if _, err := turns.Safely(func() (_ int, err error) {
		c.run, err = c.open()
		return
	}); err != nil {
		c.run = nil
		c.fail(err)
		return
	}
	if c.n == 0 && turn > 0 {
		c.n, _ = turns.Calibrate(turn, c.once)
	}
}

// end closes the case, which checks values and counts.
func (c *contestant) end() {
	if c.run == nil {
		return
	}
	if m, ok := c.run.(suite.Metered); ok && c.err == nil && len(c.rounds) > 0 {
		c.rounds[len(c.rounds)-1].add(m.Metrics())
	}
	_, err := turns.Safely(func() (int, error) { return 0, c.run.Close() })
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
func (c *contestant) once(n int) (did int, took time.Duration, err error) {
	did, took, err = turns.Time(func(n int) (int, error) {
		return turns.Safely(func() (int, error) { return c.run.Do(n) })
	}, n)
	if t, ok := c.run.(suite.Timed); ok {
		took = t.Took()
	}
	if err == nil && did < 1 {
		err = fmt.Errorf("did %d operations of %d", did, n)
	}
	c.fail(err)
	return did, took, err
}

// turn does n operations and keeps their figures. It returns the number of allocated bytes.
func (c *contestant) turn(n int) (bytes uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	did, took, err := c.once(n)
	runtime.ReadMemStats(&after)
	bytes = after.TotalAlloc - before.TotalAlloc
	if err != nil {
		return bytes
	}
	f := figures{ops: did, took: took, objects: after.Mallocs - before.Mallocs, bytes: bytes}
	if s, ok := c.run.(suite.Sampled); ok {
		f.add(s.Sample())
	}
	c.rounds = append(c.rounds, f)
	return bytes
}

// adjust changes the number of operations if the last turn was half or twice as long as it
// should be.
func (c *contestant) adjust(turn time.Duration) {
	if len(c.rounds) == 0 || c.err != nil {
		return
	}
	last := &c.rounds[len(c.rounds)-1]
	if last.took > 2*turn || last.took < turn/2 {
		c.n = turns.Scale(last.ops, last.took, turn)
	}
}

// errStopped says that the context is done.
var errStopped = errors.New("measure: stopped")
