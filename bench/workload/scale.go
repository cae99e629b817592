package workload

import (
	"fmt"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/check/turns"
)

const control = "control"

// scale returns one of the three questions about scaling. work is what a goroutine of the
// control does.
func scale(id, title, about string, rulesOf func(env suite.Env, goroutines int) rules, work func(env suite.Env, g int) turns.Work) suite.Question {
	return suite.Question{
		ID:     id,
		Title:  title,
		About:  about + " Each goroutine of the control does the same alone and shares nothing, so the control shows how far the machine scales.",
		Front:  id == "ScaleMix",
		Charts: []suite.Chart{{Kind: suite.Lines, Unit: "ops/s", More: true, X: "goroutines"}},
		Groups: func(env suite.Env) (groups []suite.Group) {
			for _, goroutines := range doublings(4*env.Procs, env) {
				r := rulesOf(env, goroutines)
				r.scaling = true // the contestants are the same for each number of goroutines
				alone := r.reference(control, func(g int) turns.Work { return work(env, g) })
				groups = append(groups, suite.Group{Cases: append(contests[peer.Rest16](r), alone)})
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

func scalePair() suite.Question {
	return scale("ScalePair", "How do insertions and removals scale with the number of goroutines?",
		"Each goroutine stores a value and removes it, repeatedly.",
		func(_ suite.Env, goroutines int) rules { return pairs(goroutines) }, lockedPairs)
}

func scaleRead() suite.Question {
	return scale("ScaleRead", "How do look-ups scale with the number of goroutines?",
		"All goroutines look up the same 10,000 values, each in an order of its own.",
		func(env suite.Env, goroutines int) rules { return reads(env, sizesOf(env, 10_000)[0], goroutines) }, ownReads)
}

func scaleMix() suite.Question {
	return scale("ScaleMix", "How does a mix of look-ups and replacements scale with the number of goroutines?",
		"All goroutines look up and replace the same 10,000 values; 95 of 100 operations are look-ups.",
		func(env suite.Env, goroutines int) rules { return mixing(95, goroutines, env) }, ownReads)
}

// lockedPairs is the control of pairs: each operation does lockedPair twice, since an
// insertion and a removal take four locked instructions.
func lockedPairs(_ suite.Env, g int) turns.Work {
	pair := lockedPair(g)
	return func(n int) (int, error) {
		_, err := pair(2 * n)
		return n, err
	}
}

// ownReads is the control of look-ups: each reads an element of a slice of its own between
// two locked instructions.
func ownReads(env suite.Env, g int) turns.Work {
	live := sizesOf(env, 10_000)[0]
	values := make([]peer.Value[peer.Rest16], live)
	for i := range values {
		values[i].ID = base(0) + uint64(i)
	}
	s := new(slot)
	return (&reader{order: newOrder(env.Seed, g, live), read: func(_ peer.Names, picks []uint32) (sum uint64) {
		for _, pick := range picks {
			s.word.Add(1)
			sum += values[pick].ID
			s.word.Add(^uint64(0))
		}
		if s.word.Load() != 0 {
			panic(fmt.Sprintf("workload: a control's own word is %d", s.word.Load()))
		}
		return sum
	}}).work
}
