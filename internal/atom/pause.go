//go:build !interleave && !simulate

package atom

import (
	"runtime"
	"time"
)

// Pause lets others run, in the given round of a loop that waits for them: it
// yields at first and sleeps later, up to a millisecond.
func Pause(round int) {
	const (
		yields  = 16
		longest = 10 // 2^10 microseconds
	)
	if round < yields {
		runtime.Gosched()
		return
	}
	time.Sleep(time.Microsecond << min(round-yields, longest))
}

// Between stands between a load of a shared word and plain loads that another
// thread's stores may overtake. Where schedules are explored it is a step; here it is
// nothing.
func Between() {}
