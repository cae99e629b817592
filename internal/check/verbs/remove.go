package verbs

import (
	"slices"

	"coatcheck/pool"
)

// removeBatch knows what became of each handle if all of them were live, or none. A handle that
// is given twice counts once.
func (c *Call[T]) removeBatch() {
	c.Begin(c)
	n := c.Pool.RemoveBatch(c.Handles)
	c.Returned(c)
	var each []pool.Handle[T]
	for _, h := range c.Handles {
		if !slices.Contains(each, h) {
			each = append(each, h)
		}
	}
	switch n {
	case 0, len(each):
		for _, h := range each {
			c.report(h, Remove, n > 0, 0)
		}
	default:
		for _, h := range each {
			c.report(h, Sweep, true, 0)
		}
		c.counted(n, len(each))
	}
}

// counted reports how many of those that were reported with Sweep the call says it has removed.
func (c *Call[T]) counted(n, most int) {
	if n < 0 || n > most {
		c.Failf("%v removed %d of %d", c, n, most)
		return
	}
	c.Counted(c, n)
}

func (c *Call[T]) drain() {
	met := map[pool.Handle[T]]bool{}
	c.Begin(c)
	early := c.caught(func() {
		for h, v := range c.Pool.Drain() {
			c.once(met, h)
			c.gave(Take, h, &v, true)
			c.Inside(c, h)
			if len(met) == c.N {
				break
			}
		}
	})
	c.Returned(c)
	if !early && (c.N == 0 || len(met) < c.N) {
		c.Others(c, met, Report{Effect: Look})
	}
}

// once notes that h was yielded.
func (c *Call[T]) once(met map[pool.Handle[T]]bool, h pool.Handle[T]) {
	if met[h] {
		c.Failf("%v yields %v twice", c, h)
	}
	met[h] = true
}

func (c *Call[T]) deleteFunc() {
	met := map[pool.Handle[T]]bool{}
	condemned := 0
	c.Begin(c)
	n := 0
	early := c.caught(func() {
		n = c.Pool.DeleteFunc(func(h pool.Handle[T], v *T) bool {
			c.once(met, h)
			c.met(h, v)
			if !c.Condemned(c, h, c.Number(v)) {
				return false
			}
			condemned++
			c.report(h, Sweep, true, 0)
			return true
		})
	})
	c.Returned(c)
	if !early {
		c.Others(c, met, Report{Effect: Look})
		c.counted(n, condemned)
	}
}

func (c *Call[T]) clear() {
	c.Begin(c)
	n := 0
	early := c.caught(func() { n = c.Pool.Clear() })
	c.Returned(c)
	if !early {
		c.Others(c, nil, Report{Effect: Sweep, OK: true})
		c.Counted(c, n)
	}
}
