package simulate

import (
	"slices"
	"sync"
	"unsafe"
)

// Go's mutexes are modelled by their algorithm. Lock of a free mutex is a compare-and-swap.
// A goroutine that finds it locked spins a few rounds, then counts itself as a waiter and
// sleeps. Unlock wakes the first waiter, but a running goroutine may lock the mutex before
// it. A waiter of more than a millisecond makes the mutex starving; then Unlock hands it to
// the next waiter. Outside of runs the mutexes are Go's own.

// Mutex is sync.Mutex.
type Mutex struct{ m sync.Mutex }

// lock is the state of a mutex in a machine.
type lock struct {
	state    int          // as in sync.Mutex: locked, woken, starving, number of waiters
	sleepers []*Processor // the first is woken next
}

const (
	locked   = 1
	woken    = 2
	starving = 4
	waiter   = 8

	spins        = 4
	starvesAfter = picoseconds(1_000_000_000) // a millisecond
)

func (m *Machine) lock(at unsafe.Pointer) *lock {
	l := m.locks[uintptr(at)]
	if l == nil {
		l = new(lock)
		m.locks[uintptr(at)] = l
	}
	return l
}

func (m *Mutex) Lock() {
	if p := running; p != nil {
		p.lock(p.machine.lock(unsafe.Pointer(m)), unsafe.Pointer(m))
	} else {
		m.m.Lock()
	}
}

func (m *Mutex) Unlock() {
	if p := running; p != nil {
		p.unlock(p.machine.lock(unsafe.Pointer(m)), unsafe.Pointer(m))
	} else {
		m.m.Unlock()
	}
}

func (m *Mutex) TryLock() bool {
	p := running
	if p == nil {
		return m.m.TryLock()
	}
	l := p.machine.lock(unsafe.Pointer(m))
	Access(Load, unsafe.Pointer(m))
	old := l.state
	return old&(locked|starving) == 0 && p.swap(l, unsafe.Pointer(m), old, old|locked)
}

// swap is a compare-and-swap of a mutex's state.
func (p *Processor) swap(l *lock, at unsafe.Pointer, old, state int) bool {
	Access(Locked, at)
	if l.state != old {
		return false
	}
	l.state = state
	return true
}

func (p *Processor) lock(l *lock, at unsafe.Pointer) {
	if p.swap(l, at, 0, locked) {
		return
	}
	var since picoseconds // when it first slept
	starves, awoke, spun := false, false, 0
	for {
		Access(Load, at)
		old := l.state
		if old&(locked|starving) == locked && spun < spins && len(p.machine.waiting) > 0 {
			if !awoke && old&woken == 0 && old >= waiter && p.swap(l, at, old, old|woken) {
				awoke = true
			}
			p.now += p.machine.costs.spin
			spun++
			continue
		}
		state := old
		if old&starving == 0 {
			state |= locked
		}
		if old&(locked|starving) != 0 {
			state += waiter
		}
		if starves && old&locked != 0 {
			state |= starving
		}
		if awoke {
			state &^= woken
		}
		if !p.swap(l, at, old, state) {
			continue
		}
		if old&(locked|starving) == 0 {
			return
		}
		again := since != 0
		if !again {
			since = p.now
		}
		p.sleep(l, again)
		starves = starves || p.now-since > starvesAfter
		if l.state&starving != 0 {
			l.state += locked - waiter
			if !starves || l.state < 2*waiter {
				l.state &^= starving
			}
			Access(Locked, at)
			return
		}
		awoke, spun = true, 0
	}
}

func (p *Processor) unlock(l *lock, at unsafe.Pointer) {
	Access(Locked, at)
	l.state -= locked
	for l.state != 0 {
		old := l.state
		if old&starving != 0 {
			p.wake(l)
			return
		}
		if old < waiter || old&(locked|woken) != 0 {
			return
		}
		if p.swap(l, at, old, (old-waiter)|woken) {
			p.wake(l)
			return
		}
	}
}

// sleep puts the running goroutine to sleep until another wakes it.
func (p *Processor) sleep(l *lock, first bool) {
	p.Parks++
	p.now += p.machine.costs.park
	if first {
		l.sleepers = slices.Insert(l.sleepers, 0, p)
	} else {
		l.sleepers = append(l.sleepers, p)
	}
	p.parked = true
	p.leave()
}

// wake wakes the first sleeper.
func (p *Processor) wake(l *lock) {
	if len(l.sleepers) == 0 {
		return
	}
	q := l.sleepers[0]
	l.sleepers = l.sleepers[1:]
	p.now += p.machine.costs.park
	p.machine.ready(q, p.now+p.machine.costs.wake)
}
