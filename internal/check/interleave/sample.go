package interleave

import (
	"math/rand/v2"
	"time"
)

// Sample runs the program under n schedules with few preemptions, in random order. First come
// those without any, in each of which another thread runs first; then those with one, each
// at most once; then some with two and three. A preemption is only before an access to a
// word that threads share, as in [Search]. Search is better if all schedules are visited: its
// first ones differ only at their ends.
func Sample(setup Setup, n int, seed uint64) (res Result) {
	begin := time.Now()
	s := &sample{
		search: search{sharing: make(map[uint64]sharing), shared: make(map[uint64]bool)},
		rnd:    rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15)),
	}
	defer func() { res.Shared, res.Took = len(s.shared), time.Since(begin) }()
	for threads := 1; res.Runs < n; {
		s.plan(res.Runs, threads)
		r := start(setup, s, false)
		if res.ran(setup, r, seed) {
			return res // perhaps before it had threads
		}
		threads = len(r.threads)
		s.ran(threads)
		if res.Runs == threads && s.points() == 0 {
			return res // no switch matters
		}
	}
	return res
}

// sample draws one schedule after the other.
type sample struct {
	search // for the shared words
	rnd    *rand.Rand
	begin  []*beginning // by the thread that runs first

	// of the current run
	first   int   // the thread that runs first
	changes []int // points at which it is preempted
	at      int   // points that it has reached
	drain   bool  // whether stores drain until it is preempted
	same    bool  // not preempted yet, so it is as the first run with this thread first
	repeats bool  // there was such a run
}

// beginning has the points of the schedules in which some thread runs first. A point is a step
// before which a preemption matters.
type beginning struct {
	points int
	left   []int // points at which no run was preempted yet
}

// plan draws run i's choices. Until it is preempted, a run is the same as the first one that
// began with its thread, so only its later steps must be checked.
func (s *sample) plan(i, threads int) {
	s.first, s.changes, s.at, s.same = i%threads, s.changes[:0], 0, true
	s.drain = s.first%2 == 1
	s.repeats = i >= threads
	if !s.repeats {
		return
	}
	b := s.begin[s.first]
	if n := len(b.left); n > 0 && i%4 > 0 {
		s.changes = append(s.changes, b.left[n-1])
		b.left = b.left[:n-1]
		return
	}
	for range 2 + s.rnd.IntN(2) {
		s.changes = append(s.changes, s.rnd.IntN(max(b.points, 1)))
	}
}

// ran updates the points after a run has ended.
func (s *sample) ran(threads int) {
	for len(s.begin) < threads {
		s.begin = append(s.begin, new(beginning))
	}
	b := s.begin[s.first]
	learnt := s.news && s.learn()
	for _, o := range s.begin {
		if learnt {
			o.points, o.left = 0, nil // the points are others now
		}
	}
	if s.at > b.points {
		for k := b.points; k < s.at; k++ {
			b.left = append(b.left, k)
		}
		b.points = s.at
		s.rnd.Shuffle(len(b.left), func(i, j int) { b.left[i], b.left[j] = b.left[j], b.left[i] })
	}
}

// points returns their number.
func (s *sample) points() (n int) {
	for _, b := range s.begin {
		n += b.points
	}
	return n
}

func (s *sample) known() bool { return s.same && s.repeats }

func (s *sample) drains(*Run, *Thread) bool {
	if s.same {
		return s.drain
	}
	return s.rnd.IntN(2) == 0
}

func (s *sample) pick(r *Run, options []*Thread, costly bool) *Thread {
	if costly {
		if !s.matters(r, options[0]) {
			return options[0]
		}
		s.at++
		for _, c := range s.changes {
			if c == s.at-1 {
				s.same = false
				return options[1+s.rnd.IntN(len(options)-1)]
			}
		}
		return options[0]
	}
	if !s.same {
		return options[s.rnd.IntN(len(options))]
	}
	best := options[0]
	for _, t := range options {
		if (t.id-s.first+len(r.threads))%len(r.threads) < (best.id-s.first+len(r.threads))%len(r.threads) {
			best = t
		}
	}
	return best
}
