//go:build simulate

package programs

import (
	"runtime"
	"runtime/debug"

	"coatcheck/internal/simulate"
)

// Figure is the result of a simulation.
type Figure struct {
	Operations      int
	Nanoseconds     float64 // the time divided by the operations of all processors
	simulate.Counts         // of all operations
}

// Operations of each processor before the measurement and during it. After Brief, goroutines
// that met at a shard are still moving to others, and shards still take memory. A scan of
// pin cells may follow only as many removals as there are cells, 512 with 128 processors.
const (
	Brief  = 2 << 10
	Steady = 8 << 10
)

// Simulate runs a program on n processors.
func Simulate(p *Program, n int, c simulate.Costs, seed uint64, each int) (f Figure) {
	// A collection would make the addresses of later objects depend on its time.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n)) // a pool's number of shards depends on it
	finalize()
	m := simulate.New(n, c, seed)
	steps := p.Open(n)
	long := each * n
	from, did, begun := long, 0, false
	if p.Fresh {
		from = 0
	}
	to := from + long
	var begin float64
	var before simulate.Counts
	m.Run(func(g int) bool {
		k := steps[g](4)
		simulate.Work(p.Work * float64(k))
		did += k
		if !begun && did >= from {
			begun, f.Operations, begin, before = true, -did, simulate.Now(), m.Counts()
		}
		if did < to || f.Nanoseconds > 0 {
			return did < to
		}
		f.Operations += did
		f.Nanoseconds = (simulate.Now() - begin) / float64(f.Operations)
		f.Counts = m.Counts().Minus(before)
		return false
	})
	return f
}

// finalize collects the pools of earlier simulations and returns when their finalizers have
// run. Otherwise the running processor would be charged for their accesses.
func finalize() {
	for range 3 { // a finalizer may keep its object for one cycle more
		done := make(chan struct{})
		runtime.SetFinalizer(new([64]byte), func(*[64]byte) { close(done) })
		runtime.GC()
		<-done
	}
}
