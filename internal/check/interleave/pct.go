package interleave

import (
	"math/rand/v2"
	"time"
)

// PCT runs the program n times with random priorities. The ready thread with the highest
// priority runs, and at depth-1 random steps the running thread gets the lowest. A bug that
// needs depth orderings among k steps of t threads fails a run with probability
// 1/(t·k^(depth-1)) at least. Run i has the seed seed+i.
func PCT(setup Setup, n, depth int, seed uint64) Result {
	begin := time.Now()
	var res Result
	// Change points are drawn among the steps of a run without preemptions and a quarter
	// more, so that a seed's run does not depend on the runs before it.
	length := start(setup, &replay{}, false).steps * 5 / 4
	for i := range n {
		p := newPCT(seed+uint64(i), depth, length)
		if res.ran(setup, start(setup, p, false), seed+uint64(i)) {
			break
		}
	}
	res.Took = time.Since(begin)
	return res
}

type pct struct {
	rnd        *rand.Rand
	priorities []int // by thread; the greatest runs
	changes    []int // steps at which the running thread gets the lowest
	lowest     int
}

func newPCT(seed uint64, depth, length int) *pct {
	p := &pct{rnd: rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15))}
	for range depth - 1 {
		p.changes = append(p.changes, 1+p.rnd.IntN(max(length, 1)))
	}
	return p
}

func (p *pct) accessed(*Run, *Thread, access) {}

func (p *pct) known() bool { return false }

func (p *pct) drains(*Run, *Thread) bool { return p.rnd.IntN(2) == 0 }

func (p *pct) pick(r *Run, options []*Thread, costly bool) *Thread {
	for len(p.priorities) < len(r.threads) {
		p.priorities = append(p.priorities, 1+p.rnd.IntN(1<<30))
	}
	for i, at := range p.changes {
		if at > 0 && r.steps >= at && r.last != nil {
			p.changes[i] = 0
			p.lower(r.last)
		}
	}
	if !costly && r.last != nil {
		p.lower(r.last) // it yields, or cannot continue
	}
	best := options[0]
	for _, t := range options {
		if p.priorities[t.id] > p.priorities[best.id] {
			best = t
		}
	}
	return best
}

func (p *pct) lower(t *Thread) {
	p.lowest--
	p.priorities[t.id] = p.lowest
}
