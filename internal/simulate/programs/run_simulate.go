//go:build simulate

package programs

import (
	"runtime"
	"runtime/debug"

	"coatcheck/internal/simulate"
)

type rwMutex = simulate.RWMutex

// Figure is what a simulation found.
type Figure struct {
	Operations      int
	Nanoseconds     float64 // an operation, of all processors together
	simulate.Counts         // of all operations
}

// Operations of each processor, before what is measured and in it. After Brief, goroutines that
// met at a shard are still parting, and shards still take memory; the cells of guards are
// looked through after up to as many removals as there are cells, 512 with 128 processors.
const (
	Brief  = 2 << 10
	Steady = 8 << 10
)

// Simulate runs a program on n processors, each for so many operations.
func Simulate(p *Program, n int, c simulate.Costs, seed uint64, each int) (f Figure) {
	// What is collected might be found again at another address, or not.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n)) // by which a pool chooses how many shards it has
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

// finalize collects the pools of earlier simulations, and returns when their finalizers have
// run: what these access would be taken for the running processor's.
func finalize() {
	for range 3 { // a finalizer may keep its object for one cycle more
		done := make(chan struct{})
		runtime.SetFinalizer(new([64]byte), func(*[64]byte) { close(done) })
		runtime.GC()
		<-done
	}
}
