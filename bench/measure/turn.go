package measure

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"coatcheck/bench/suite"
	"coatcheck/internal/turns"
)

// mostGarbage is the most bytes of garbage that a turn may leave to the next.
const mostGarbage = 256 << 10

// openings is how often a case is opened that is open alone.
const openings = 3

type group struct {
	cases  []*contestant
	apart  bool // one is open at a time
	turn   time.Duration
	rounds int
}

// measure gives each case its turns. What slows the machine down for a second, such as memory that goes back to the
// system after the question before, would hit all rounds of one case that is open alone. So such cases are opened
// in turns, for a part of their rounds.
func (g *group) measure(ctx context.Context) {
	if !g.apart {
		g.take(ctx, g.cases, g.rounds)
		return
	}
	parts := min(g.rounds, openings)
	for part, i := range turns.Order(parts, len(g.cases)) {
		g.take(ctx, g.cases[i:i+1], g.rounds*(part+1)/parts-g.rounds*part/parts)
	}
}

// take opens the cases, gives each a turn in each round, and closes them.
func (g *group) take(ctx context.Context, cases []*contestant, rounds int) {
	defer runtime.GC()
	for _, c := range cases {
		if ctx.Err() == nil {
			c.start(g.turn)
			defer c.end()
		}
	}
	runtime.GC()
	for _, i := range turns.Order(rounds, len(cases)) {
		if c := cases[i]; ctx.Err() == nil && c.run.Do != nil && c.err == nil && c.turn() > mostGarbage {
			runtime.GC()
		}
	}
}

type contestant struct {
	name string // with GOMAXPROCS
	open func() suite.Run
	run  suite.Run // without a Do when it is not open

	ops    int // that make a turn; 0 until it is known
	rounds []figures
	err    error // the first one, after which the case has no turns and no figures
}

// figures are those of one turn.
type figures struct {
	ops     int
	took    time.Duration
	objects uint64 // allocated
	bytes   uint64
	metrics map[string]float64 // nil unless the run is metered
}

// start opens the case and finds the number of operations of a turn, which warms it up.
func (c *contestant) start(turn time.Duration) {
	c.safely(func() (int, error) {
		c.run = c.open()
		return 0, nil
	})
	if c.err == nil && c.ops == 0 {
		c.ops, _ = turns.Calibrate(turn, c.once)
	}
}

// end closes the case, which checks values and counts.
func (c *contestant) end() {
	if c.run.Close != nil {
		c.safely(func() (int, error) { return 0, c.run.Close() })
	}
	c.run = suite.Run{}
}

// safely calls f, and keeps the first error or panic.
func (c *contestant) safely(f func() (int, error)) (int, error) {
	n, err := turns.Safely(f)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("%s: %w", c.name, err)
	}
	return n, err
}

// once does n operations and times them.
func (c *contestant) once(n int) (did int, took time.Duration, err error) {
	begin := time.Now()
	did, err = c.safely(func() (int, error) {
		did, err := c.run.Do(n)
		took = time.Since(begin)
		if err == nil && did < 1 {
			err = fmt.Errorf("did %d operations of %d", did, n)
		}
		return did, err
	})
	return did, took, err
}

// turn takes a turn and keeps its figures. It returns the number of allocated bytes.
func (c *contestant) turn() (bytes uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	did, took, err := c.once(c.ops)
	runtime.ReadMemStats(&after)
	bytes = after.TotalAlloc - before.TotalAlloc
	if err == nil {
		f := figures{did, took, after.Mallocs - before.Mallocs, bytes, nil}
		if c.run.Metrics != nil {
			f.metrics = c.run.Metrics()
		}
		c.rounds = append(c.rounds, f)
	}
	return bytes
}
