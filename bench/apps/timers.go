package apps

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"coatcheck/bench/peer"
	"coatcheck/pool"
)

// timers has a timeout for each of many connections. A request stops the connection's timer and
// starts another, so most timers never fire. Each goroutine has connections of its own. All share
// a wheel of buckets, one for each tick of time.
var timers = App{
	ID:    "Timers",
	Title: "Timer wheel: a timer that is stopped, and another that is started",
	Versions: []Version{
		{peer.NamePool, timed(newPoolWheel)},
		{NamePointers, timed(func() func() wheel[*pointerTimer] { return shared[*pointerTimer](&pointerWheel{}) })},
		{peer.NameMap, timed(func() func() wheel[uint64] { return shared[uint64](&namedWheel{all: newLocked[uint32]()}) })},
		{peer.NameXsync, timed(func() func() wheel[uint64] { return shared[uint64](&namedWheel{all: newXsync[uint32]()}) })},
	},
}

// wheel is a wheel on a contestant, as one goroutine uses it. N is what names a timer.
type wheel[N any] interface {
	start(connection, due uint32) N
	// stop reports whether it stopped the timer, which has not fired then.
	stop(timer N, due uint32) bool
	// fire fires the timers that are due at a tick, and returns their number.
	fire(tick uint32) uint64
}

// shared returns the same wheel for each goroutine.
func shared[N any](w wheel[N]) func() wheel[N] { return func() wheel[N] { return w } }

const (
	ticks   = 1024 // buckets
	timeout = 900  // ticks
)

// poolTimer is a timer: what to do when it fires.
type poolTimer struct{ connection uint32 }

// poolWheel has the handles of timers in its buckets. A timer that is stopped leaves the pool, and
// its bucket keeps the stale handle, until the bucket is due or full. So a stop needs no mutex.
type poolWheel struct {
	all     *pool.Pool[poolTimer]
	buckets [ticks]struct {
		mu     sync.Mutex
		timers []pool.Handle[poolTimer]
	}
}

// ownWheel is the wheel with a Worker of the goroutine.
type ownWheel struct {
	*poolWheel
	own *pool.Worker[poolTimer]
}

func newPoolWheel() func() wheel[pool.Handle[poolTimer]] {
	w := &poolWheel{all: pool.Must[poolTimer](nil)}
	return func() wheel[pool.Handle[poolTimer]] { return ownWheel{w, w.all.Worker()} }
}

func (w ownWheel) start(connection, due uint32) pool.Handle[poolTimer] {
	h, b := inserted(w.own.Insert(poolTimer{connection})), &w.buckets[due%ticks]
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.timers); n == cap(b.timers) {
		b.timers = slices.DeleteFunc(b.timers, func(h pool.Handle[poolTimer]) bool { return !w.all.Contains(h) })
		if len(b.timers) > n/2 {
			b.timers = slices.Grow(b.timers, n/2) // so that the next look at all is paid for
		}
	}
	b.timers = append(b.timers, h)
	return h
}

func (w ownWheel) stop(h pool.Handle[poolTimer], _ uint32) bool { return w.own.Remove(h) }

func (w ownWheel) fire(tick uint32) (n uint64) {
	b := &w.buckets[tick%ticks]
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range b.timers {
		if w.own.Remove(h) {
			n++
		}
	}
	b.timers = b.timers[:0]
	return n
}

func timed[N any](open func() func() wheel[N]) func(Load) Outcome {
	return func(l Load) Outcome {
		enter, connections := open(), max(l.share(100_000)/l.Goroutines, 1)
		requests, perTick := 8*connections, uint64(max(connections*l.Goroutines/200, 1))
		var now, clock, fired atomic.Uint64
		stopped := each(l.Goroutines, func(goroutine int) (stopped uint64) {
			w, random := enter(), rand.New(rand.NewPCG(1, uint64(goroutine)))
			type connection struct {
				timer N
				due   uint32
			}
			all := make([]connection, connections)
			start := func(i int) {
				due := uint32(now.Load()) + timeout - uint32(i)%64
				all[i] = connection{w.start(uint32(i), due), due}
			}
			for i := range all {
				start(i)
			}
			for range requests {
				// One in eight connections has few requests, and times out.
				i := random.IntN(connections)
				if i%8 == 0 && random.IntN(16) != 0 {
					i = (i + 1) % connections
				}
				if w.stop(all[i].timer, all[i].due) {
					stopped++
				}
				start(i)
				if clock.Add(1)%perTick == 0 {
					fired.Add(w.fire(uint32(now.Add(1))))
				}
			}
			return stopped
		})
		early, w := fired.Load(), enter()
		for tick := range uint32(ticks) {
			fired.Add(w.fire(tick))
		}
		started := uint64((connections + requests) * l.Goroutines)
		check(stopped+fired.Load() == started, "%d timers were stopped, and %d fired, of %d", stopped, fired.Load(), started)
		check(l.Quick || early > 0, "no timer fired in time")
		return Outcome{Ops: requests * l.Goroutines, Sum: started}
	}
}
