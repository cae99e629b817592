package verbs

import "coatcheck/pool"

// Model is the half of a Judge that knows the only right result. It is for one goroutine, whose
// calls follow one another, but for those in callbacks and in the bodies of loops. The zero Model
// is that of a new pool.
type Model[T any] struct {
	Idle[T]
	last  uint64
	lives map[pool.Handle[T]]Life // of all but the unborn
	live  int
	begun int
}

// course is what a Model knows of a call. It is the call's State.
type course[T any] struct {
	begun map[pool.Handle[T]]Life // what was live when a loop began
	swept int                     // values that went by Sweep
}

// Life returns the state of h.
func (m *Model[T]) Life(h pool.Handle[T]) Life { return m.lives[h] }

// Live returns how many handles are live.
func (m *Model[T]) Live() int { return m.live }

// Begun returns how many handles ever went live.
func (m *Model[T]) Begun() int { return m.begun }

// NewNumber counts from 1.
func (m *Model[T]) NewNumber() uint64 { m.last++; return m.last }

// Begin notes what is live, if the call is a loop.
func (m *Model[T]) Begin(c *Call[T]) {
	o := &course[T]{begun: map[pool.Handle[T]]Life{}}
	if c.Needs&Loops != 0 {
		for h, l := range m.lives {
			if l.IsLive() {
				o.begun[h] = l
			}
		}
	}
	c.State = o
}

// Reported requires that r is right, and that the pool agrees with the state afterwards.
// DeleteFunc says Sweep before it removes.
func (m *Model[T]) Reported(c *Call[T], h pool.Handle[T], r Report) {
	m.step(c, h, r, m.lives[h])
	if r.Effect != Sweep {
		m.agree(c, h, r)
	}
}

// Others requires that r is right for what lived when the loop began: then, or now, since the
// loop's body may have removed it.
func (m *Model[T]) Others(c *Call[T], met map[pool.Handle[T]]bool, r Report) {
	for h, l := range c.State.(*course[T]).begun {
		if !met[h] {
			m.step(c, h, r, l, m.lives[h])
			m.agree(c, h, r)
		}
	}
}

// agree requires that the pool finds h if it is live.
func (m *Model[T]) agree(c *Call[T], h pool.Handle[T], r Report) {
	if l := m.lives[h]; c.Pool.Contains(h) != l.IsLive() {
		c.Failf("%v says of %v, %v; it is %v now, and Contains says otherwise", c, h, r, l)
	}
}

// step requires that r is right in one of the states.
func (m *Model[T]) step(c *Call[T], h pool.Handle[T], r Report, in ...Life) {
	now := m.lives[h]
	_, next := Step(now, r)
	if !r.Fits(in...) {
		c.Failf("%v says of %v, %v; it was %v", c, h, r, in)
	}
	if next == now {
		return
	}
	if m.lives == nil {
		m.lives = map[pool.Handle[T]]Life{}
	}
	m.lives[h] = next
	switch {
	case next.IsLive():
		m.live++
		m.begun++
	case now.IsLive():
		m.live--
	}
	if r.Effect == Sweep {
		c.State.(*course[T]).swept++
	}
}

// Owned is true, since there is no other goroutine.
func (m *Model[T]) Owned(*Call[T], pool.Handle[T]) bool { return true }

// Counted requires that n is how many values went by Sweep.
func (m *Model[T]) Counted(c *Call[T], n int) {
	if swept := c.State.(*course[T]).swept; n != swept {
		c.Failf("%v removes %d, want %d", c, n, swept)
	}
}
