package storm

import (
	"fmt"
	"runtime"
	"time"
)

// hold is a guard and what was read under it.
type hold struct {
	pin  Pin
	kept []kept
}

// kept is a pointer under a guard.
type kept struct {
	c     *Coupon
	h     Handle
	stamp Stamp
	life  *life // nil if it was met in a loop
}

func (k *kept) String() string { return fmt.Sprintf("%v (%v)", k.h, k.stamp) }

// pin pins and picks up some values from the board; nil if it found none.
func (v *victim) pin() *hold {
	k := &hold{pin: v.part.Pin()}
	for range 1 + v.IntN(4) {
		l := v.t.board[v.IntN(len(v.t.board))].Load()
		if l == nil {
			continue
		}
		if c, ok := k.pin.Get(l.h); ok {
			k.kept = append(k.kept, kept{c: c, h: l.h, stamp: l.stamp, life: l})
		}
	}
	if k.kept == nil {
		k.pin.Unpin()
		return nil
	}
	v.Did(Pinned, 1)
	v.look(k)
	return k
}

// look tells the ages of all that is kept.
func (v *victim) look(k *hold) {
	for i := range k.kept {
		v.lookAt(&k.kept[i])
	}
}

func (v *victim) lookAt(k *kept) {
	v.Did(Read, 1)
	if now := k.c.Stamp(); now != k.stamp {
		v.ages[reused].Inc()
		v.t.Failf("goroutine %d: %v was reused under a guard: it is %v", v.ID, k, now)
		return
	}
	switch removed := k.life != nil && k.life.wins.Load() > 0; {
	case removed:
		if v.t.subject.Contains(k.h) {
			v.t.Failf("%v is live, and was removed", k)
		}
		v.Did(Late, 1)
		v.ages[ageSince(v.t.removals.Load()-k.life.at.Load())].Inc()
	case v.t.subject.Contains(k.h):
		v.ages[live].Inc()
	default: // whoever removed it has not said so yet, or sweeps
		v.Did(Late, 1)
		v.ages[ageSince(0)].Inc()
	}
}

// dwell keeps k for a while, short or long, and looks.
func (v *victim) dwell(k *hold) {
	for range v.IntN(5) {
		switch {
		case v.Chance(256):
			time.Sleep(time.Duration(v.IntN(2000)) * time.Microsecond)
		case v.Chance(4):
			runtime.Gosched()
		default:
			for range v.IntN(200) {
				v.Uint64()
			}
		}
		v.halt()
		v.look(k)
	}
}

// lapse looks for the last time and unpins.
func (v *victim) lapse(k *hold) {
	v.look(k)
	k.pin.Unpin()
}

// read keeps values under guards, and gives some of these to another goroutine.
func (v *victim) read() {
	for v.goOn() {
		if v.Chance(4) {
			v.borrow()
			continue
		}
		k := v.pin()
		if k == nil {
			runtime.Gosched()
			continue
		}
		v.dwell(k)
		if v.Chance(16) {
			select {
			case v.t.holds <- k:
				continue
			default:
			}
		}
		v.lapse(k)
	}
}

// borrow reads a value under a pin that the call makes for itself.
func (v *victim) borrow() {
	l := v.t.board[v.IntN(len(v.t.board))].Load()
	if l == nil {
		return
	}
	if v.Chance(8) {
		v.part.View(l.h, func(c *Coupon) {
			v.dwell(&hold{kept: []kept{{c: c, h: l.h, stamp: l.stamp, life: l}}})
			v.Did(Borrowed, 1)
		})
		return
	}
	if c, ok := v.part.Get(l.h); ok {
		if c.Stamp() != l.stamp {
			v.ages[reused].Inc()
			v.t.Failf("goroutine %d: a copy of %v is %v; want %v", v.ID, l.h, c.Stamp(), l.stamp)
		}
		v.Did(Borrowed, 1)
	}
}

// unpinOthers unpins the guards of others.
func (v *victim) unpinOthers() {
	for v.goOn() {
		select {
		case k := <-v.t.holds:
			v.dwell(k)
			v.lapse(k)
			v.Did(Lapsed, 1)
		default:
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// mayflies starts goroutines that end under a guard, one way or another.
func (v *victim) mayflies() {
	for v.goOn() {
		exits, leaves := v.Chance(2), v.Chance(6)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			defer func() {
				if x := recover(); x != nil && x != errMeant {
					v.t.Failf("goroutine of %d: panic: %v", v.ID, x)
				}
			}()
			if leaves {
				v.leaveLoop(exits)
				return
			}
			if k := v.pin(); k != nil {
				defer v.lapse(k)
				v.dwell(k)
				v.end(exits)
			}
		}()
		<-ended
		if leaves {
			runtime.GC() // which gives the loop's guard back
		}
		time.Sleep(time.Duration(v.IntN(200)) * time.Microsecond)
	}
}

// end ends the goroutine.
func (v *victim) end(exit bool) {
	if exit {
		v.Did(Exited, 1)
		runtime.Goexit()
	}
	v.Did(Panicked, 1)
	panic(errMeant)
}

// leaveLoop ranges over what is live, with the looks of a reader, and ends the
// goroutine in the middle.
func (v *victim) leaveLoop(exit bool) {
	for v.goOn() {
		var met []kept
		for h, c := range v.t.subject.All() {
			met = append(met, kept{c: c, h: h, stamp: c.Stamp()})
			if met[len(met)-1].stamp == (Stamp{}) {
				v.t.Failf("a loop meets %v, which is not whole", h)
			}
			for i := range met {
				v.lookAt(&met[i])
			}
			if v.Chance(4) {
				v.Did(LeftLoop, 1)
				v.end(exit)
			}
		}
	}
}

// How a staller goes about it.
const (
	stallRefusals = 5                     // that it waits for
	stallLongest  = 10 * time.Millisecond // if nothing is refused
	stallRest     = 5 * time.Millisecond  // between two stalls
)

// stall pins and lets limbo fill up until nothing can be inserted, or for a long
// time. What waits for it must be bounded, and come back: after it has unpinned,
// more insertions than there are slots cannot but reuse some.
func (v *victim) stall() {
	t := v.t
	for v.goOn() {
		k := v.pin()
		if k == nil {
			runtime.Gosched()
			continue
		}
		refused := t.Done(Full) + stallRefusals
		for end := time.Now().Add(stallLongest); time.Now().Before(end) && t.Done(Full) < refused; {
			v.look(k)
			time.Sleep(50 * time.Microsecond)
		}
		st := t.subject.Stats()
		if st.Allocated > len(t.lives) {
			t.Failf("memory is bounded by %d slots, and a stall costs %+v", len(t.lives), st)
		}
		v.lapse(k)
		v.await(int64(st.Allocated))
		v.Did(Halted, 1)
		time.Sleep(stallRest)
	}
}

// await waits for n more insertions.
func (v *victim) await(n int64) {
	want, end := v.t.Done(Inserted)+n, time.Now().Add(patience/2)
	for v.goOn() && v.t.Done(Inserted) < want {
		if time.Now().After(end) {
			v.t.Failf("nothing goes on after a stall: %+v", v.t.subject.Stats())
		}
		time.Sleep(50 * time.Microsecond)
	}
}
