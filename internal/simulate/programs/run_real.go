//go:build !simulate

package programs

import (
	"runtime"
	"time"

	"go.uber.org/atomic"
)

// Figure is the result of a measurement.
type Figure struct {
	Operations  int
	Nanoseconds float64 // the time divided by the operations of all processors
}

// Runner runs a program with n goroutines.
type Runner struct {
	p     *Program
	n     int
	steps []Step
	begin []chan time.Duration
	done  chan Figure
	ready atomic.Int64
}

// NewRunner opens a program for n goroutines, which wait for Measure.
func NewRunner(p *Program, n int) *Runner {
	r := &Runner{p: p, n: n, done: make(chan Figure)}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	r.steps = p.Open(n)
	for g := range n {
		r.begin = append(r.begin, make(chan time.Duration))
		go r.serve(g)
	}
	return r
}

func (r *Runner) serve(g int) {
	for long := range r.begin[g] {
		r.ready.Inc()
		for r.ready.Load() < int64(r.n) {
			runtime.Gosched()
		}
		begin, did := time.Now(), 0
		var took time.Duration
		for took < long {
			did += r.steps[g](256)
			took = time.Since(begin)
		}
		r.done <- Figure{did, float64(took)}
	}
}

// Measure runs the program for that long.
func (r *Runner) Measure(long time.Duration) Figure {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(r.n))
	if r.p.Fresh {
		r.steps = r.p.Open(r.n)
		long /= 4
	}
	runtime.GC()
	r.ready.Store(0)
	for _, c := range r.begin {
		c <- long
	}
	did, rate := 0, 0.0
	for range r.n {
		f := <-r.done
		did += f.Operations
		rate += float64(f.Operations) / f.Nanoseconds
	}
	if r.p.Fresh {
		r.steps = nil
	}
	return Figure{did, 1 / rate}
}

// Close ends the goroutines.
func (r *Runner) Close() {
	for _, c := range r.begin {
		close(c)
	}
}
