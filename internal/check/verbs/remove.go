package verbs

import "coatcheck/pool"

func (c *Call[T]) removed(f func() bool) {
	c.Begin(c)
	ok := f()
	c.Returned(c)
	c.Removed(c, c.Handles[0], nil, ok)
}

func (c *Call[T]) take() {
	c.Begin(c)
	v, ok := c.Via.Take(c.Handles[0])
	c.Returned(c)
	c.Removed(c, c.Handles[0], &v, ok)
}

func (c *Call[T]) removeBatch() {
	c.Begin(c)
	n := c.Pool.RemoveBatch(c.Handles)
	c.Returned(c)
	c.counted(n, len(c.Handles))
}

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
			c.Removed(c, h, &v, true)
			met[h] = true
			c.Inside(c, h)
			if len(met) == c.N {
				break
			}
		}
	})
	c.Returned(c)
	if !early && (c.N == 0 || len(met) < c.N) {
		c.Ranged(c, met)
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
			goes := c.Condemned(c, h, v)
			if goes {
				condemned++
			}
			return goes
		})
	})
	c.Returned(c)
	if !early {
		c.Ranged(c, met)
		c.counted(n, condemned)
	}
}

func (c *Call[T]) clear() {
	c.Begin(c)
	n := 0
	early := c.caught(func() { n = c.Pool.Clear() })
	c.Returned(c)
	if !early {
		c.Counted(c, n)
	}
}
