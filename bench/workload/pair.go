package workload

import (
	"fmt"
	"sync/atomic"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/check/turns"
)

const locked = "locked"

func pair() suite.Question {
	return suite.Question{
		ID:    "Pair",
		Title: "What does it cost to store a value and to remove it at once?",
		About: "One goroutine stores a value and removes it, repeatedly, in a store that is otherwise empty. " +
			"Everything is in the first-level cache, so this is the least cost of each, and flatters stores that cause cache misses. " +
			"The floor 'locked' writes a value, publishes it and takes it back with two locked instructions.",
		Charts: []suite.Chart{
			{Unit: "ns/op"},
			{Unit: "B/op", Title: "How much does storing a value allocate?"},
		},
		Groups: func(suite.Env) []suite.Group {
			r := pairs(1)
			return []suite.Group{{Cases: append(contests[peer.Rest16](r), r.reference(locked, lockedPair))}}
		},
	}
}

func pairs(goroutines int) rules {
	return rules{params: []suite.Param{value[peer.Rest16]()}, live: goroutines, goroutines: goroutines, plan: func(sessions []peer.Session) (j job) {
		for g, s := range sessions {
			id := base(g)
			j.works = append(j.works, func(n int) (int, error) {
				failed := s.Pairs(n, id)
				id += uint64(n)
				if failed > 0 {
					return n, fmt.Errorf("%d of %d removals were refused", failed, n)
				}
				return n, nil
			})
			// The loop reads no value, so the check does.
			j.checks = append(j.checks, func() error {
				ns := s.Names(1)
				s.Put(ns, 0, base(g)-1)
				return cleared(s, ns, base(g)-1)
			})
		}
		return j
	}}
}

// slot has cache lines of its own.
type slot struct {
	_     [128]byte
	value peer.Value[peer.Rest16]
	word  atomic.Uint64
	_     [128]byte
}

// lockedPair is the floor under a pair: a value is written, published by a store and
// taken back by a compare-and-swap.
func lockedPair(int) turns.Work {
	s := new(slot)
	return func(n int) (int, error) {
		for i := range uint64(n) {
			s.value = peer.Value[peer.Rest16]{ID: i, Rest: peer.Rest16{1}}
			s.word.Store(i | 1)
			if !s.word.CompareAndSwap(i|1, 0) {
				return int(i), fmt.Errorf("the word of the slot has changed")
			}
		}
		return n, nil
	}
}
