package measure

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Histograms range from a nanosecond to an hour, with an error of at most 1 %.
const (
	longest = int64(time.Hour)
	digits  = 2
)

// Stopwatch measures the latencies of one goroutine's operations.
type Stopwatch struct {
	turn *hdrhistogram.Histogram
	from time.Time
}

// NewStopwatch returns a Stopwatch that begins at zero.
func NewStopwatch() *Stopwatch {
	return &Stopwatch{turn: hdrhistogram.New(1, longest, digits), from: time.Now()}
}

// Now returns the time since NewStopwatch. It reads one clock; time.Now reads two.
func (s *Stopwatch) Now() time.Duration { return time.Since(s.from) }

// Record counts a latency: one of zero, since the clock has a resolution, as a nanosecond,
// and one of more than an hour as an hour.
func (s *Stopwatch) Record(d time.Duration) {
	_ = s.turn.RecordValue(min(max(1, int64(d)), longest)) // fails only beyond the range
}

// Latencies merges the stopwatches of several goroutines.
type Latencies struct {
	watches []*Stopwatch
	turn    *hdrhistogram.Histogram
	longest int64 // of all turns that were sampled
}

// NewLatencies returns the Latencies of these stopwatches.
func NewLatencies(watches []*Stopwatch) *Latencies {
	return &Latencies{watches: watches, turn: hdrhistogram.New(1, longest, digits)}
}

// EndTurn moves the stopwatches' latencies into the last turn. No goroutine may use a
// stopwatch meanwhile.
func (l *Latencies) EndTurn() {
	l.turn.Reset()
	for _, w := range l.watches {
		l.turn.Merge(w.turn)
		w.turn.Reset()
	}
}

// Turn returns the latencies of the last turn.
func (l *Latencies) Turn() *hdrhistogram.Histogram { return l.turn }

// Sample returns the quantiles of the last turn.
func (l *Latencies) Sample() map[string]float64 {
	l.longest = max(l.longest, l.turn.Max())
	q := l.turn.ValueAtPercentilesSlice([]float64{50, 99, 99.9})
	return map[string]float64{"p50-ns": float64(q[0]), "p99-ns": float64(q[1]), "p99.9-ns": float64(q[2])}
}

// Metrics returns the longest latency of all sampled turns, which those of the calibration
// are not.
func (l *Latencies) Metrics() map[string]float64 {
	return map[string]float64{"max-ns": float64(l.longest)}
}
