package interleave

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Sample runs the program under n schedules that it draws, the first without preemptions and
// the others with one to three, mostly one. As in [Search], a preemption is only before an
// access to a word that threads share. Search is better if all schedules are visited: its
// first ones differ only at their ends.
func Sample(setup Setup, n int, seed uint64) (res Result) {
	begin := time.Now()
	s := &sample{
		search: search{sharing: make(map[uint64]sharing), shared: make(map[uint64]bool)},
		rnd:    rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15)),
	}
	defer func() { res.Shared, res.Took = len(s.shared), time.Since(begin) }()
	for points := 0; res.Runs < n; {
		s.at, s.changes = 0, nil
		for i := 0; res.Runs > 0 && i < max(1, s.rnd.IntN(8)-4); i++ {
			s.changes = append(s.changes, s.rnd.IntN(max(points, 1)))
		}
		r := start(setup, s, false)
		if res.ran(setup, r, seed) {
			return res
		}
		points = max(points, s.at)
		switch {
		case s.news && s.learn():
			points = 0 // they are others now
		case points == 0 && res.Runs >= len(r.threads):
			return res // no switch matters
		}
	}
	return res
}

// sample draws one schedule after the other. A point is a step before which a preemption
// matters.
type sample struct {
	search // for the shared words
	rnd    *rand.Rand

	// of the current run
	changes []int // points with a preemption
	at      int   // points that it has reached
}

func (s *sample) drains(*Run, *Thread) bool { return s.rnd.IntN(2) == 0 }

func (s *sample) pick(r *Run, options []*Thread, costly bool) *Thread {
	if !costly {
		return options[s.rnd.IntN(len(options))]
	}
	if s.matters(r, options[0]) {
		s.at++
		if slices.Contains(s.changes, s.at-1) {
			return options[1+s.rnd.IntN(len(options)-1)]
		}
	}
	return options[0]
}
