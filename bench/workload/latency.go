package workload

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"coatcheck/bench/peer"
	"coatcheck/bench/suite"
	"coatcheck/internal/check/turns"
)

const clock = "clock"

func latency() suite.Question {
	return suite.Question{
		ID:    "Latency",
		Title: "How long does one replacement take at worst?",
		// A turn is long enough for preemptions, which come after 10 ms.
		About: "Twice as many goroutines as processors replace values among 10,000 live ones. Each replacement is timed by itself; the floor 'clock' times nothing. " +
			"A goroutine begins an operation when its last one has ended, so a long operation delays others that are then not counted as late. The longest are those in which a goroutine was preempted.",
		Charts: []suite.Chart{
			{Unit: "p50-ns", Title: "How long do half of the replacements take at most?"},
			{Unit: "p99-ns", Title: "How long do 99 of 100 replacements take at most?"},
			{Unit: "p99.9-ns", Title: "How long do 999 of 1,000 replacements take at most?"},
			{Unit: "max-ns", Title: "How long does one replacement take at worst?"},
		},
		Groups: func(env suite.Env) []suite.Group {
			return []suite.Group{{Cases: latencyCases(2*env.Procs, env), Turn: 4}}
		},
	}
}

func latencyCases(goroutines int, env suite.Env) (cases []suite.Case) {
	live := sizesOf(env, 10_000)[0]
	r := replacing(live, goroutines, untimed)
	add := func(impl string, open func(watches []*stopwatch) suite.Run) {
		cases = append(cases, r.caseOf(impl, func() suite.Run {
			t := &timing{turn: newHistogram()}
			for range goroutines {
				t.watches = append(t.watches, &stopwatch{newHistogram()})
			}
			t.Run = open(t.watches)
			return t
		}))
	}
	for _, p := range peer.All[peer.Rest16]() {
		if r.may(&p.About) {
			add(p.Name, func(watches []*stopwatch) suite.Run {
				return enter(p, replacing(live, goroutines, func(r *replacer, g int) turns.Work { return timed(r, watches[g]) }))
			})
		}
	}
	add(clock, func(watches []*stopwatch) suite.Run {
		return r.reference(clock, func(g int) turns.Work {
			return func(n int) (int, error) {
				for range n {
					watches[g].record(time.Since(began))
				}
				return n, nil
			}
		}).Open()
	})
	return cases
}

// began is the origin of all times. To read the time since then is to read one clock;
// time.Now reads two.
var began = time.Now()

// stopwatch has the latencies of one goroutine's operations.
type stopwatch struct{ turn *hdrhistogram.Histogram }

// record counts what began at from. A latency of zero, since the clock has a resolution, counts
// as a nanosecond, and one of more than an hour as an hour.
func (s *stopwatch) record(from time.Duration) {
	_ = s.turn.RecordValue(min(max(1, int64(time.Since(began)-from)), longest)) // fails only beyond the range
}

const longest = int64(time.Hour)

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, longest, 2) }

// timing is a run in which each operation is timed.
type timing struct {
	suite.Run
	watches []*stopwatch
	turn    *hdrhistogram.Histogram // of all goroutines' last turn
	longest int64                   // of all turns that were sampled, which those of the calibration are not
}

func (t *timing) Do(n int) (int, error) {
	did, err := t.Run.Do(n)
	t.turn.Reset()
	for _, w := range t.watches {
		t.turn.Merge(w.turn)
		w.turn.Reset()
	}
	return did, err
}

// Sample returns the quantiles of the last turn.
func (t *timing) Sample() map[string]float64 {
	t.longest = max(t.longest, t.turn.Max())
	q := t.turn.ValueAtPercentilesSlice([]float64{50, 99, 99.9})
	return map[string]float64{"p50-ns": float64(q[0]), "p99-ns": float64(q[1]), "p99.9-ns": float64(q[2])}
}

func (t *timing) Metrics() map[string]float64 {
	return map[string]float64{"max-ns": float64(t.longest)}
}

// timed is untimed, but times each replacement.
func timed(r *replacer, w *stopwatch) turns.Work {
	return func(n int) (int, error) {
		return r.picks.each(n, func(picks []uint32) error {
			for i := range picks {
				from := time.Since(began)
				err := r.replace(picks[i : i+1])
				w.record(from)
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
}
