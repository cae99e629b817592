package simulate

import (
	"container/heap"
	"iter"
)

// Machine has processors and memory.
type Machine struct {
	Costs
	costs   durations
	procs   []*Processor
	waiting byClock // runnable processors
	lines   map[uintptr]*line
	recent  [1 << 12]struct {
		number uintptr
		line   *line
	}
	locks map[uintptr]*lock // by the address of a mutex
	rnd   uint64
}

// picoseconds are the unit of clocks: integers, so that runs are the same everywhere.
type picoseconds int64

func duration(nanoseconds float64) picoseconds { return picoseconds(nanoseconds * 1000) }

// durations are costs.
type durations struct {
	hit, locked, near, transfer, far, memory, yield, spin, park, wake, overlap picoseconds
}

// Processor is one virtual processor. It runs one goroutine.
type Processor struct {
	Counts
	machine *Machine
	id      int
	stack   uint32      // where its goroutine's stack lies
	now     picoseconds // its clock
	drained picoseconds // when its earlier stores are done
	parked  bool

	lastLoad, stride uintptr // numbers of lines

	resume func() (struct{}, bool)
	yield  func(struct{}) bool
}

// Counts are counts of events.
type Counts struct {
	Loads     int // of shared words, and of lines of values
	Stores    int // that do not wait
	Locked    int // locked instructions
	Transfers int // lines that came from other processors, or were invalidated there
	Misses    int // lines that came from memory
	Parks     int // goroutines parked by a mutex
}

// running is the processor that runs. It is nil outside of runs, where accesses are not
// charged.
var running *Processor

// New returns a machine of n processors. The seed draws their first clocks and the
// addresses of their stacks.
func New(n int, c Costs, seed uint64) *Machine {
	m := &Machine{Costs: c, lines: make(map[uintptr]*line), locks: make(map[uintptr]*lock), rnd: seed}
	m.costs = durations{
		hit: duration(c.Hit), locked: duration(c.Locked),
		near: duration(c.Near), transfer: duration(c.Transfer), far: duration(c.Far), memory: duration(c.Memory),
		yield: duration(c.Yield), spin: duration(c.Spin), park: duration(c.Park), wake: duration(c.Wake),
		overlap: max(1, picoseconds(c.Overlap)),
	}
	first := uint32(m.random())
	for i := range n {
		p := &Processor{machine: m, id: i, now: picoseconds(m.random() % 1000_000)}
		// As in Go: stacks of 2 KiB, sixteen in a row, with gaps between the rows.
		p.stack = first + uint32(i+i/16*4)
		if c.Scattered {
			p.stack = uint32(m.random())
		}
		m.procs = append(m.procs, p)
	}
	return m
}

// random returns the next random number (Vigna's SplitMix64).
func (m *Machine) random() uint64 {
	m.rnd += 0x9E3779B97F4A7C15
	z := m.rnd
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Run runs step on each processor repeatedly until it returns false on one; the others
// finish their current step.
func (m *Machine) Run(step func(processor int) bool) {
	over := false
	for _, p := range m.procs {
		p.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
			p.yield = yield
			for !over {
				if !step(p.id) {
					over = true
				}
			}
		})
		m.waiting = append(m.waiting, p)
	}
	heap.Init(&m.waiting)
	for ended := 0; ended < len(m.procs); {
		if len(m.waiting) == 0 {
			panic("simulate: all processors wait for each other")
		}
		p := heap.Pop(&m.waiting).(*Processor)
		running = p
		_, more := p.resume()
		running = nil
		if !more {
			ended++
		} else if !p.parked {
			heap.Push(&m.waiting, p)
		}
	}
}

// Now returns the running processor's clock, in nanoseconds.
func Now() float64 { return float64(running.now) / 1000 }

// Counts returns what all processors did since the machine was made.
func (m *Machine) Counts() (c Counts) {
	for _, p := range m.procs {
		c.Loads += p.Loads
		c.Stores += p.Stores
		c.Locked += p.Locked
		c.Transfers += p.Transfers
		c.Misses += p.Misses
		c.Parks += p.Parks
	}
	return c
}

// turn returns when no runnable processor's clock is that much earlier than p's.
func (p *Processor) turn(by picoseconds) {
	if ws := p.machine.waiting; len(ws) > 0 && (ws[0].now < p.now-by || ws[0].now == p.now-by && ws[0].id < p.id) {
		p.leave()
	}
}

// leave switches to another processor.
func (p *Processor) leave() {
	p.yield(struct{}{})
	running = p
}

// Stack returns the address of the running goroutine's stack in units of the smallest
// stack, or 0 outside of runs.
func Stack() uint32 {
	if running == nil {
		return 0
	}
	return running.stack
}

// Pause charges the running processor for the backoff of package atom: a yield in the
// first rounds, then ever longer sleeps.
func Pause(round int) {
	const (
		yields  = 16
		longest = 10
	)
	switch p := running; {
	case p == nil:
	case round < yields:
		p.now += p.machine.costs.yield
	default:
		p.now += duration(1000) << min(round-yields, longest)
	}
}

// before orders processors by their clocks.
func (p *Processor) before(q *Processor) bool {
	return p.now < q.now || p.now == q.now && p.id < q.id
}

// byClock is a heap.
type byClock []*Processor

func (h byClock) Len() int           { return len(h) }
func (h byClock) Less(i, k int) bool { return h[i].before(h[k]) }
func (h byClock) Swap(i, k int)      { h[i], h[k] = h[k], h[i] }
func (h *byClock) Push(p any)        { *h = append(*h, p.(*Processor)) }
func (h *byClock) Pop() any {
	ps := *h
	p := ps[len(ps)-1]
	*h = ps[:len(ps)-1]
	return p
}

// ready makes a sleeping goroutine runnable at a time.
func (m *Machine) ready(p *Processor, at picoseconds) {
	p.parked, p.now = false, max(p.now, at)
	heap.Push(&m.waiting, p)
}

// Minus returns the counts since before.
func (c Counts) Minus(before Counts) Counts {
	return Counts{
		c.Loads - before.Loads, c.Stores - before.Stores, c.Locked - before.Locked,
		c.Transfers - before.Transfers, c.Misses - before.Misses, c.Parks - before.Parks,
	}
}
