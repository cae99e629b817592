package workload

import (
	"fmt"
	"sync"
	"sync/atomic"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/turns"
)

// The names of the floors of pair. Package report reads their figures.
const (
	NameLocked  = "locked"
	uncontended = "uncontended"
)

// pair stores a value and removes it at once, in stores that are otherwise empty. Everything
// is in the first-level cache, so this is the least cost of each, and flatters stores that
// cause cache misses. The floor locked writes a value, publishes it and takes it back with two
// locked instructions. It shares nothing, so it shows how far the machine scales. The floor
// uncontended locks and unlocks a mutex.
func pair() suite.Question {
	return suite.Question{
		ID:    "Pair",
		Title: "Store a value and remove it at once",
		Charts: []suite.Chart{
			{Unit: "ns/op", Where: map[string]string{"goroutines": "1"}},
			{Unit: "ops/s", More: true, Title: "Insertions and removals by several goroutines"},
		},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, goroutines := range doublings(4*env.Procs, env) {
				r := pairs(goroutines)
				cases := append(contests[peer.Rest16](r), r.reference(NameLocked, lockedPair))
				if goroutines == 1 {
					cases = append(cases, r.reference(uncontended, lockAndUnlock))
				}
				groups = append(groups, suite.Group{Cases: cases})
			}
			return groups
		},
	}
}

// doublings returns the powers of two below most, and most.
func doublings(most int, env suite.Env) (counts []int) {
	if env.Quick {
		return []int{1, 2}
	}
	for n := 1; n < most; n *= 2 {
		counts = append(counts, n)
	}
	return append(counts, most)
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
	mu    sync.Mutex
	_     [128]byte
}

// lockedPair writes a value, publishes it by a store and takes it back by a
// compare-and-swap.
func lockedPair() turns.Work {
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

// lockAndUnlock locks and unlocks a mutex that no other goroutine has.
func lockAndUnlock() turns.Work {
	s := new(slot)
	return func(n int) (int, error) {
		for range n {
			s.mu.Lock()
			s.value.ID++
			s.mu.Unlock()
		}
		return n, nil
	}
}
