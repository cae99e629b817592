package interleave

import (
	"fmt"
	"math"
	"time"
	"unsafe"
)

// DefaultSteps is the number of steps after which a run counts as a livelock.
const DefaultSteps = 20_000

// Result is the result of an exploration.
type Result struct {
	Runs     int // schedules of the last pass, all different
	AllRuns  int // with those of the passes before
	Steps    int // of the longest run
	Switches int // within operations, in all runs
	Shared   int // words that threads share
	Took     time.Duration
	Failure  *Failure // nil if none failed
}

// String returns the figures in one line.
func (r Result) String() string {
	return fmt.Sprintf("%8d schedules (%d with preparing ones), %3d steps at most, %7d switches inside operations, %3d shared words, %v",
		r.Runs, r.AllRuns, r.Steps, r.Switches, r.Shared, r.Took.Round(time.Millisecond))
}

// Add adds the runs of o, and sets its failure.
func (r *Result) Add(o Result) {
	r.Runs += o.Runs
	r.AllRuns += o.AllRuns
	r.Steps = max(r.Steps, o.Steps)
	r.Switches += o.Switches
	r.Took += o.Took
	r.Failure = o.Failure
}

// ran counts a run, and reports whether it failed.
func (r *Result) ran(setup Setup, run *Run, seed uint64) (failed bool) {
	r.Add(Result{Runs: 1, AllRuns: 1, Steps: run.steps, Switches: run.inside})
	if run.err != nil {
		r.Failure = failure(setup, run, r.AllRuns, seed)
	}
	return run.err != nil
}

// start makes one run of the program.
func start(setup Setup, p picker, tracing bool) *Run {
	r := &Run{picker: p, maxSteps: DefaultSteps, tracing: tracing}
	r.safely("in the setup", func() { setup(r) })
	if r.err == nil {
		r.execute()
	}
	return r
}

// Search runs the program under every schedule with at most bound preemptions, those with
// fewer first.
func Search(setup Setup, bound int) Result { return SearchSome(setup, bound, math.MaxInt) }

// SearchSome is Search that stops after most runs.
func SearchSome(setup Setup, bound, most int) (res Result) {
	s := &search{sharing: make(map[uint64]sharing), shared: make(map[uint64]bool)}
	begin := time.Now()
	defer func() { res.Shared, res.Took = len(s.shared), time.Since(begin) }()
	for s.bound = 0; s.bound <= bound; s.bound++ {
		for again := true; again; {
			res.Runs = 0
			// A pass that finds another shared word has left out switches that
			// matter, so it begins again.
			again = false
			s.path = s.path[:0]
			for more := true; more && !again; more = s.advance() {
				if res.AllRuns >= most {
					return res
				}
				s.depth = 0
				if res.ran(setup, start(setup, s, false), 0) {
					return res
				}
				again = s.news && s.learn()
			}
		}
	}
	return res
}

// search is a depth-first walk over the schedules.
type search struct {
	bound int
	path  []point // the choices of the current run
	depth int     // number of choices that it has made

	sharing map[uint64]sharing
	news    bool            // sharing has changed since learn
	shared  map[uint64]bool // words that count as shared in this pass
}

// point is a choice: option at of n.
type point struct{ n, at uint8 }

// sharing is the set of threads that have accessed a word, as bits.
type sharing struct{ readers, writers uint32 }

// advance changes the last choice that has an option left, and removes those after it.
func (s *search) advance() bool {
	for n := len(s.path); n > 0; n-- {
		if p := &s.path[n-1]; p.at+1 < p.n {
			p.at++
			s.path = s.path[:n]
			return true
		}
	}
	return false
}

func (s *search) pick(r *Run, options []*Thread, costly bool) *Thread {
	if costly && (r.preemptions >= s.bound || !s.matters(r, options[0])) {
		return options[0]
	}
	return options[s.choose(r, len(options))]
}

func (s *search) drains(r *Run, _ *Thread) bool { return s.choose(r, 2) == 0 }

// choose makes the next choice, between n options.
func (s *search) choose(r *Run, n int) int {
	if s.depth == len(s.path) {
		s.path = append(s.path, point{n: uint8(n)})
	}
	p := s.path[s.depth]
	s.depth++
	if int(p.n) != n {
		r.fail(NotDeterministic, fmt.Errorf("interleave: the program is not deterministic: %d options where there were %d", n, p.n))
		return 0
	}
	return int(p.at)
}

// matters reports whether a switch before t's next access can have an effect. Before an access
// that commutes with all accesses of others, it has the same effect as a switch after it. A
// store in a buffer takes effect when it drains.
func (s *search) matters(r *Run, t *Thread) bool {
	if t.next.op == Release {
		return false // a switch after it has the same effect
	}
	if t.next.op.empties() {
		for _, p := range t.buffer {
			if s.isShared(r, p.word) {
				return true
			}
		}
	}
	return t.next.op >= Lock || t.next.op != Fence && s.isShared(r, t.next.word)
}

func (s *search) isShared(r *Run, word unsafe.Pointer) bool {
	if word == nil || r.key == nil {
		return true
	}
	k := r.key(word)
	return k == 0 || s.shared[k]
}

func (s *search) accessed(r *Run, t *Thread, a access) {
	if a.word == nil || r.key == nil {
		return
	}
	k := r.key(a.word)
	if k == 0 {
		return
	}
	is, bit := s.sharing[k], uint32(1)<<t.id
	was := is
	if a.op.reads() {
		is.readers |= bit
	} else {
		is.writers |= bit
	}
	if is != was {
		s.sharing[k], s.news = is, true
	}
}

// learn adds the words in sharing that are shared, for the next pass, and reports whether
// there are new ones.
func (s *search) learn() bool {
	n := len(s.shared)
	s.news = false
	for k, is := range s.sharing {
		all := is.readers | is.writers
		if is.writers != 0 && all&(all-1) != 0 {
			s.shared[k] = true
		}
	}
	return len(s.shared) > n
}
