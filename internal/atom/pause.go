//go:build !interleave

package atom

import (
	"runtime"
	"time"
)

// Pause is the backoff of a loop that waits for other goroutines. In early rounds it
// yields, in later ones it sleeps, up to a millisecond.
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

// Between is called between a load of a shared word and plain loads that another thread's
// stores may overtake. It does nothing, except in builds that explore schedules, where it is a
// step.
func Between() {}
