package storm

import (
	"runtime"
	"runtime/debug"
	"time"

	"coatcheck/internal/check/testkit"
	"coatcheck/internal/check/verbs"
)

// A torture is a storm after the Linux kernel's rcutorture. Values are kept under guards and in
// constructors for short and long times, goroutines end under guards, and guards stall all
// insertions. All goroutines are paused at times, GOMAXPROCS changes, and the collector runs
// all the time in every other phase.

// torture adds the goroutines that make a storm a torture.
func (w *World[T]) torture() {
	w.Hands(1, (*Actor[T]).mayfly)
	w.Hands(1, (*Actor[T]).stall)
	w.Go(1, w.pause)
	w.Go(1, flip)
	w.Go(1, collect)
}

// linger keeps k for a short or long time, and looks at it. k may be nil.
func (a *Actor[T]) linger(k *pinned[T]) {
	for range a.IntN(5) {
		switch {
		case a.Chance(256):
			time.Sleep(time.Duration(a.IntN(2000)) * time.Microsecond)
		case a.Chance(4):
			runtime.Gosched()
		default:
			for range a.IntN(200) {
				a.Uint64()
			}
		}
		if !a.Running() {
			return
		}
		if k != nil {
			a.look(k)
		}
	}
}

// mayfly starts a goroutine that exits or panics under a guard.
func (a *Actor[T]) mayfly() {
	x := testkit.Apart(func() {
		k := a.pin(0)
		if k == nil {
			return
		}
		defer a.lapse(k)
		a.linger(k)
		if a.Chance(2) {
			a.Did(Exited, 1)
			runtime.Goexit()
		}
		a.Did(Panicked, 1)
		panic(verbs.ErrMeant)
	})
	if x != nil && x != verbs.ErrMeant {
		a.Failf("panic: %v", x)
	}
	time.Sleep(time.Duration(a.IntN(200)) * time.Microsecond)
}

// The limits of a stall.
const (
	stallRefusals = 5                    // insertions that are refused
	stallLongest  = 2 * time.Second      // if none is
	stallRest     = 5 * time.Millisecond // between two stalls
)

// stall keeps a guard until insertions are refused, or for a long time. Memory must stay
// bounded. After the guard is unpinned, more insertions than there are slots must succeed,
// so some slots are reused.
func (a *Actor[T]) stall() {
	w := a.w
	k := a.pin(verbs.Handle)
	if k == nil {
		runtime.Gosched()
		return
	}
	stalled := w.Done(Stalled) + stallRefusals
	for end := time.Now().Add(stallLongest); a.Running() && w.Done(Stalled) < stalled && time.Now().Before(end); {
		a.look(k)
		time.Sleep(50 * time.Microsecond)
	}
	st := w.Pool.Stats()
	if st.Allocated > len(w.lives) {
		a.Failf("memory is bounded by %d slots, and a stall costs %+v", len(w.lives), st)
	}
	a.pass(k)
	want, seen := w.Done(Inserted)+int64(st.Allocated), progress{s: w.Storm}
	for a.Running() && w.Done(Inserted) < want {
		if fault := seen.look(Inserted); fault != "" {
			a.Failf("insertions do not succeed after a stall: %s: %+v", fault, w.Pool.Stats())
		}
		time.Sleep(50 * time.Microsecond)
	}
	a.Did(Halted, 1)
	time.Sleep(stallRest)
}

// pause pauses all goroutines for a moment, guards included. It finds bugs in the first
// operations after a pause, which a structure under constant load never does.
func (s *Storm) pause(h *Hand) {
	for h.Running() {
		time.Sleep(time.Duration(2+h.IntN(20)) * time.Millisecond)
		paused := make(chan struct{})
		s.paused.Store(&paused)
		time.Sleep(time.Duration(h.IntN(3000)) * time.Microsecond)
		s.paused.Store(nil)
		close(paused)
		h.Did(Paused, 1)
	}
}

// flip changes GOMAXPROCS between one and eight. With one, the runtime chooses every switch
// of goroutines; with more than there are processors, the system preempts anywhere.
func flip(h *Hand) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for h.Running() {
		runtime.GOMAXPROCS(1 << h.IntN(4))
		h.Did(Flipped, 1)
		time.Sleep(time.Duration(1+h.IntN(10)) * time.Millisecond)
	}
}

// collect has the collector run all the time in every other phase.
func collect(h *Hand) {
	const phase = 20 * time.Millisecond
	usual := debug.SetGCPercent(1)
	defer debug.SetGCPercent(usual)
	for h.Running() {
		debug.SetGCPercent(1)
		time.Sleep(phase)
		h.Did(Collected, 1)
		debug.SetGCPercent(usual)
		time.Sleep(phase)
	}
}
