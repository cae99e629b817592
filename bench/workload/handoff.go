package workload

import (
	"errors"
	"slices"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/check/turns"
)

const bare = "bare"

func handoff() suite.Question {
	return suite.Question{
		ID:    "Handoff",
		Title: "What does a value cost that one goroutine stores and another removes?",
		About: "A producer stores values and sends their names over a channel; a consumer looks each up and removes it. Names are sent one by one, or 64 at a time. " +
			"The floor 'bare' sends the values themselves, so it is the channel's share of the cost.",
		Charts: []suite.Chart{{Unit: "ns/op"}},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, batch := range []int{1, 64} {
				for _, goroutines := range slices.Compact([]int{2, max(2, env.Procs/2*2)}) {
					r := handing(batch, goroutines)
					groups = append(groups, suite.Group{Cases: append(contests[peer.Rest16](r), bareCase(r, batch))})
				}
			}
			return groups
		},
	}
}

// handing are the rules by which each producer has a consumer.
func handing(batch, goroutines int) rules {
	params := []suite.Param{value[peer.Rest16](), number("batch", batch)}
	// The most values between producers and consumers.
	live := goroutines / 2 * batch * (onTheWay(batch) + 2)
	return rules{params: params, live: live, goroutines: goroutines, plan: func(sessions []peer.Session) (j job) {
		for g := 0; g < len(sessions); g += 2 {
			from, to := sessions[g], sessions[g+1]
			p := newPipe(batch, base(g), func() peer.Names { return from.Names(batch) })
			p.fill, p.empty = from.Fill, to.Empty
			j.works = append(j.works, p.produce, p.consume)
		}
		return j
	}}
}

// bareCase is the floor: the values themselves are sent.
func bareCase(r rules, batch int) suite.Case {
	type value16 = peer.Value[peer.Rest16]
	return r.caseOf(bare, func() suite.Run {
		var works turns.Crew
		for g := 0; g < r.goroutines; g += 2 {
			p := newPipe(batch, base(g), func() []value16 { return make([]value16, batch) })
			p.fill = func(vs []value16, id uint64) {
				for i := range vs {
					vs[i] = value16{ID: id + uint64(i), Rest: peer.Rest16{1}}
				}
			}
			p.empty = func(vs []value16) (sum uint64, failed int) {
				for i := range vs {
					sum += vs[i].ID
				}
				return sum, 0
			}
			works = append(works, p.produce, p.consume)
		}
		return works
	})
}

// onTheWay returns how many batches a channel holds.
func onTheWay(batch int) int { return max(8, 128/batch) }

// pipe connects one producer to one consumer. Batches of names are used in turn, two more
// than the channel holds: when the producer comes back to a batch, the consumer has
// received a later one, and so is done with it.
type pipe[B any] struct {
	batch   int
	fill    func(b B, id uint64)
	empty   func(b B) (sum uint64, failed int)
	send    chan B
	batches []B
	at      int
	stored  uint64 // the identity of the producer's next value
	removed uint64 // of the consumer's
}

func newPipe[B any](batch int, first uint64, names func() B) *pipe[B] {
	p := &pipe[B]{batch: batch, send: make(chan B, onTheWay(batch)), stored: first, removed: first}
	for range cap(p.send) + 2 {
		p.batches = append(p.batches, names())
	}
	return p
}

// rounds returns how many batches n operations of each of the two goroutines are.
func (p *pipe[B]) rounds(n int) int { return max(1, 2*n/p.batch) }

func (p *pipe[B]) produce(n int) (did int, err error) {
	whole := false
	defer func() {
		if !whole {
			close(p.send) // so that the consumer does not wait for ever
		}
	}()
	for range p.rounds(n) {
		names := p.batches[p.at]
		if p.at++; p.at == len(p.batches) {
			p.at = 0
		}
		p.fill(names, p.stored)
		p.stored += uint64(p.batch)
		p.send <- names
	}
	whole = true
	return 0, nil
}

func (p *pipe[B]) consume(n int) (did int, err error) {
	left := p.rounds(n)
	defer func() {
		for ; left > 0; left-- {
			<-p.send // so that the producer does not wait for ever
		}
	}()
	for ; left > 0; left-- {
		names, ok := <-p.send
		if !ok {
			return did, errors.New("the producer stopped early")
		}
		sum, failed := p.empty(names)
		if wrong := summed(p.batch, p.removed, sum, failed); err == nil {
			err = wrong
		}
		p.removed += uint64(p.batch)
		did += p.batch
	}
	return did, err
}
