//go:build interleave

package dense

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"coatcheck/internal/check/interleave"
	"coatcheck/internal/check/testkit"
)

// program is a generated phase: the store at its beginning, and the steps of each thread.
type program struct {
	options      Options[val]
	room, values int
	gone         []int // of the values, before the phase
	threads      [][]step
}

// step is a call: of Create, which assigns handle at, or of another method with that
// handle or with the next handle of its slot.
type step struct {
	call  string
	at    int
	ahead bool
}

func (s step) String() string {
	if s.ahead {
		return fmt.Sprintf("%s(h[%d], a life later)", s.call, s.at)
	}
	return fmt.Sprintf("%s(h[%d])", s.call, s.at)
}

func (p *program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Capacity %d, room %d, %d values, of which are gone %v\n", p.options.Capacity, p.room, p.values, p.gone)
	for i, steps := range p.threads {
		fmt.Fprintf(&b, "%c: %v\n", 'A'+i, steps)
	}
	return b.String()
}

func draw(rnd *rand.Rand) *program {
	p := &program{room: rnd.IntN(4), values: rnd.IntN(5)}
	if rnd.IntN(2) == 0 {
		p.options.Capacity = max(p.values, p.room, 1) + rnd.IntN(3)
	}
	for i := range p.values {
		if rnd.IntN(3) == 0 {
			p.gone = append(p.gone, i)
		}
	}
	handles := p.values
	for range 2 + rnd.IntN(2) {
		var steps []step
		for range 1 + rnd.IntN(4) {
			switch n := rnd.IntN(8); {
			case n < 3 || handles == 0:
				steps = append(steps, step{call: "Create", at: handles})
				handles++
			case n < 6:
				steps = append(steps, step{call: "Kill", at: rnd.IntN(handles)})
			default:
				steps = append(steps, step{call: "Get", at: rnd.IntN(handles), ahead: rnd.IntN(4) == 0})
			}
		}
		p.threads = append(p.threads, steps)
	}
	return p
}

func (p *program) setup(r *interleave.Run) {
	w := &world{r: r}
	w.begin(p.options, p.room)
	h := make([]valHandle, 32)
	copy(h, w.fill(p.values))
	for _, i := range p.gone {
		w.kill(nil, h[i])
	}
	w.s.Refresh()
	for _, steps := range p.threads {
		w.thread(func(t *interleave.Thread) {
			for _, s := range steps {
				switch at := h[s.at]; {
				case s.call == "Create":
					h[s.at] = w.create(t)
				case at == 0: // not issued yet
				case s.call == "Kill":
					w.kill(t, at)
				case s.ahead:
					w.get(t, at+2<<32, false)
				default:
					w.get(t, at, !w.stale[at]) // the dead stay until Refresh
				}
			}
		})
	}
	for _, i := range p.gone {
		w.stale[h[i]] = true
	}
}

// TestInterleaveGenerated runs generated programs under some schedules each:
//
//	go test -tags interleave -run Generated -v ./pool/dense -generate 1m -generate.seed 1
func TestInterleaveGenerated(t *testing.T) {
	limit, seed := testkit.Generate()
	interleave.Draw(t, limit, seed, func(rnd *rand.Rand) (interleave.Setup, fmt.Stringer) {
		p := draw(rnd)
		return p.setup, p
	})
}
