//go:build interleave

package command

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
	"coatcheck/pool"
)

// step is an action of a thread; text prints it.
type step struct {
	text string
	do   func(a *actor, h *[32]handle)
}

// program has generated threads, and the steps before they begin.
type program struct {
	buffers int
	drops   bool // whether some thread discards
	prepare []step
	threads [][]step
}

func (p *program) String() string {
	var b strings.Builder
	line := func(name string, steps []step) {
		fmt.Fprintf(&b, "%s:", name)
		for _, s := range steps {
			fmt.Fprintf(&b, " %s;", s.text)
		}
		b.WriteByte('\n')
	}
	line(fmt.Sprintf("%d buffers, before", p.buffers), p.prepare)
	for i, steps := range p.threads {
		line(string(rune('A'+i)), steps)
	}
	return b.String()
}

func draw(rnd *rand.Rand) *program {
	p := &program{buffers: 1 + rnd.IntN(3)}
	handles := 0
	next := func() int { handles++; return handles - 1 }
	for range rnd.IntN(3) {
		to := next()
		p.prepare = append(p.prepare, step{fmt.Sprintf("h[%d] = put()", to), func(a *actor, h *[32]handle) { h[to] = a.put() }})
	}
	draw := func(kinds int) step {
		i, at := rnd.IntN(p.buffers), rnd.IntN(max(handles, 1))
		switch n := rnd.IntN(kinds); {
		case n < 3:
			to := next()
			return step{fmt.Sprintf("h[%d] = insert(%d)", to, i), func(a *actor, h *[32]handle) { h[to] = a.insert(i) }}
		case n < 6:
			return step{fmt.Sprintf("remove(%d, h[%d])", i, at), func(a *actor, h *[32]handle) { a.remove(i, h[at]) }}
		case n < 9:
			is := rnd.Perm(p.buffers)
			return step{fmt.Sprintf("apply%v", is), func(a *actor, h *[32]handle) { a.apply(is...) }}
		case n == 9:
			p.drops = true
			return step{fmt.Sprintf("discard(%d)", i), func(a *actor, h *[32]handle) { a.discard(i) }}
		case n == 10:
			return step{fmt.Sprintf("removeNow(h[%d])", at), func(a *actor, h *[32]handle) { a.removeNow(h[at]) }}
		default:
			return step{fmt.Sprintf("read(h[%d])", at), func(a *actor, h *[32]handle) {
				if h[at] != 0 {
					a.read(h[at])
				}
			}}
		}
	}
	for range rnd.IntN(4) {
		p.prepare = append(p.prepare, draw(6)) // the results of an Apply are not checked there
	}
	for range 2 + rnd.IntN(2) {
		var steps []step
		for range 1 + rnd.IntN(3) {
			steps = append(steps, draw(12))
		}
		p.threads = append(p.threads, steps)
	}
	return p
}

func (p *program) setup(r *interleave.Run) {
	w := newWorld(r)
	a := w.pool(pool.Options[val]{}, p.buffers)
	w.drops = p.drops
	var h [32]handle
	for _, s := range p.prepare {
		s.do(a, &h)
	}
	for _, steps := range p.threads {
		w.thread(func(a *actor) {
			for _, s := range steps {
				s.do(a, &h)
			}
		})
	}
}

// TestInterleaveGenerated runs generated programs under some schedules each; every Apply
// is given all buffers:
//
//	go test -tags interleave -run Generated -v ./pool/command -generate 1m -generate.seed 1
func TestInterleaveGenerated(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // see betweenRuns
	n := 0
	limit, seed := testkit.Generate()
	interleave.Draw(t, limit, seed, func(rnd *rand.Rand) (interleave.Setup, fmt.Stringer) {
		if n++; n%10 == 0 {
			runtime.GC()
		}
		p := draw(rnd)
		return p.setup, p
	})
}
