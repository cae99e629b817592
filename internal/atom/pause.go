//go:build !interleave

package atom

import (
	"runtime"
	"time"
)

// yields is how often a loop that waits yields before it sleeps.
const yields = 16

// Pause is the backoff of a loop that waits for other goroutines. In early rounds it
// yields, in later ones it sleeps, as Backoff says.
func Pause(round int) {
	if round < yields {
		runtime.Gosched()
		return
	}
	time.Sleep(Backoff(round-yields, time.Microsecond))
}

// PauseUnless is Pause that ends when done is closed, up to a millisecond later.
func PauseUnless(round int, done <-chan struct{}) {
	if round < yields || done == nil {
		Pause(round)
		return
	}
	pause := Backoff(round-yields, time.Microsecond)
	if pause <= doubledUpTo {
		time.Sleep(pause) // without an allocation
		return
	}
	over := time.NewTimer(pause)
	defer over.Stop()
	select {
	case <-over.C:
	case <-done:
	}
}

// Between is called between a load of a shared word and plain loads that another thread's
// stores may overtake. It does nothing, except in builds that explore schedules, where it is a
// step.
func Between() {}
