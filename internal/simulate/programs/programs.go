package programs

import (
	"fmt"

	"coatcheck/internal/atom"
	"coatcheck/pool"
)

// Value is the value of all programs.
type Value struct{ ID, Rest uint64 }

// Step does about n operations on one processor and returns their number: 0 if it has to
// wait for another processor. It returns in bounded time.
type Step func(n int) (did int)

// Program is a question and an implementation.
type Program struct {
	ID   string
	Impl string

	// Work is the cost of an operation, in nanoseconds, apart from its accesses to shared
	// words and values. It is fitted to one processor and is the same for any number.
	Work float64

	// Fresh says that each measurement opens the program anew, and is short.
	Fresh bool

	// Open opens the program for n processors and returns the step of each.
	Open func(n int) []Step
}

// Name returns the program's name in the benchmark format.
func (p *Program) Name() string { return p.ID + "/impl=" + p.Impl }

const (
	live  = 1000 // live values: of each processor in Churn, of all in look-ups
	batch = 64   // handles handed over at a time
	many  = 16   // guards of each processor in Guards
)

// All returns every program.
func All() (ps []Program) {
	add := func(id string, open func(impl string, n int) []Step, impls ...string) {
		for _, impl := range impls {
			ps = append(ps, Program{ID: id, Impl: impl, Fresh: id == "Grow", Work: work[id+"/"+impl], Open: func(n int) []Step { return open(impl, n) }})
		}
	}
	add("Counter", counter, "sharded", "shared")
	add("Pass", pass, "word")
	add("Pair", pair, "pool", "worker", "mutex", "sharded")
	add("Churn", churn, "pool", "worker", "mutex", "sharded")
	add("Get", get, "pool", "guard", "mutex", "sharded")
	add("Hot", hot, "pool", "guard", "mutex", "sharded")
	add("Mix", mix, "pool", "mutex", "sharded")
	add("Pin", pin, "pool")
	add("Guards", guards, "pool")
	add("Handover", handover, "pool", "worker", "mutex", "sharded")
	add("Grow", grow, "pool", "worker", "mutex", "sharded")
	add("FIFO", pair, "fifo")
	add("Trim", trim, "pool")
	return ps
}

// each returns one step for each session.
func each(ss []session, step func(g int, s session) Step) (steps []Step) {
	for g, s := range ss {
		steps = append(steps, step(g, s))
	}
	return steps
}

// cell is a counter on lines of its own.
type cell struct {
	n atom.Uint64
	_ [120]byte
}

func counter(impl string, n int) (steps []Step) {
	cells := make([]cell, n)
	for g := range cells {
		c := &cells[g]
		if impl == "shared" {
			c = &cells[0]
		}
		steps = append(steps, func(n int) int {
			for range n {
				c.n.Add(1)
			}
			return n
		})
	}
	return steps
}

// pass has each two processors increment a word in turns.
func pass(_ string, n int) []Step {
	words := make([]cell, n)
	return repeat(n, func(g int) Step {
		word, turn := &words[g/2].n, uint64(g%2)
		return func(most int) (did int) {
			for wait := 0; did < most && wait < 1000; wait++ {
				if at := word.Load(); n == 1 || at%2 == turn {
					word.Store(at + 1)
					did++
					wait = 0
				}
			}
			return did
		}
	})
}

// pair inserts a value and removes it at once.
func pair(impl string, n int) []Step {
	return each(open(impl, n, n), func(_ int, s session) Step {
		return func(n int) int {
			for i := range n {
				remove(s, s.insert(Value{ID: uint64(i)}))
			}
			return n
		}
	})
}

// churn removes one of the processor's values, drawn at random, and inserts another.
func churn(impl string, n int) []Step {
	return each(open(impl, n, n*live), func(g int, s session) Step { return replacing(s, g) })
}

func replacing(s session, g int) Step {
	hs := make([]uint64, live)
	r := newRandom(g)
	return func(n int) int {
		if hs[0] == 0 {
			copy(hs, fill(s, live)) // on the processor that owns the values
			return 0
		}
		for range n {
			h := &hs[r.below(live)]
			remove(s, *h)
			*h = s.insert(Value{ID: *h})
		}
		return n
	}
}

// get looks up values that all processors share.
func get(impl string, n int) []Step { return looking(impl, n, live) }

// hot looks up one value.
func hot(impl string, n int) []Step { return looking(impl, n, 1) }

func looking(impl string, n, live int) []Step {
	ss := open(impl, n, live)
	hs := fill(ss[0], live)
	return each(ss, func(g int, s session) Step {
		r := newRandom(g)
		return func(n int) int {
			for range n {
				if _, ok := s.get(hs[r.below(uint64(live))]); !ok {
					panic("a live value was not found")
				}
			}
			return n
		}
	})
}

// mix looks up values that all processors share, and replaces one in 20.
func mix(impl string, n int) []Step {
	ss := open(impl, n, live)
	names := make([]atom.Uint64, live)
	for i, h := range fill(ss[0], live) {
		names[i].Store(h)
	}
	return each(ss, func(g int, s session) Step {
		r := newRandom(g)
		return func(n int) int {
			for range n {
				name := &names[r.below(live)]
				h := name.Load()
				if r.below(20) > 0 {
					s.get(h) // the handle may be stale
				} else if s.remove(h) {
					name.Store(s.insert(Value{ID: h}))
				}
			}
			return n
		}
	})
}

// pin pins and unpins.
func pin(_ string, n int) []Step {
	p := pool.Must[Value](nil)
	return repeat(n, func(int) Step {
		return func(n int) int {
			for range n {
				g := p.Pin()
				g.Unpin()
			}
			return n
		}
	})
}

func repeat(n int, step func(g int) Step) (steps []Step) {
	for g := range n {
		steps = append(steps, step(g))
	}
	return steps
}

// guards keeps many guards pinned, renews one and inserts and removes a value.
func guards(_ string, n int) []Step {
	p := pool.Must[Value](nil)
	return repeat(n, func(int) Step {
		gs := make([]pool.Guard[Value], many)
		for i := range gs {
			gs[i] = p.Pin()
		}
		r := newRandom(0)
		return func(n int) int {
			for i := range n {
				gs[r.below(many)].Repin()
				h, err := p.Insert(Value{ID: uint64(i)})
				if err != nil || !p.Remove(h) {
					panic(fmt.Sprint("lost: ", err))
				}
			}
			return n
		}
	})
}

// handover inserts values on every second processor and removes them on the next. A single
// processor does both.
func handover(impl string, n int) (steps []Step) {
	ss := open(impl, max(n, 2), n*batch)
	for g := 0; g+1 < len(ss); g += 2 {
		q, from, to := new(ring), ss[g], ss[g+1]
		produce := func(n int) int {
			for range max(1, n/batch) {
				hs := q.room()
				if hs == nil {
					return 0
				}
				for i := range hs {
					hs[i] = from.insert(Value{ID: uint64(i)})
				}
				atom.PlainWrite(hs)
				q.sent()
			}
			return 0
		}
		consume := func(n int) (did int) {
			for range max(1, n/batch) {
				hs := q.next()
				if hs == nil {
					return did
				}
				atom.PlainRead(hs)
				for _, h := range hs {
					remove(to, h)
				}
				q.taken()
				did += batch
			}
			return did
		}
		if n == 1 {
			return []Step{func(n int) (did int) {
				for range max(1, n/batch) {
					produce(1)
					did += consume(1)
				}
				return did
			}}
		}
		steps = append(steps, produce, consume)
	}
	return steps
}

// grow inserts, and removes nothing.
func grow(impl string, n int) []Step {
	return each(open(impl, n, n*live), func(_ int, s session) Step {
		return func(n int) int {
			for i := range n {
				s.insert(Value{ID: uint64(i)})
			}
			return n
		}
	})
}

// trim is churn beside a processor that trims the pool repeatedly. A single processor does
// both.
func trim(_ string, n int) []Step {
	p := pool.Must[Value](nil)
	steps := repeat(n, func(g int) Step { return replacing(poolSession{p}, g) })
	if n == 1 {
		churn, since := steps[0], 0
		return []Step{func(n int) int {
			if since += n; since >= trimEvery {
				since = 0
				p.Trim()
			}
			return churn(n)
		}}
	}
	steps[0] = func(int) int {
		p.Trim()
		return 0
	}
	return steps
}

const trimEvery = 1 << 14
