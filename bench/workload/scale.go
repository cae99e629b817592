package workload

import (
	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/check/turns"
)

const control = "control"

func scalePair() suite.Question {
	return suite.Question{
		ID:     "ScalePair",
		Title:  "How do insertions and removals scale with the number of goroutines?",
		About:  "Each goroutine stores a value and removes it, repeatedly. Each goroutine of the control executes four locked instructions in place of that and shares nothing, so the control shows how far the machine scales.",
		Charts: []suite.Chart{{Kind: suite.Lines, Unit: "ops/s", More: true, X: "goroutines"}},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, goroutines := range doublings(4*env.Procs, env) {
				r := pairs(goroutines)
				r.scaling = true // the contestants are the same for each number of goroutines
				groups = append(groups, suite.Group{Cases: append(contests[peer.Rest16](r), r.reference(control, lockedPairs))})
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

// lockedPairs does lockedPair twice in place of a pair, since an insertion and a removal take
// four locked instructions.
func lockedPairs(g int) turns.Work {
	pair := lockedPair(g)
	return func(n int) (int, error) {
		_, err := pair(2 * n)
		return n, err
	}
}
