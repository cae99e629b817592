package measure

import (
	"context"
	"runtime"
	"slices"
	"time"

	"coatcheck/internal/check/turns"
)

const (
	// fewest is the fewest rounds that have a median and a spread.
	fewest = 3
	// openings is how often at most a case of a group that is measured apart is opened.
	openings = 2
	// litter is the most bytes of garbage that a turn may leave to the next.
	litter = 256 << 10
	// tiny is the number of operations of a turn of a quick run.
	tiny = 256
)

type group struct {
	question string
	cases    []*contestant
	once     bool
	apart    bool
	turn     time.Duration // 0: tiny turns
	rounds   int
	late     func() bool // reports whether there is no time for more rounds
}

// measure gives each case its turns.
func (g *group) measure(ctx context.Context) error {
	defer func() {
		for _, c := range g.cases {
			c.end()
		}
		runtime.GC()
	}()
	switch {
	case g.once:
		return g.measureOnce(ctx)
	case g.apart:
		return g.measureApart(ctx)
	}
	return g.measureTogether(ctx)
}

// measureOnce gives each case one turn, while no other is open.
func (g *group) measureOnce(ctx context.Context) error {
	for _, c := range g.cases {
		if ctx.Err() != nil {
			return errStopped
		}
		if c.start(0); c.run != nil {
			c.turn(1)
		}
		c.end()
		runtime.GC()
	}
	return nil
}

// measureApart opens each case twice, the second time in reverse order, and each time gives it
// half of its turns while no other is open. If opening a case takes longer than its turns,
// it has all of them the first time.
func (g *group) measureApart(ctx context.Context) error {
	order := slices.Clone(g.cases)
	for opening := range openings {
		for _, c := range order {
			if ctx.Err() != nil {
				return errStopped
			}
			rounds := g.rounds - len(c.rounds)
			if rounds == 0 || opening > 0 && len(c.rounds) >= fewest && g.late() {
				continue
			}
			begin := time.Now()
			c.start(g.turn)
			if opening == 0 && g.turn > 0 && time.Since(begin) < time.Duration(g.rounds)*g.turn {
				rounds /= openings
			}
			for ; rounds > 0 && c.run != nil && c.err == nil; rounds-- {
				if ctx.Err() != nil {
					return errStopped
				}
				if len(c.rounds) >= fewest && g.late() {
					break
				}
				c.turn(g.ops(c))
				if g.turn > 0 {
					c.adjust(g.turn)
				}
			}
			c.end()
			runtime.GC()
		}
		slices.Reverse(order)
	}
	return nil
}

// measureTogether opens all cases and gives each a turn in each round.
func (g *group) measureTogether(ctx context.Context) error {
	for _, c := range g.cases {
		if c.start(g.turn); c.err != nil {
			c.end()
		}
		if ctx.Err() != nil {
			return errStopped
		}
	}
	runtime.GC()
	for round, i := range turns.Order(g.rounds, len(g.cases)) {
		if i == round%len(g.cases) && round >= fewest && g.late() {
			break
		}
		c := g.cases[i]
		if c.err != nil {
			continue
		}
		if ctx.Err() != nil {
			return errStopped
		}
		if left := c.turn(g.ops(c)); left > litter {
			runtime.GC()
		}
		if g.turn > 0 {
			c.adjust(g.turn)
		}
	}
	return nil
}

// ops returns the number of operations of a turn of c.
func (g *group) ops(c *contestant) int {
	if g.turn == 0 {
		return tiny
	}
	return c.n
}
