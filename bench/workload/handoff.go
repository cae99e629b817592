package workload

import (
	"errors"
	"slices"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
)

// handoff has producers, which store values and send their names over a channel, one by one or
// 64 at a time, and consumers, which look each up and remove it.
func handoff() suite.Question {
	return suite.Question{
		ID:     "Handoff",
		Title:  "One goroutine stores a value, another removes it",
		Charts: []suite.Chart{{Unit: "ns/op"}},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, batch := range []int{1, 64} {
				for _, goroutines := range slices.Compact([]int{2, max(2, env.Procs/2*2)}) {
					groups = append(groups, suite.Group{Cases: contests[peer.Rest16](handing(batch, goroutines))})
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
			p := &pipe{
				batch: batch, from: sessions[g], to: sessions[g+1],
				send: make(chan peer.Names, onTheWay(batch)), stored: base(g), removed: base(g),
			}
			for range cap(p.send) + 2 {
				p.batches = append(p.batches, p.from.Names(batch))
			}
			j.works = append(j.works, p.produce, p.consume)
		}
		return j
	}}
}

// onTheWay returns how many batches a channel holds.
func onTheWay(batch int) int { return max(8, 128/batch) }

// pipe connects one producer to one consumer. Batches of names are used in turn, two more
// than the channel holds: when the producer comes back to a batch, the consumer has
// received a later one, and so is done with it.
type pipe struct {
	batch    int
	from, to peer.Session
	send     chan peer.Names
	batches  []peer.Names
	at       int
	stored   uint64 // the identity of the producer's next value
	removed  uint64 // of the consumer's
}

// rounds returns how many batches n operations of each of the two goroutines are.
func (p *pipe) rounds(n int) int { return max(1, 2*n/p.batch) }

func (p *pipe) produce(n int) (did int, err error) {
	whole := false
	defer func() {
		if !whole {
			close(p.send) // or the consumer would wait without end
		}
	}()
	for range p.rounds(n) {
		names := p.batches[p.at]
		if p.at++; p.at == len(p.batches) {
			p.at = 0
		}
		p.from.Fill(names, p.stored)
		p.stored += uint64(p.batch)
		p.send <- names
	}
	whole = true
	return 0, nil
}

func (p *pipe) consume(n int) (did int, err error) {
	left := p.rounds(n)
	defer func() {
		for ; left > 0; left-- {
			<-p.send // or the producer would wait without end
		}
	}()
	for ; left > 0; left-- {
		names, ok := <-p.send
		if !ok {
			return did, errors.New("the producer stopped early")
		}
		if wrong := cleared(p.to, names, p.removed); err == nil {
			err = wrong
		}
		p.removed += uint64(p.batch)
		did += p.batch
	}
	return did, err
}
