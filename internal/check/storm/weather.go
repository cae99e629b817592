package storm

import (
	"runtime"
	"runtime/debug"
	"time"
)

// The weather of a torture: what happens to all goroutines at once.

// stutter has all stand still for a moment, guards and all, and then go on at
// once. A structure that is only ever met under load never shows what its first
// operations after a calm do.
func (v *victim) stutter() {
	for v.Running() {
		time.Sleep(time.Duration(2+v.IntN(20)) * time.Millisecond)
		still := make(chan struct{})
		v.t.still.Store(&still)
		time.Sleep(time.Duration(v.IntN(3000)) * time.Microsecond)
		v.t.still.Store(nil)
		close(still)
		v.Did(Stutter, 1)
	}
}

// flip changes GOMAXPROCS: to one, where every switch of goroutines is chosen by
// the runtime, and up to eight, which is more than there may be processors, so
// that the system preempts anywhere.
func (v *victim) flip() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for v.Running() {
		runtime.GOMAXPROCS(1 << v.IntN(4))
		v.Did(Flip, 1)
		time.Sleep(time.Duration(1+v.IntN(10)) * time.Millisecond)
	}
}

// collect has the collector run all the time in every other phase.
func (v *victim) collect() {
	const phase = 20 * time.Millisecond
	calm := debug.SetGCPercent(1)
	defer debug.SetGCPercent(calm)
	for v.Running() {
		debug.SetGCPercent(1)
		time.Sleep(phase)
		v.Did(Garbage, 1)
		debug.SetGCPercent(calm)
		time.Sleep(phase)
	}
}
