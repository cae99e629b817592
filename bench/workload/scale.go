package workload

import (
	"fmt"
	"slices"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/check/turns"
)

const control = "control"

// scale makes one of the three questions about scaling.
func scale(id, title, about string, more map[string]suite.Role, cases func(env suite.Env, goroutines int) []suite.Case) suite.Question {
	return suite.Question{
		ID:    id,
		Title: title,
		About: about + " The control does as much by itself and shares nothing, so that it shows how far the machine scales; efficiency is a contestant's speed-up by the control's.",
		Roles: rolesWith(more),
		Front: id == "ScaleMix",
		Charts: []suite.Chart{
			{Kind: suite.Lines, Unit: "ops/s", More: true, X: "goroutines"},
			{Kind: suite.Lines, Unit: "efficiency", More: true, X: "goroutines", Title: title + " (as a part of what the machine gives)"},
		},
		Groups: func(env suite.Env) []suite.Group {
			var groups []suite.Group
			for _, goroutines := range doublings(4*env.Procs, env) {
				groups = append(groups, suite.Group{Cases: cases(env, goroutines)})
			}
			return groups
		},
	}
}

// doublings returns the powers of two up to most, and most.
func doublings(most int, env suite.Env) []int {
	if env.Quick {
		return []int{1, 2}
	}
	var counts []int
	for n := 1; n < most; n *= 2 {
		counts = append(counts, n)
	}
	return append(counts, most)
}

func shared[R any]() []peer.Peer[R] {
	return slices.DeleteFunc(peer.All[R](), func(p peer.Peer[R]) bool { return p.Alone })
}

func scalePair() suite.Question {
	return scale("ScalePair", "How do insertions and removals scale with the number of goroutines?",
		"Each goroutine stores a value and removes it, over and over.",
		map[string]suite.Role{control: suite.Control},
		func(_ suite.Env, goroutines int) (cases []suite.Case) {
			params := []suite.Param{value[peer.Rest16]()}
			for _, p := range shared[peer.Rest16]() {
				cases = append(cases, pairCase(p, params, goroutines))
			}
			return append(cases, controlCase(params, goroutines, func(int) turns.Work { return lockedPairs[peer.Rest16]() }))
		})
}

func scaleRead() suite.Question {
	more := map[string]suite.Role{control: suite.Control}
	for impl, role := range readRoles() {
		more[impl] = role
	}
	return scale("ScaleRead", "How do look-ups scale with the number of goroutines?",
		"All goroutines look the same 10,000 values up, each in an order of its own.",
		more,
		func(env suite.Env, goroutines int) []suite.Case {
			live := sizesOf(env, 10_000)[0]
			params := []suite.Param{value[peer.Rest16](), number("live", live)}
			cases := slices.DeleteFunc(readCases[peer.Rest16](params, live, goroutines, env.Seed), func(c suite.Case) bool {
				p, ok := peer.ByName[peer.Rest16](c.Impl)
				return ok && p.Alone
			})
			return append(cases, controlCase(params, goroutines, func(g int) turns.Work { return ownReads[peer.Rest16](env.Seed, g, live) }))
		})
}

func scaleMix() suite.Question {
	return scale("ScaleMix", "How does a mix of look-ups and replacements scale with the number of goroutines?",
		"All goroutines look up and replace the same 10,000 values; 95 of 100 operations are look-ups.",
		map[string]suite.Role{control: suite.Control},
		func(env suite.Env, goroutines int) []suite.Case {
			params := []suite.Param{value[peer.Rest16](), number("reads", 95)}
			cases := slices.DeleteFunc(mixCases[peer.Rest16](params, 95, goroutines, env), func(c suite.Case) bool {
				p, ok := peer.ByName[peer.Rest16](c.Impl)
				return ok && p.Alone
			})
			live := sizesOf(env, 10_000)[0]
			return append(cases, controlCase(params, goroutines, func(g int) turns.Work { return ownReads[peer.Rest16](env.Seed, g, live) }))
		})
}

func controlCase(params []suite.Param, goroutines int, work func(g int) turns.Work) suite.Case {
	return suite.Case{Impl: control, Params: params, Goroutines: goroutines, Open: func() (suite.Run, error) {
		var works []turns.Work
		for g := range goroutines {
			works = append(works, work(g))
		}
		return turns.Crew(works), nil
	}}
}

// lockedPairs is the control of pairs: two of lockedPair for each operation, the
// four locked instructions that an insertion and a removal cost, on cache lines of
// its own.
func lockedPairs[R any]() turns.Work {
	pair := lockedPair[R]()
	return func(n int) (int, error) {
		_, err := pair(2 * n)
		return n, err
	}
}

// ownReads is the control of look-ups: a slice of its own, as long as there are live
// values, each element read between two locked instructions on a cache line of its
// own.
func ownReads[R any](seed uint64, g, live int) turns.Work {
	values := make([]peer.Value[R], live)
	for i := range values {
		values[i].ID = base(0) + uint64(i)
	}
	s := new(slot[R])
	o := &order{seed: seed, session: g, live: live}
	return (&reader{order: o.drawn(), read: func(_ peer.Names, picks []uint32) (sum uint64) {
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
